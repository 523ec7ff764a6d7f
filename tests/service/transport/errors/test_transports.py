"""Errors over REST and gRPC-Web: the gateway passes on each reason with its status, fields and metadata.

The other modules of this folder check every error over gRPC. Here each reason and each shape of a field path is checked
once over the other transports, and each method once with a token that is not accepted.
"""

import uuid
from typing import Any, NamedTuple

import grpc
import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_BLUEBERRY, FLAVOR_KIWI, FLAVOR_STRAWBERRY, SodaJerkCard, SodaJerkMove
from tests.service.transport.errors.fixtures import (
    API_KEY,
    EVERY_CALL_WITH_A_TOKEN,
    FIRST_REQUEST,
    UNKNOWN_FLAVOR,
    Attempt,
    Games,
    check,
)
from tests.support import forging
from tests.support.game_clients import BASIC, SECONDS, GameClient, expect_error, new_game
from tests.support.moves import flip, jerk, place

pytestmark = pytest.mark.transports("rest", "web")

CARD = SodaJerkCard(flavor=FLAVOR_STRAWBERRY, value=4)


class Case(NamedTuple):
    """A call and its error.

    Attributes:
        attempt: the call.
        reason: the reason of the error.
        phrase: a part of the message.
        fields: the fields that are wrong.
        metadata: the metadata of the error.
    """

    attempt: Attempt
    reason: str
    phrase: str
    fields: tuple[str, ...] = ()
    metadata: dict[str, str] | None = None


def create(**fields: Any) -> Attempt:
    """Return a NewGame call with valid values for all other fields."""
    request = pb.NewGameRequest(**{"options": BASIC, "seat_count": 3, **fields})
    return lambda games: games.stub.NewGame(request, timeout=SECONDS)


CASES = {
    "a field": Case(create(seat_count=-1), "MALFORMED", "2 to 4 seats, not -1", ("seat_count",)),
    "a missing message": Case(create(options=None), "MALFORMED", "options is required", ("options",)),
    "an empty oneof": Case(create(options=game_pb2.Options()), "MALFORMED", "is required", ("options.game",)),
    "two fields": Case(create(request_id="first", options=None), "MALFORMED", "random UUID", ("options", "request_id")),
    "a nested field": Case(
        create(options=jerk(first_seat=4)), "MALFORMED", "must be 0 to 3", ("options.soda_jerk.first_seat",)
    ),
    "an item of a list": Case(
        create(options=jerk(copies_per_value=[-1, 5, 5])),
        "MALFORMED",
        "must be 0 to 9",
        ("options.soda_jerk.copies_per_value[0]",),
    ),
    "an unknown enum value": Case(
        create(options=jerk(removed_flavor=UNKNOWN_FLAVOR), seat_count=2),
        "MALFORMED",
        "must be a Flavor that this release knows",
        ("options.soda_jerk.removed_flavor",),
    ),
    "bytes": Case(create(seed=b"x" * 31), "MALFORMED", "seed must be 32 bytes", ("seed",)),
    "a field of a move": Case(
        lambda games: games.second.apply(place(CARD, FLAVOR_BLUEBERRY)),
        "MALFORMED",
        "a flavor with a value from 1 to 3",
        ("move.soda_jerk.place.card",),
    ),
    "a oneof of a move": Case(
        lambda games: games.second.apply(game_pb2.Move(soda_jerk=SodaJerkMove())),
        "MALFORMED",
        "required",
        ("move.soda_jerk.action",),
    ),
    "a field of the query": Case(lambda games: games.opened.host.state(seat=14), "MALFORMED", "be 0 to 13", ("seat",)),
    "a page token": Case(
        lambda games: games.finished.spectator.history(page_token="v٣"), "MALFORMED", "previous page", ("page_token",)
    ),
    "a game id": Case(
        lambda games: GameClient(games.stub, "{}" * 13).state(), "MALFORMED", "26 lower-case letters", ("game_id",)
    ),
    "a stream's game id": Case(
        lambda games: list(GameClient(games.stub, "a" * 25).watch()), "MALFORMED", "26 lower-case letters", ("game_id",)
    ),
    "a host token without a seat": Case(
        lambda games: games.opened.host.legal(), "MALFORMED", "required with a host token", ("seat",)
    ),
    "an illegal move": Case(
        lambda games: games.active.seats[1].apply(flip(FLAVOR_KIWI, 1)),
        "ILLEGAL_MOVE",
        "not in play",
        metadata={"version": "4"},
    ),
    "another seat's turn": Case(
        lambda games: games.first.apply(games.legal), "NOT_YOUR_TURN", "turn of seat 1", metadata={"version": "2"}
    ),
    "a finished game": Case(
        lambda games: games.finished.seats[0].apply(games.legal), "GAME_FINISHED", "The game is over"
    ),
    "a stale etag": Case(
        lambda games: games.second.apply(games.legal, etag="é" * 64),
        "STALE_ETAG",
        "fetch the state and choose again",
        metadata={"version": "2"},
    ),
    "a reused request id": Case(
        lambda games: games.first.apply(flip(FLAVOR_STRAWBERRY, 1), request_id=FIRST_REQUEST),
        "REQUEST_ID_REUSED",
        "generate a new one",
    ),
    "a spectator's token for a seat": Case(
        lambda games: games.opened.invited.legal(), "WRONG_SEAT", "valid for no seat"
    ),
    "a private game without a token": Case(
        lambda games: GameClient(games.stub, games.private.game_id).state(), "GAME_NOT_FOUND", "was never created"
    ),
    "a game that does not exist": Case(
        lambda games: GameClient(games.stub, "a" * 26).state(), "GAME_NOT_FOUND", "was never created"
    ),
    "a stream of a game that does not exist": Case(
        lambda games: list(GameClient(games.stub, "a" * 26).watch()), "GAME_NOT_FOUND", "was never created"
    ),
    "a call without a token": Case(lambda games: games.opened.spectator.legal(), "TOKEN_INVALID", "token is required"),
    "another seat": Case(lambda games: games.first.state(seat=1), "WRONG_SEAT", "for another seat"),
    "another seat's stream": Case(lambda games: list(games.first.watch(seat=1)), "WRONG_SEAT", "for another seat"),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_an_error_has_its_reason_fields_and_metadata(games: Games, case: Case) -> None:
    error = expect_error(lambda: case.attempt(games))

    check(error, case.reason, case.phrase, *case.fields)
    if case.metadata is not None:
        assert error.metadata == case.metadata


@pytest.mark.parametrize("method", EVERY_CALL_WITH_A_TOKEN)
def test_every_method_rejects_a_forged_token(games: Games, method: str) -> None:
    forger = games.with_token(forging.with_a_flipped_bit(games.opened.created.host_token))

    error = expect_error(lambda: EVERY_CALL_WITH_A_TOKEN[method](forger))

    check(error, "TOKEN_INVALID", "with a token from NewGame")


@pytest.mark.parametrize("value", ["", "Basic x"])
def test_an_authorization_header_without_a_bearer_token_is_rejected(games: Games, value: str) -> None:
    request = pb.GetGameRequest(game_id=games.opened.game_id)

    error = expect_error(lambda: games.stub.GetGame(request, metadata=(("authorization", value),), timeout=SECONDS))

    check(error, "TOKEN_INVALID", "Bearer <token>")


def test_an_api_key_is_required_and_belongs_to_its_owner(strict: GameServiceStub) -> None:
    check(expect_error(lambda: new_game(strict)), "API_KEY_INVALID", "`x-api-key`")

    assert new_game(strict, metadata=(("x-api-key", API_KEY),)).spectator.state().version == 1


def test_a_repeated_new_game_with_other_options_is_rejected(games: Games) -> None:
    request_id = str(uuid.uuid4())
    new_game(games.stub, request_id=request_id)

    check(expect_error(lambda: new_game(games.stub, 4, request_id=request_id)), "REQUEST_ID_REUSED", "generate a new")


def test_an_error_with_many_wrong_fields_stays_small(games: Games) -> None:
    options = jerk(first_seat=99, removed_flavor=UNKNOWN_FLAVOR, copies_per_value=[99] * 3)
    request = pb.NewGameRequest(options=options, seat_count=3, request_id="first", seed=b"x")

    error = expect_error(lambda: games.stub.NewGame(request, timeout=2))

    assert error.code is grpc.StatusCode.INVALID_ARGUMENT
    assert error.message.count("; ") + 1 == 8
