"""Writes the stubs of the client libraries in TypeScript, Go and Java; Python's have a template of their own.

The generators are pinned by each ecosystem's own lock: protoc-gen-es by clients/typescript, which make installs, those
of Go by go.mod beside this file, those of Java by pom.xml. The latter are fetched on first use.
"""

import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

FOLDERS: Final = (
    Path("clients/typescript/src/gen"),
    Path("clients/go/sodafountainv1"),
    Path("clients/java/src/main/java/sodafountain/v1"),
)
"""Where the stubs are; nothing else is there."""

_HOME: Final = Path(__file__).parent
_OF_JAVA: Final = Path("build/generators")
# Maven Central's words for what `platform` says.
_SYSTEMS: Final[Mapping[str, str]] = {"Linux": "linux", "Darwin": "osx", "Windows": "windows"}
_MACHINES: Final[Mapping[str, str]] = {
    "x86_64": "x86_64",
    "AMD64": "x86_64",
    "aarch64": "aarch_64",
    "arm64": "aarch_64",
}


def write(folder: Path, buf: Callable[..., None]) -> None:
    """Writes the stubs below `folder`; `buf` runs buf with arguments.

    Raises:
        SystemExit: a toolchain is missing, a generator could not be fetched, or buf failed.
    """
    for tool, needs in (("go", "Go 1.26"), ("node", "Node.js 20.19"), ("mvn", "A JDK 17 with Maven 3.8")):
        if shutil.which(tool) is None:
            sys.exit(f"{needs} or newer is needed to make and to check the stubs: put `{tool}` on the PATH")
    _fetch_generators_of_java()
    buf("generate", "--template", str(_HOME / "buf.gen.yaml"), "--output", str(folder))


def _fetch_generators_of_java() -> None:
    pins, stamp = _HOME / "pom.xml", _OF_JAVA / "pom.xml"
    if stamp.exists() and stamp.read_bytes() == pins.read_bytes():
        return
    target = f"{_SYSTEMS.get(platform.system(), '?')}-{_MACHINES.get(platform.machine(), '?')}"
    shutil.rmtree(_OF_JAVA, ignore_errors=True)
    _run("mvn", "-B", "-q", "-ntp", "-f", str(pins), "dependency:copy", f"-Dplatform={target}")
    for generator in _OF_JAVA.iterdir():
        generator.chmod(0o755)
    shutil.copy(pins, stamp)


def _run(*command: str) -> None:
    if subprocess.run(command, check=False).returncode != 0:  # noqa: S603 - our own commands
        sys.exit(f"`{' '.join(command)}` failed; its messages are above")
