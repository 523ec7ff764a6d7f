"""strict.lua and the transcoder accept and reject the same JSON as protobuf's own parser.

The bodies are random messages of the contract and mutations of their text. They are the same on every run.
"""

import json
import random
import re
import string
from collections.abc import Iterator
from typing import Any, cast

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from sodafountain.v1 import game_service_pb2 as pb
from tests.service.gateway.conftest import Request
from tests.support.gateways import http_request

pytestmark = pytest.mark.one_store

BODIES = 300
PATHS: dict[type[Message], str] = {
    pb.NewGameRequest: "/v1/games",
    pb.ApplyMoveRequest: f"/v1/games/{'a' * 26}:applyMove",
}


def message(kind: Descriptor, rng: random.Random, depth: int = 0) -> dict[str, Any]:
    """Return a random message as a JSON object."""
    fields: dict[str, Any] = {}
    oneofs: set[str] = set()
    for field in kind.fields:
        oneof = field.containing_oneof.name if field.containing_oneof else field.name
        if field.name == "game_id" or oneof in oneofs or rng.random() < 0.3:
            continue
        oneofs.add(oneof)
        one = value(field, rng, depth)
        name = rng.choice([field.json_name, field.name])
        fields[name] = [one, value(field, rng, depth)][: rng.randrange(3)] if field.is_repeated else one
    if rng.random() < 0.2:
        fields[rng.choice(["foo", "Options", "seat-count", "", "é", "seatCount ", "__proto__"])] = rng.choice(
            [1, {}, [], "x", None, {"options": [{}]}]
        )
    return fields


def value(field: FieldDescriptor, rng: random.Random, depth: int) -> Any:
    """Return a random value of a field."""
    if field.message_type is not None:
        return message(field.message_type, rng, depth + 1)
    if field.enum_type is not None:
        return rng.choice([known.name for known in field.enum_type.values])
    if field.type == FieldDescriptor.TYPE_BOOL:
        return rng.random() < 0.5
    if field.type == FieldDescriptor.TYPE_STRING:
        return "".join(rng.choices([*string.printable, "é", "\U0001f964", "\\", '"'], k=rng.randrange(12)))
    if field.type == FieldDescriptor.TYPE_BYTES:
        return "AAEC"
    return rng.choice([0, 1, -1, 2**31 - 1, "7"])


def spoiled(text: str, rng: random.Random) -> str:
    """Return the text, in half of the cases with a random error."""
    at = rng.randrange(len(text))
    match rng.randrange(8):
        case 0:
            return text[:at] + rng.choice('{}[],:"\\ 0e.-tn') + text[at:]
        case 1:
            return text[:at] + text[at + 1 :]
        case 2:
            return text[:at]
        case 3:
            return text.replace('"options"', r'"opt\u0069ons"', 1)
        case _:
            return text


def bodies() -> Iterator[tuple[type[Message], str]]:
    """Yield bodies of both calls."""
    rng = random.Random(20)
    for _ in range(BODIES):
        kind = rng.choice(list(PATHS))
        body = message(cast("Descriptor", kind.DESCRIPTOR), rng)
        yield kind, spoiled(json.dumps(body, ensure_ascii=rng.random() < 0.5), rng)


def problem(kind: type[Message], text: str) -> str:
    """Return the error of protobuf's parser; an empty string if it accepts the body."""
    try:
        json_format.Parse(text, kind())
    except (json_format.ParseError, ValueError) as error:  # ValueError: invalid base64
        return str(error) or "rejected"
    seed = json.loads(text).get("seed") or ""
    return "" if re.fullmatch("[A-Za-z0-9+/_=-]*", seed) else "invalid base64"  # protobuf ignores other characters


def test_the_gateway_and_protobuf_reject_the_same_bodies(send: Request, rest: str) -> None:
    accepted = rejected = 0
    for kind, text in bodies():
        against = problem(kind, text)
        answer = http_request(rest, "POST", PATHS[kind], text.encode())
        message = answer.json["message"] if answer.status != 200 else ""
        assert answer.status < 500, (text, message)
        by_the_gateway = answer.headers.get("connection") == "close"  # it closes the connection after its own errors
        if against:
            assert by_the_gateway, (text, against, message)
            rejected += 1
        else:
            assert not by_the_gateway, (text, message)
            accepted += 1
    assert min(accepted, rejected) > BODIES // 5, (accepted, rejected)


@pytest.mark.parametrize("size", [10_000, 60_000])
def test_large_bodies_are_checked_to_the_last_byte(send: Request, size: int) -> None:
    text = json.dumps({"requestId": "x" * size, "last": 1})

    assert "There is no field last" in send("POST", "/v1/games", text).json["message"]
