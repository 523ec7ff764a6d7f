"""The JSON mapping of protobuf, line by line: which forms of a value are accepted, and as what."""

import base64
import json
from typing import Any, Final

import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import GOOD, Request, check
from tests.support.game_clients import new_game

SEED: Final = bytes(range(0xD8, 0xF8))  # its base64 has characters that base64url replaces
STANDARD: Final = base64.b64encode(SEED).decode()
URL_SAFE: Final = base64.urlsafe_b64encode(SEED).decode()


def options(**fields: Any) -> str:
    """Return a request for a game of Soda Jerk with these options."""
    return json.dumps({"seatCount": 2, "options": {"sodaJerk": fields}})


def seats(text: str) -> str:
    """Return a request with this text for the number of seats."""
    return f'{{"options": {{"sodaJerk": {{}}}}, "seatCount": {text}}}'


def request(**fields: Any) -> str:
    """Return a valid request with further fields."""
    return json.dumps(GOOD | fields)


ACCEPTED: Final = {
    "null for a list": options(copiesPerValue=None),
    "null for a boolean": options(advanced=None),
    "null for an enum": options(removedFlavor=None),
    "null for a string": request(requestId=None),
    "null for another choice": '{"seatCount": 2, "options": {"sodaJerk": {}, "juices": null}}',
    "an integer in quotes": seats('"2"'),
    "an integer with an exponent": seats("2e0"),
    "an integer with a negative exponent": seats("20e-1"),
    "an integer with a fraction of zero": seats("2.0"),
    "integers in quotes in a list": options(copiesPerValue=["3", "3", "3"]),
    "the name of an enum": options(removedFlavor="FLAVOR_KIWI"),
    "the number of an enum": options(removedFlavor=1),
    "base64": request(seed=STANDARD),
    "base64 without padding": request(seed=STANDARD.rstrip("=")),
    "base64url": request(seed=URL_SAFE),
    "base64url without padding": request(seed=URL_SAFE.rstrip("=")),
    "names of the protos": '{"seat_count": 2, "options": {"soda_jerk": {}}}',
    "escaped names": r'{"seat\u0043ount": 2, "options": {"sodaJerk": {}}}',
    "any white space": ' \n\t{ "seatCount" : 2 , "options" : { "sodaJerk" : { } } } \r\n',
    "any order": '{"options": {"sodaJerk": {}}, "seatCount": 2}',
}


@pytest.mark.parametrize("text", ACCEPTED.values(), ids=list(ACCEPTED))
def test_these_forms_are_accepted(send: Request, text: str) -> None:
    answer = send("POST", "/v1/games", text)

    assert answer.status == 200, answer.body
    assert len(answer.json["seatTokens"]) == 2


REJECTED: Final = {
    "null in a list": options(copiesPerValue=[3, None, 3]),
    "null for a required number": seats("null"),
    "null for a required message": '{"seatCount": 2, "options": null}',
    "null for the choice": '{"seatCount": 2, "options": {"sodaJerk": null}}',
    "null for everything": "null",
    "one item without its list": options(copiesPerValue=3),
    "an object for a list": options(copiesPerValue={}),
    "a list for one value": seats("[2]"),
    "a list for a message": '{"seatCount": 2, "options": []}',
    "text for a message": '{"seatCount": 2, "options": "sodaJerk"}',
    "a list for everything": "[]",
    "a fraction": seats("2.5"),
    "too large an integer": seats("4294967298"),
    "too large a number": seats("1e999"),
    "white space in quotes": seats('" 2"'),
    "an exponent in quotes": seats('"2e0"'),
    "not a number": seats('"NaN"'),
    "infinity": seats("Infinity"),
    "a plus sign": seats("+2"),
    "a leading zero": seats("02"),
    "a boolean for a number": seats("true"),
    "a number for a boolean": options(advanced=1),
    "a boolean in quotes": options(advanced="true"),
    "a number for text": request(requestId=5),
    "an enum in lower case": options(removedFlavor="flavor_kiwi"),
    "an enum that does not exist": options(removedFlavor="FLAVOR_COLA"),
    "the number of an enum that does not exist": options(removedFlavor=99),
    "characters that are not base64": request(seed="?" * 43 + "="),
    "base64 and base64url mixed": request(seed="-/" * 21 + "A="),
    "two choices": '{"seatCount": 2, "options": {"sodaJerk": {}, "juices": {}}}',
    "a field twice": '{"seatCount": 2, "seatCount": 2, "options": {"sodaJerk": {}}}',
    "a field in both spellings": '{"seatCount": 2, "seat_count": 2, "options": {"sodaJerk": {}}}',
    "a type of Any": request(**{"@type": "x"}),
    "an extension": request(**{"[x.y]": 1}),
    "a comma at the end": '{"seatCount": 2, "options": {"sodaJerk": {}},}',
    "a comment": '{"seatCount": 2 /* two */, "options": {"sodaJerk": {}}}',
    "two documents": "{}{}",
    "half of a surrogate pair": r'{"requestId": "\ud800"}',
    "a control character": '{"requestId": "\x01"}',
    "a byte order mark": "\ufeff" + json.dumps(GOOD),
}


@pytest.mark.parametrize("text", REJECTED.values(), ids=list(REJECTED))
def test_these_forms_are_malformed(send: Request, text: str) -> None:
    answer = send("POST", "/v1/games", text.encode())

    fields = {item["field"] for detail in answer.json["details"] for item in detail.get("fieldViolations", ())}
    check(answer, 400, "INVALID_ARGUMENT", "MALFORMED", *fields)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        *(
            ("seat=1", 200),
            ("seat=%31", 200),
            ("s%65at=1", 200),
            ("includeLegalMoves=true", 200),
            ("", 200),
            ("&", 200),
        ),
        *(("include_legal_moves=false", 200), ("seat=0&includeLegalMoves=true", 200)),
        *(("seat=", 400), ("seat", 400), ("seat=null", 400), ("seat=1.0", 400), ("seat=1e0", 400), ("seat=0x1", 400)),
        *(("includeLegalMoves=perhaps", 400), ("includeLegalMoves=", 400), ("seat.x=1", 400), ("Seat=1", 400)),
    ],
)
def test_a_query_has_the_forms_of_json_without_quotes(
    send: Request, stub: GameServiceStub, query: str, status: int
) -> None:
    game = new_game(stub, 2)
    token = {"authorization": f"Bearer {game.created.host_token}"}

    assert send("GET", f"/v1/games/{game.game_id}?{query}", headers=token).status == status
