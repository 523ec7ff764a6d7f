"""The contract's fields as tables for strict.lua, which refuses bodies that have others."""

import re
from collections.abc import Iterator
from typing import Final

from google.api import annotations_pb2
from google.protobuf.descriptor import Descriptor

from service.errors import DOMAIN
from sodafountain.v1 import game_service_pb2 as pb

_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]


def tables() -> str:
    """Writes the tables in Lua: `MESSAGES` by name, `BODIES` by Lua's pattern of a path, and the `DOMAIN` of errors."""
    bodies = dict(_bodies())
    messages = {message.full_name: message for body in bodies.values() for message in _all_in(body)}
    lines = [f'local DOMAIN = "{DOMAIN}"', "local MESSAGES = {"]
    for name, message in sorted(messages.items()):
        lines.append(f'["{name}"] = {{{", ".join(_fields(message))}}},')
    lines.append("}")
    lines.append("local BODIES = {")
    lines += [f'["{pattern}"] = "{body.full_name}",' for pattern, body in sorted(bodies.items())]
    lines.append("}\n")
    return "\n".join(lines)


def _bodies() -> Iterator[tuple[str, Descriptor]]:
    for method in _SERVICE.methods:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        if rule.post:
            parts = re.split(r"{[^}]*}", rule.post)
            yield f"^{'[^/]+'.join(parts)}$", method.input_type


def _all_in(message: Descriptor, seen: frozenset[str] = frozenset()) -> Iterator[Descriptor]:
    if message.full_name in seen:
        return
    yield message
    for field in message.fields:
        if field.message_type is not None:
            yield from _all_in(field.message_type, seen | {message.full_name})


def _fields(message: Descriptor) -> Iterator[str]:
    for field in message.fields:
        held = "false" if field.message_type is None else f'"{field.message_type.full_name}"'
        for name in sorted({field.json_name, field.name}):
            yield f'["{name}"] = {{"{field.name}", {held}}}'
