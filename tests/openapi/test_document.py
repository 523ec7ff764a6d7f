"""docs/openapi.yaml documents all of REST. `make lint` checks that it is up to date and well formed."""

import base64
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest
import yaml
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from service.gateway.statuses import STATUS_OF_REASON, http_status
from service.transport.errors import CODES
from service.transport.validation import RULES, Bytes, Counts, GameId, Integer, Items, Rule, Text, Uuid4
from sodafountain.v1 import errors_pb2, game_service_pb2
from tests.support.rest import Json
from tools import contract, openapi

DOCUMENT: Json = yaml.safe_load((Path(__file__).parents[2] / openapi.DOCUMENT).read_text())
SCHEMAS: Json = DOCUMENT["components"]["schemas"]
REQUESTS = {
    method.input_type.name: method.name
    for method in game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods
}
"""The calls, by the name of their request."""


def operations() -> dict[str, Json]:
    return {operation["operationId"]: operation for item in DOCUMENT["paths"].values() for operation in item.values()}


def walk(node: object) -> Iterator[Json]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from walk(value)
    elif isinstance(node, list):
        for value in node:
            yield from walk(value)


def test_every_call_is_documented() -> None:
    calls = game_service_pb2.DESCRIPTOR.services_by_name["GameService"].methods_by_name

    assert set(operations()) == set(calls)
    assert all(operation["summary"] and operation["description"] for operation in operations().values())


def test_every_reason_is_documented_with_a_status_that_some_call_returns() -> None:
    names = {errors_pb2.ErrorReason.Name(reason).removeprefix("ERROR_REASON_") for reason in CODES}
    returned = {status for operation in operations().values() for status in operation["responses"]}
    documented = str(operations()) + str(DOCUMENT["components"]["responses"])

    assert set(SCHEMAS["sodafountain.v1.ErrorReason"]["enum"]) == names
    assert {
        str(http_status(name, CODES[errors_pb2.ErrorReason.Value(f"ERROR_REASON_{name}")])) for name in names
    } <= returned
    assert {name for name in names if name not in documented} == set()


def test_a_rejected_move_is_documented_with_the_status_of_its_reason() -> None:
    responses = operations()["ApplyMove"]["responses"]

    assert set(STATUS_OF_REASON) == {"NOT_YOUR_TURN", "GAME_FINISHED", "STALE_ETAG"}
    for reason, status in [("ILLEGAL_MOVE", 400), *STATUS_OF_REASON.items()]:
        assert reason in responses[str(status)]["description"]


def test_the_example_of_a_history_matches_its_commitment() -> None:
    example = operations()["GetHistory"]["responses"]["200"]["content"]["application/json"]["example"]
    digest = hashlib.sha256(example["commitmentText"].encode()).digest()

    assert base64.b64decode(example["seedCommitment"]) == digest
    assert f"seed {base64.b64decode(example['seed']).hex()}\n" in example["commitmentText"]


def test_integers_of_64_bits_are_strings() -> None:
    wide = [node for node in walk(DOCUMENT) if node.get("format") == "int64"]

    assert wide
    assert {node["type"] for node in wide} == {"string"}


def test_enums_are_names() -> None:
    assert SCHEMAS["sodafountain.v1.GameStatus"]["enum"] == [
        "GAME_STATUS_UNSPECIFIED",
        "GAME_STATUS_ACTIVE",
        "GAME_STATUS_FINISHED",
    ]


def described(message: str, field: FieldDescriptor) -> Json:
    """Return the schema of a field with its description, from a component, a request body or a parameter."""
    name = message.removeprefix("sodafountain.v1.")
    if name in REQUESTS:
        operation = operations()[REQUESTS[name]]
        for parameter in operation.get("parameters", ()):
            if parameter["name"] in (field.name, field.json_name):
                return {"description": parameter["description"], **parameter["schema"]}
        properties = operation["requestBody"]["content"]["application/json"]["schema"]["properties"]
    else:
        properties = SCHEMAS[message]["properties"]
    return cast("Json", properties[field.json_name])


def constraint(rule: Rule) -> tuple[str, Json]:
    """Return the phrase and the schema keywords that must document a rule."""
    match rule:
        case Integer(minimum, None):
            return f"at least {minimum}", {"minimum": minimum}
        case Integer(minimum, maximum):
            return f"{minimum} to {maximum}", {"minimum": minimum, "maximum": maximum}
        case Text(max_length):
            return f"at most {max_length} characters", {"maxLength": max_length}
        case GameId(pattern):
            return "26 lower-case letters and digits", {"pattern": pattern}
        case Uuid4():
            return "random UUID (version 4)", {"format": "uuid"}
        case Bytes(length):
            return f"{length} bytes", {"minLength": 44, "maxLength": 44}  # in base64
        case Items(minimum, maximum):
            return f"{minimum} to {maximum}", {"minItems": minimum, "maxItems": maximum}
        case Counts(length, total):
            return f"{length} counts that add up to {total}", {"maxItems": length}
    return "", {}


LIMITED = [
    pytest.param(message.DESCRIPTOR, name, rule, id=f"{message.DESCRIPTOR.name}.{name}")
    for message, rules in RULES.items()
    for name, rule in rules.items()
    if name in message.DESCRIPTOR.fields_by_name
]


@pytest.mark.parametrize(("message", "name", "rule"), LIMITED)
def test_the_limits_of_a_field_are_in_its_schema_and_its_description(
    message: Descriptor, name: str, rule: Rule
) -> None:
    schema = described(message.full_name, message.fields_by_name[name])
    words, limits = constraint(rule)

    assert words in " ".join(schema["description"].split()).replace("At most", "at most")
    assert {key: schema.get(key) for key in limits} == limits


def test_the_limits_of_the_items_of_a_list_are_in_its_schema() -> None:
    items = SCHEMAS["sodafountain.v1.SodaSmugglersMove.Pack"]["properties"]["luggage"]["items"]

    assert (items["minimum"], items["maximum"]) == (0, 3)


def test_a_choice_has_exactly_one_field() -> None:
    options, message = SCHEMAS["sodafountain.v1.Options"], SCHEMAS["sodafountain.v1.WatchGameResponse"]

    assert (options["minProperties"], options["maxProperties"]) == (1, 1)
    assert [branch["required"] for branch in message["oneOf"]] == [["snapshot"], ["update"], ["heartbeat"], ["end"]]


def test_fields_that_are_always_present_are_required() -> None:
    state = SCHEMAS["sodafountain.v1.GameState"]

    assert {"version", "awaitingSeats", "prompt"} <= set(state["required"])
    assert {"viewerSeat", "view", "expireTime"}.isdisjoint(state["required"])


def test_the_authentication_of_each_call_is_documented() -> None:
    assert operations()["NewGame"]["security"] == [{"apiKey": []}, {}]
    assert operations()["ApplyMove"]["security"] == [{"token": []}]
    assert DOCUMENT["security"] == [{"token": []}, {}]


def test_without_go_generation_fails_with_a_clear_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(SystemExit, match=r"^Go 1\.26 or newer is needed"):
        openapi.write(tmp_path, contract.buf)
