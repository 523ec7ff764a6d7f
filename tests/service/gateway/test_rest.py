"""REST: the path, query and body of each call, and the JSON of protobuf values."""

import json
import random
import re
import uuid
from typing import Any

import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import Request, check
from tests.support.game_clients import Game, new_game, play

pytestmark = pytest.mark.one_store

JERK = {"options": {"sodaJerk": {"firstSeat": 1}}, "seatCount": 2}


def bearer(token: str) -> dict[str, str]:
    """Return the header for a token."""
    return {"authorization": f"Bearer {token}"}


@pytest.fixture
def game(stub: GameServiceStub) -> Game:
    """A game of two seats, created over gRPC."""
    return new_game(stub, 2)


def test_a_game_is_created_fetched_played_scored_and_deleted(send: Request) -> None:
    created = send("POST", "/v1/games", json.dumps(JERK)).json
    path, (first, second) = f"/v1/games/{created['state']['gameId']}", created["seatTokens"]
    legal = send("GET", f"{path}:legalMoves", headers=bearer(second)).json
    move = {"move": legal["moves"][0]["move"], "etag": legal["etag"], "includeLegalMoves": True}

    answered = send("POST", f"{path}:applyMove", json.dumps(move), bearer(second)).json

    assert (answered["committedVersion"], answered["repeatedRequest"]) == ("2", False)
    assert send("GET", path, headers=bearer(first)).json["state"]["awaitingSeats"] == [0]
    assert [score["total"] for score in send("GET", f"{path}:score").json["scores"]] == [0, 0]
    assert [entry["version"] for entry in send("GET", f"{path}:history").json["entries"]] == ["1", "2"]
    assert send("DELETE", path, headers=bearer(created["hostToken"])).json == {}
    check(send("GET", path), 404, "NOT_FOUND", "GAME_NOT_FOUND")


def test_the_query_of_the_host_may_name_any_seat_including_seat_0(send: Request, game: Game) -> None:
    path, host = f"/v1/games/{game.game_id}", bearer(game.created.host_token)

    seen = [send("GET", f"{path}?seat={seat}", headers=host).json["state"] for seat in (0, 1)]

    assert [state["viewerSeat"] for state in seen] == [0, 1]
    assert "viewerSeat" not in send("GET", path, headers=host).json["state"]
    check(send("GET", f"{path}:legalMoves", headers=host), 400, "INVALID_ARGUMENT", "MALFORMED", "seat")


def test_a_private_game_exists_only_for_holders_of_a_token(send: Request) -> None:
    created = send("POST", "/v1/games", json.dumps(JERK | {"visibility": "VISIBILITY_PRIVATE"})).json
    path = f"/v1/games/{created['state']['gameId']}"

    assert send("GET", path, headers=bearer(created["spectatorToken"])).json["state"] == created["state"]
    check(send("GET", path), 404, "NOT_FOUND", "GAME_NOT_FOUND")


@pytest.mark.parametrize("name", ["includeLegalMoves", "include_legal_moves"])
def test_query_fields_have_either_spelling(send: Request, game: Game, name: str) -> None:
    awaited = game.created.state.awaiting_seats[0]
    token = bearer(game.created.seat_tokens[awaited])

    state = send("GET", f"/v1/games/{game.game_id}?{name}=true", headers=token).json["state"]

    assert state["legalMoves"]


def test_body_fields_have_either_spelling(send: Request) -> None:
    created = send("POST", "/v1/games", '{"options": {"soda_jerk": {"first_seat": 1}}, "seat_count": 2}').json

    assert created["state"]["awaitingSeats"] == [1]


def test_field_names_may_be_escaped(send: Request) -> None:
    assert send("POST", "/v1/games", r'{"opt\u0069ons": {"sodaJerk": {}}, "seat\u0043ount": 2}').status == 200


def test_json_follows_the_mapping_of_protobuf(send: Request) -> None:
    state = send("POST", "/v1/games", json.dumps(JERK)).json["state"]

    assert state["version"] == "1"  # a JavaScript number cannot represent all 64-bit integers
    assert (state["kind"], state["status"]) == ("GAME_KIND_SODA_JERK", "GAME_STATUS_ACTIVE")
    for name in ("createTime", "updateTime", "expireTime"):
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", state[name])
    assert state["options"]["sodaJerk"]["advanced"] is False  # default values are present
    assert state["legalMoves"] == []
    assert "viewerSeat" not in state  # unset optional fields are absent
    hands = state["view"]["sodaJerk"]["hands"]
    assert [hand["cards"] for hand in hands] == [[], []]


def test_a_history_is_read_in_pages(send: Request, game: Game) -> None:
    play(game, random.Random(1))
    path = f"/v1/games/{game.game_id}:history"

    first = send("GET", f"{path}?pageSize=3").json
    second = send("GET", f"{path}?pageSize=3&pageToken={first['nextPageToken']}").json

    assert [entry["version"] for entry in first["entries"] + second["entries"]] == list("123456")
    assert "seat" not in first["entries"][0]


def test_the_kinds_are_listed(send: Request) -> None:
    kinds = send("GET", "/v1/gameKinds").json["gameKinds"]

    assert kinds[0]["presets"][0] == {
        "sodaJerk": {"advanced": False, "removedFlavor": "FLAVOR_UNSPECIFIED", "copiesPerValue": [3, 3, 3]}
    }


@pytest.mark.parametrize("spelling", ["plain", "chunked"])
def test_a_repeated_move_is_committed_once(send: Request, game: Game, spelling: str) -> None:
    awaited = game.created.state.awaiting_seats[0]
    token = bearer(game.created.seat_tokens[awaited])
    move = send("GET", f"/v1/games/{game.game_id}:legalMoves", headers=token).json["moves"][0]["move"]
    text = json.dumps({"move": move, "requestId": str(uuid.uuid4())}).encode()

    def body() -> Any:
        return text if spelling == "plain" else iter([text[:20], text[20:]])

    answers = [send("POST", f"/v1/games/{game.game_id}:applyMove", body(), token).json for _ in range(2)]

    assert [answer["repeatedRequest"] for answer in answers] == [False, True]
    assert answers[0]["events"] == answers[1]["events"]


def test_response_headers_reveal_no_details_of_the_service(send: Request, game: Game) -> None:
    answers = [
        send("GET", f"/v1/games/{game.game_id}"),
        send("GET", "/v1/games/nothing"),
        send("GET", "/nothing"),
        send("POST", "/v1/games", "{"),
    ]

    harmless = {"content-type", "content-length", "date", "connection", "vary", "cache-control"}
    for answer in answers:
        assert answer.headers.keys() <= harmless
