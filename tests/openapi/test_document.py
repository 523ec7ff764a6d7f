"""docs/openapi.yaml documents all of REST. `make lint` checks that it is up to date and well formed."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from service.transport.errors import CODES
from sodafountain.v1 import errors_pb2, game_service_pb2
from tests.support.rest import Json
from tools import contract, openapi
from tools.openapi.document import HTTP_STATUS

DOCUMENT: Json = yaml.safe_load((Path(__file__).parents[2] / openapi.DOCUMENT).read_text())
SCHEMAS: Json = DOCUMENT["components"]["schemas"]


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
    assert {str(HTTP_STATUS[code]) for code in CODES.values()} <= returned
    assert {name for name in names if name not in documented} == set()


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


def test_the_limits_of_the_contract_are_documented() -> None:
    parameters = {found["name"]: found["schema"] for found in operations()["WatchGame"]["parameters"]}

    assert parameters["game_id"]["pattern"] == "^[a-z0-9]{26}$"
    assert (parameters["seat"]["minimum"], parameters["seat"]["maximum"]) == (0, 13)
    assert parameters["resumeToken"]["maxLength"] == 64


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
