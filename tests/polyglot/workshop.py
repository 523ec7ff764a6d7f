"""A folder in which one language generates code from the published protos, as a user of the contract would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

_ROOT: Final = Path(__file__).parents[2]
_PROGRAMS: Final = Path(__file__).parent
_SECONDS: Final = 900

INSTALL: Final = {
    "cargo": "Rust 1.88 or newer, for example with rustup",
    "g++": "Debian's package g++",
    "go": "Go 1.26 or newer",
    "grpc_cpp_plugin": "Debian's packages libgrpc++-dev, libprotobuf-dev and protobuf-compiler-grpc",
    "grpc_ruby_plugin": "Debian's packages ruby-grpc and protobuf-compiler-grpc",
    "mcs": "Debian's package mono-mcs",
    "mvn": "a JDK 17 or newer with Maven",
    "npm": "Node.js 20.19 or newer",
    "php": "Debian's packages php-cli, php-curl and php-google-protobuf",
    "pkg-config": "Debian's package pkg-config",
    "protoc": "Debian's packages protobuf-compiler and libprotobuf-dev",
    "ruby": "Debian's packages ruby and ruby-grpc",
}
"""What provides each tool."""


class Workshop:
    """A folder with copies of the protos, the protos that they import, and the program of one language.

    Attributes:
        folder: the folder of the program.
        protos: the contract's files, relative to `folder`.
        imported: the files of `google/api`, relative to `folder`.
    """

    def __init__(self, home: Path, language: str) -> None:
        self.folder = home / language
        shutil.copytree(_ROOT / "protos", home / "protos")
        shutil.copytree(_ROOT / "third_party" / "google" / "api", home / "third_party" / "google" / "api")
        if (_PROGRAMS / language).exists():
            shutil.copytree(_PROGRAMS / language, self.folder, ignore=shutil.ignore_patterns("node_modules", "target"))
        self.folder.mkdir(exist_ok=True)
        (self.folder / "generated").mkdir()
        self.protos = [f"../{file.relative_to(home)}" for file in sorted((home / "protos").rglob("*.proto"))]
        self.imported = [f"../{file.relative_to(home)}" for file in sorted((home / "third_party").rglob("*.proto"))]

    def protoc(self, *options: str, imported: bool = True) -> None:
        """Generate code with protoc, and also for the imported protos if `imported`."""
        files = [*self.protos, *(self.imported if imported else [])]
        self.run("protoc", "-I", "../protos", "-I", "../third_party", *options, *files)

    def run(self, *command: str) -> str:
        """Run a command in the folder, and return what it prints.

        Fail with the name of what is to be installed if the tool is missing, and with the messages of the command if
        the command fails.
        """
        require(command[0])
        done = subprocess.run(
            command, cwd=self.folder, capture_output=True, text=True, timeout=_SECONDS, check=False, env=_environment()
        )
        if done.returncode != 0:
            pytest.fail(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}", pytrace=False)
        return done.stdout.strip()


def require(tool: str) -> str:
    """Return the path of a tool; fail with what provides it if it is missing."""
    path = shutil.which(tool)
    if path is None:
        pytest.fail(f"{tool} is not on the PATH; install {INSTALL[tool]}", pytrace=False)
    return path


def _environment() -> dict[str, str]:
    return os.environ | {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
