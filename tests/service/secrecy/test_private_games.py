"""A private game does not exist for callers without a token of it."""

import random
from collections.abc import Callable
from typing import Any, Final

import grpc
import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_STRAWBERRY
from tests.service.secrecy.conftest import API_KEY, ConnectedService
from tests.support.game_clients import Game, GameClient, expect_error, new_game, play
from tests.support.moves import flip
from tests.support.raw_calls import METHODS, call_raw
from tests.support.transports import EVERY_TRANSPORT
from tests.support.watching import Watch

MISSING: Final = "a" * 26
FIELDS: Final[dict[str, list[dict[str, Any]]]] = {
    "GetGame": [{}, {"include_legal_moves": True}, {"seat": 0}, {"seat": 13}],
    "Score": [{}],
    "GetHistory": [{}, {"page_size": 1}, {"page_token": "v2"}, {"page_token": "v0"}, {"seat": 1}],
    "WatchGame": [{}, {"resume_token": f"w1-{0:016x}"}, {"resume_token": "x"}, {"seat": 0}],
    "LegalMoves": [{}, {"seat": 0}],
    "ApplyMove": [{"move": flip(FLAVOR_STRAWBERRY, 1)}, {"move": flip(FLAVOR_STRAWBERRY, 1), "seat": 0}],
    "DeleteGame": [{}],
}
READS: Final = ("GetGame", "Score", "GetHistory", "WatchGame")


def private_game(connected: ConnectedService, **fields: Any) -> Game:
    """Create a private game for two seats."""
    key = (("x-api-key", API_KEY),)
    return new_game(connected.stub, 2, metadata=key, visibility=game_pb2.VISIBILITY_PRIVATE, **fields)


STAGES: Final[dict[str, Callable[[Game], Any]]] = {
    "new": lambda _: None,
    "active": lambda game: play(game, random.Random(1), moves=5),
    "finished": lambda game: play(game, random.Random(1)),
    "deleted": lambda game: game.host.delete(),
}


@pytest.fixture(scope="module", params=STAGES)
def hidden(request: pytest.FixtureRequest, connected: ConnectedService) -> Game:
    """A private game at each stage."""
    game = private_game(connected)
    STAGES[request.param](game)
    return game


def test_the_calls_below_are_all_that_name_a_game() -> None:
    assert set(FIELDS) == set(METHODS) - {"NewGame", "ListGameKinds"}


@EVERY_TRANSPORT
@pytest.mark.parametrize("method", FIELDS)
def test_every_answer_without_a_token_is_that_of_a_missing_game(
    connected: ConnectedService, hidden: Game, method: str
) -> None:
    """All of it is the same: the status, its message and details, metadata and headers, and the size."""
    request_type = getattr(pb, f"{method}Request")
    for fields in FIELDS[method]:
        of_hidden, of_missing = (
            call_raw(connected.raw_caller, method, request_type(game_id=game_id, **fields).SerializeToString())
            for game_id in (hidden.game_id, MISSING)
        )
        assert of_hidden.code is not grpc.StatusCode.OK
        assert of_hidden == of_missing
        if method in READS and fields in ({}, {"include_legal_moves": True}, {"page_size": 1}, {"page_token": "v2"}):
            assert of_hidden.code is grpc.StatusCode.NOT_FOUND


def test_a_token_of_another_game_does_not_open_a_private_game(connected: ConnectedService) -> None:
    mine, other = private_game(connected), private_game(connected)
    stranger = GameClient(connected.stub, other.game_id, mine.created.spectator_token)

    errors = [
        expect_error(call)
        for caller in (stranger, GameClient(connected.stub, MISSING, stranger.token))
        for call in (caller.state, caller.score, caller.history, lambda caller=caller: list(caller.watch()))
    ]

    assert {(error.code, error.reason, error.raw) for error in errors} == {
        (grpc.StatusCode.PERMISSION_DENIED, "WRONG_SEAT", errors[0].raw)
    }


def test_every_token_of_a_private_game_opens_it(connected: ConnectedService) -> None:
    game = private_game(connected)
    play(game, random.Random(2), moves=3)

    for caller in (game.host, game.invited, *game.seats):
        state = caller.state()
        assert state.visibility == game_pb2.VISIBILITY_PRIVATE
        assert state.version == caller.score().version == caller.history().entries[-1].version == 4
        assert Watch(caller).next().snapshot == state


def test_the_spectator_token_shows_what_a_spectator_sees(connected: ConnectedService) -> None:
    game = private_game(connected)
    play(game, random.Random(3), moves=4)
    state = game.invited.state(include_legal_moves=True)

    assert state == game.host.state()
    assert not state.HasField("viewer_seat")
    assert not state.legal_moves
    assert not any(hand.cards for hand in state.view.soda_jerk.hands)
    assert game.invited.history() == game.host.history()
    assert Watch(game.invited, include_legal_moves=True).next().snapshot == state


def test_a_spectator_token_is_valid_for_a_public_game_too(connected: ConnectedService) -> None:
    game = new_game(connected.stub, 2, metadata=(("x-api-key", API_KEY),))

    assert game.invited.state() == game.spectator.state()
    assert game.invited.history() == game.spectator.history()


@pytest.mark.parametrize(
    ("requested", "expected"),
    [
        (game_pb2.VISIBILITY_UNSPECIFIED, game_pb2.VISIBILITY_PUBLIC),
        (game_pb2.VISIBILITY_PUBLIC, game_pb2.VISIBILITY_PUBLIC),
        (game_pb2.VISIBILITY_PRIVATE, game_pb2.VISIBILITY_PRIVATE),
    ],
)
@pytest.mark.parametrize("sealed", [False, True])
def test_the_state_says_who_may_look_and_whether_the_history_is_sealed(
    connected: ConnectedService, requested: Any, expected: Any, sealed: bool
) -> None:
    key = (("x-api-key", API_KEY),)

    state = new_game(connected.stub, 2, metadata=key, visibility=requested, sealed=sealed).created.state

    assert (state.visibility, state.sealed) == (expected, sealed)


def test_a_private_game_is_watched_by_holders_of_tokens_to_its_end(connected: ConnectedService) -> None:
    game = private_game(connected)
    watches = [Watch(caller) for caller in (game.host, game.invited, *game.seats)]
    for watch in watches:
        watch.next()

    play(game, random.Random(4))

    assert {watch.rest()[-1].end.reason for watch in watches} == {pb.WATCH_END_REASON_FINISHED}
