"""Builds the stubs of all client libraries and the description of REST from the contract; checks that none is stale.

`generate` refuses a change that would break those who were promised the contract, then writes the stubs,
docs/openapi.yaml and the image of the contract, `protos/contract.binpb`, against which the next change will be
compared. `check` fails when one of these is not what the protos say, or when the contract breaks what the main branch
promised.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import openapi, stubs

PYTHON_STUBS = Path("clients/python/src")
IMAGE = Path("protos/contract.binpb")
PACKAGES = ("sodafountain/v1", "buf/validate")


def buf(*arguments: str) -> None:
    """Runs buf; its messages go to the terminal.

    Raises:
        SystemExit: it failed.
    """
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}  # buf starts its plugins from there
    result = subprocess.run([tools / "buf", *arguments], env=environment, check=False)  # noqa: S603 - our own arguments
    if result.returncode != 0:
        sys.exit(f"buf {arguments[0]} failed; its messages are above")


def build(folder: Path) -> None:
    """Writes the stubs, the image and the description of REST as the protos define them into `folder`."""
    buf("generate", "--path", "protos/sodafountain", "--path", "third_party/buf/validate", "--output", str(folder))
    for hints in (folder / PYTHON_STUBS).rglob("*_pb2_grpc.pyi"):
        if not hints.with_suffix(".py").exists():  # a file without a service
            hints.unlink()
    (folder / IMAGE).parent.mkdir(parents=True, exist_ok=True)
    buf("build", "protos", "--exclude-source-info", "--output", str(folder / IMAGE))
    openapi.write(folder, buf)
    stubs.write(folder, buf)


def generated(folder: Path) -> dict[Path, bytes]:
    """Reads what `build` writes, by path below `folder`."""
    files = [
        file
        for package in PACKAGES
        for file in (folder / PYTHON_STUBS / package).glob("*_pb2*")
        if file.suffix in {".py", ".pyi"}
    ]
    files += [file for home in stubs.FOLDERS for file in (folder / home).rglob("*") if file.is_file()]
    files += [file for file in (folder / IMAGE, folder / openapi.DOCUMENT) if file.exists()]
    return {file.relative_to(folder): file.read_bytes() for file in files}


def check_promises() -> None:
    """Compares the protos with the image of what was promised, and with the main branch."""
    if IMAGE.exists():
        buf("breaking", "protos", "--against", str(IMAGE))
    main = subprocess.run(["git", "cat-file", "-e", "main:protos"], check=False, capture_output=True)  # noqa: S607 - git of the machine
    if main.returncode == 0:
        buf("breaking", "--against", ".git#branch=main")


def main() -> None:
    """Runs the command that was named."""
    match sys.argv[1:]:
        case ["generate"]:
            check_promises()
            with tempfile.TemporaryDirectory() as folder:
                build(Path(folder))
                fresh = generated(Path(folder))
            for file in generated(Path()):
                file.unlink()
            for file, content in fresh.items():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        case ["check"]:
            check_promises()
            with tempfile.TemporaryDirectory() as folder:
                build(Path(folder))
                fresh, kept = generated(Path(folder)), generated(Path())
            if stale := sorted(str(file) for file in fresh.keys() | kept.keys() if fresh.get(file) != kept.get(file)):
                sys.exit("stale, run `make generate`:\n  " + "\n  ".join(stale))
        case _:
            sys.exit("usage: python -m tools.contract generate | check")


if __name__ == "__main__":
    main()
