"""Generate everything that derives from the protos, and check that it is up to date.

`generate` rejects a change of the protos that breaks the published contract. Otherwise it writes the stubs,
docs/openapi.yaml and `protos/contract.binpb`, the image of the contract that the next change is compared with.
`check` fails if a generated file is stale or if the protos break the contract.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tools import openapi, stubs

PYTHON_STUBS = Path("clients/python/src/sodafountain/v1")
SERVICE_STUBS = Path("service/contract")
IMAGE = Path("protos/contract.binpb")

_OWN_MODULE = re.compile(r"(?m)(^from |BuildTopDescriptorsAndMessages\(DESCRIPTOR, ')sodafountain\.v1\b")
"""Where a stub names its own package as a Python module, and not as a protobuf package."""


def buf(*arguments: str) -> None:
    """Run buf. Its messages are shown in the terminal.

    Raises:
        SystemExit: buf failed.
    """
    tools = Path(sys.executable).parent
    environment = os.environ | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}  # buf finds its plugins there
    result = subprocess.run([tools / "buf", *arguments], env=environment, check=False)  # noqa: S603 - fixed arguments
    if result.returncode != 0:
        sys.exit(f"buf {arguments[0]} failed; its messages are above")


def build(folder: Path) -> None:
    """Write the stubs, the image and docs/openapi.yaml below `folder`."""
    buf("generate", "--path", "protos/sodafountain", "--output", str(folder))
    for hints in (folder / PYTHON_STUBS).glob("*_pb2_grpc.pyi"):
        if not hints.with_suffix(".py").exists():  # the proto has no service
            hints.unlink()
    _write_service_stubs(folder)
    (folder / IMAGE).parent.mkdir(parents=True, exist_ok=True)
    buf("build", "protos", "--exclude-source-info", "--output", str(folder / IMAGE))
    openapi.write(folder, buf)
    stubs.write(folder, buf)


def _write_service_stubs(folder: Path) -> None:
    """Copy the Python stubs into the service, so that it does not depend on its client library.

    Only the names of their own modules change. A process that imports both copies gets the same message classes,
    because their descriptors are identical. The type hints say so too: they are those of the client library.
    """
    (folder / SERVICE_STUBS).mkdir(parents=True, exist_ok=True)
    for stub in _python_stubs(folder / PYTHON_STUBS):
        content = _OWN_MODULE.sub(rf"\g<1>{'.'.join(SERVICE_STUBS.parts)}", stub.read_text())
        if stub.suffix == ".pyi":
            content = f"from {'.'.join(PYTHON_STUBS.parts[-2:])}.{stub.stem} import *\n"
        (folder / SERVICE_STUBS / stub.name).write_text(content)


def _python_stubs(folder: Path) -> list[Path]:
    return [file for file in folder.glob("*_pb2*") if file.suffix in {".py", ".pyi"}]


def generated(folder: Path) -> dict[Path, bytes]:
    """Read the files that `build` writes, by path below `folder`."""
    files = [file for home in (PYTHON_STUBS, SERVICE_STUBS) for file in _python_stubs(folder / home)]
    files += [file for home in stubs.FOLDERS for file in (folder / home).rglob("*") if file.is_file()]
    files += [file for file in (folder / IMAGE, folder / openapi.DOCUMENT) if file.exists()]
    return {file.relative_to(folder): file.read_bytes() for file in files}


def check_compatibility() -> None:
    """Compare the protos with the image and with the main branch.

    Imported files are not compared: they are vendored, and a field whose type they define is compared in our files.

    Raises:
        SystemExit: the protos break the contract.
    """
    if IMAGE.exists():
        buf("breaking", "protos", "--against", str(IMAGE), "--exclude-imports")
    main = subprocess.run(["git", "cat-file", "-e", "main:protos"], check=False, capture_output=True)  # noqa: S607 - git from the PATH
    if main.returncode == 0:
        buf("breaking", "--against", ".git#branch=main", "--exclude-imports")


def main() -> None:
    """Run the command that the arguments name."""
    match sys.argv[1:]:
        case ["generate"]:
            check_compatibility()
            with tempfile.TemporaryDirectory() as folder:
                build(Path(folder))
                fresh = generated(Path(folder))
            for file in generated(Path()):
                file.unlink()
            for file, content in fresh.items():
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(content)
        case ["check"]:
            check_compatibility()
            with tempfile.TemporaryDirectory() as folder:
                build(Path(folder))
                fresh, kept = generated(Path(folder)), generated(Path())
            if stale := sorted(str(file) for file in fresh.keys() | kept.keys() if fresh.get(file) != kept.get(file)):
                sys.exit("these generated files are stale; run `make generate`:\n  " + "\n  ".join(stale))
        case _:
            sys.exit("usage: python -m tools.contract generate | check")


if __name__ == "__main__":
    main()
