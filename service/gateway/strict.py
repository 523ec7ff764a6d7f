"""The tables of strict.lua, which makes the gateway behave as HTTP and the JSON mapping of Protobuf require."""

import re
from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Final

from google.api import annotations_pb2
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from service.contract import ERROR_DOMAIN
from service.contract import game_service_pb2 as pb
from service.gateway.statuses import STATUS_OF_REASON

_ORDER: Final = ("GET", "HEAD", "POST", "DELETE")
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]


def tables() -> str:
    """Return the tables as Lua source.

    They are `MESSAGES` by name, `BODIES` and `METHODS` by path pattern, the `DOMAIN` of errors, and their `STATUSES` by
    reason.
    """
    bodies = {pattern: body for pattern, body, _ in _bodies()}
    in_paths = {body.full_name: names for _, body, names in _bodies()}
    messages = {message.full_name: message for body in bodies.values() for message in _messages_in(body)}
    statuses = ", ".join(f'{reason} = "{status}"' for reason, status in STATUS_OF_REASON.items())
    lines = [f'local DOMAIN = "{ERROR_DOMAIN}"', f"local STATUSES = {{{statuses}}}", "local MESSAGES = {"]
    for name, message in sorted(messages.items()):
        lines.append(f'["{name}"] = {{{", ".join(_fields(message, in_paths.get(name, ())))}}},')
    lines.append("bool = {}}")  # strict.lua knows the JSON form of this type
    lines.append("local BODIES = {")
    lines += [f'["{pattern}"] = "{body.full_name}",' for pattern, body in sorted(bodies.items())]
    lines.append("}")
    methods = _methods()
    lines.append("local METHODS = {")
    lines += [f'["{pattern}"] = "{_allow(names)}",' for pattern, names in sorted(methods.items())]
    lines.append("}\n")
    return "\n".join(lines)


def _bodies() -> Iterator[tuple[str, Descriptor, tuple[str, ...]]]:
    """Yield for each path its pattern, its request, and the fields in the path, which the body must not have."""
    for method in _SERVICE.methods:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        if rule.post:
            yield _pattern(rule.post), method.input_type, tuple(re.findall(r"{([^}=]*)", rule.post))


def _methods() -> dict[str, set[str]]:
    """Return the HTTP methods of each path, by its pattern. HEAD is missing for a stream, which has no end."""
    found: dict[str, set[str]] = defaultdict(set)
    for method in _SERVICE.methods:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        names = found[_pattern(getattr(rule, verb))]
        names.add(verb.upper())
        if verb == "get" and not method.server_streaming:
            names.add("HEAD")
    return found


def _allow(methods: Collection[str]) -> str:
    return ", ".join([*sorted(methods, key=_ORDER.index), "OPTIONS"])


def _pattern(template: str) -> str:
    """Return the Lua pattern for the paths of a template."""
    return f"^{'[^/:]+'.join(re.split(r'{[^}]*}', template))}$"


def _messages_in(message: Descriptor, seen: frozenset[str] = frozenset()) -> Iterator[Descriptor]:
    if message.full_name in seen:
        return
    yield message
    for field in message.fields:
        if field.message_type is not None:
            yield from _messages_in(field.message_type, seen | {message.full_name})


def _fields(message: Descriptor, left_out: Collection[str]) -> Iterator[str]:
    for field in message.fields:
        if field.name in left_out:
            continue
        held = "false" if field.message_type is None else f'"{field.message_type.full_name}"'
        if field.type == FieldDescriptor.TYPE_BOOL:
            held = '"bool"'
        for name in sorted({field.json_name, field.name}):
            yield f'["{name}"] = {{"{field.name}", {held}, {str(field.is_repeated).lower()}}}'
