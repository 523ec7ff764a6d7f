"""Write the stubs of the TypeScript and Go clients.

Python's stubs have a separate template, and the Maven build of clients/java generates Java's. The generators are
pinned by each ecosystem's own lock: protoc-gen-es by clients/typescript, which make installs, and those of Go by go.mod
beside this file, which are fetched on first use.
"""

import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Final

FOLDERS: Final = (Path("clients/typescript/src/gen"), Path("clients/go/sodafountainv1"))
"""The folders of the stubs. They contain nothing else."""

_TEMPLATE: Final = Path(__file__).with_name("buf.gen.yaml")


def write(folder: Path, buf: Callable[..., None]) -> None:
    """Write the stubs below `folder`; `buf` runs buf with arguments.

    Raises:
        SystemExit: a toolchain is missing, or buf failed.
    """
    for tool, required in (("go", "Go 1.26"), ("node", "Node.js 20.19")):
        if shutil.which(tool) is None:
            sys.exit(f"generating and checking the stubs requires {required} or newer: put `{tool}` on the PATH")
    buf("generate", "--template", str(_TEMPLATE), "--output", str(folder))
