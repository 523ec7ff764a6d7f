"""Writes docs/openapi.yaml: the REST face of the contract, for people and for programs.

protoc-gen-openapiv3 (pinned in go.mod) makes a document of the protos and their comments. `refined` adds what the
protos say but the generator does not read (the limits of buf.validate, what proto3's JSON always has, the reasons of
errors), and lays overlay.yaml over it, which holds what the protos cannot say (security, examples, how a stream looks).
"""

import json
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import yaml
from google.protobuf.descriptor_pb2 import FileDescriptorSet

from tools.openapi.document import refined

DOCUMENT: Final = Path("docs/openapi.yaml")

_HOME: Final = Path(__file__).parent
_HEADER: Final = "# Made by `make generate` from protos/ and tools/openapi/overlay.yaml.\n"


def write(folder: Path, buf: Callable[..., None]) -> None:
    """Writes the document below `folder`; `buf` runs buf with arguments.

    Raises:
        SystemExit: Go is missing, or buf failed.
    """
    if shutil.which("go") is None:
        sys.exit(f"Go 1.26 or newer is needed to make and to check {DOCUMENT}: put `go` on the PATH")
    with tempfile.TemporaryDirectory() as name:
        made, image = Path(name), Path(name, "image.binpb")
        buf("generate", "--template", str(_HOME / "buf.gen.yaml"), "--path", "protos/sodafountain", "--output", name)
        buf("build", "--path", "protos/sodafountain", "--output", str(image))
        generated = json.loads((made / "sodafountain/v1/game_service.openapi.json").read_text())
        contract = FileDescriptorSet.FromString(image.read_bytes())
    overlay = yaml.safe_load((_HOME / "overlay.yaml").read_text())
    document = refined(generated, contract, overlay)
    text = yaml.dump(document, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=120)
    (folder / DOCUMENT).parent.mkdir(parents=True, exist_ok=True)
    (folder / DOCUMENT).write_text(_HEADER + text)


class _Dumper(yaml.SafeDumper):
    """Writes everything out: no anchors, and text of several lines as such."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002 - PyYAML asks; Any: as it has it
        return True


def _text(dumper: yaml.SafeDumper, value: str) -> yaml.ScalarNode:
    style = "|" if "\n" in value else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style=style)


_Dumper.add_representer(str, _text)
