"""UPGRADING: another release stored a game in a form that this one cannot read. Another server can."""

import random
import uuid
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, cast

import grpc
import pytest
from redis import Redis
from structlog.testing import capture_logs

from service.store.keys import game_keys
from sodafountain.v1 import game_pb2
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.moves import jerk
from tests.support.watching import Watch, ends_of

HEAD, META, STATE = 0, 1, 2
FIRST_SEAT_0: Final = jerk(first_seat=0)


class Setup(NamedTuple):
    """A service that has no game in memory, and a game in its store.

    Attributes:
        stub: the service.
        game: the game. Seat 0 acts next.
        move: a legal move.
        request_id: the request id with which the game was created.
        raw: a client of the store.
    """

    stub: GameServiceStub
    game: Game
    move: game_pb2.Move
    request_id: str
    raw: Redis

    def change(self, element: int, change: Callable[[bytes], bytes]) -> bytes:
        """Change an element of the stored game as another release would; return the former one."""
        key = game_keys(self.game.game_id).game
        found = cast("bytes", self.raw.lindex(key, element))
        self.raw.lset(key, element, cast("str", change(found)))
        return found


@pytest.fixture
def setup(store_url: str, raw: Redis) -> Iterator[Setup]:
    request_id = str(uuid.uuid4())
    with in_process_stub(store_url) as other:
        game = new_game(other, 2, FIRST_SEAT_0, request_id=request_id)
        move = game.seats[0].legal().moves[0].move
    with in_process_stub(store_url, heartbeat_seconds=0.2) as stub:
        yield Setup(stub, game.at(stub), move, request_id, raw)


CALLS: Final[dict[str, Callable[[Setup], Any]]] = {
    "NewGame": lambda setup: new_game(setup.stub, 2, FIRST_SEAT_0, request_id=setup.request_id),
    "GetGame": lambda setup: setup.game.spectator.state(),
    "Score": lambda setup: setup.game.spectator.score(),
    "GetHistory": lambda setup: setup.game.spectator.history(),
    "WatchGame": lambda setup: list(setup.game.spectator.watch()),
    "LegalMoves": lambda setup: setup.game.seats[0].legal(),
    "ApplyMove": lambda setup: setup.game.seats[0].apply(setup.move),
}
UNREADABLE: Final[dict[str, tuple[int, Callable[[bytes], bytes]]]] = {
    "a later layout": (HEAD, lambda head: b"2" + head[1:]),
    "meta in a later format": (META, lambda value: b"\x02" + value[1:]),
    "state in a later format": (STATE, lambda value: b"\x02" + value[1:]),
    "an encrypted state": (STATE, lambda value: b"\0" + value[1:]),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize(("element", "change"), UNREADABLE.values(), ids=UNREADABLE)
def test_an_unreadable_game_is_unavailable_and_unchanged(
    setup: Setup, call: Callable[[Setup], Any], element: int, change: Callable[[bytes], bytes]
) -> None:
    known = setup.change(element, change)

    with capture_logs() as logs:
        error = expect_error(lambda: call(setup))

    assert (error.code, error.reason) == (grpc.StatusCode.UNAVAILABLE, "UPGRADING")
    assert error.message == (
        "This server cannot read the game: another release stored it, or the server lacks its encryption key. Try "
        "again."
    )
    assert error.retry == 0.2
    assert [line["log_level"] for line in logs if line["event"] == "game_unreadable"] == ["warning"]
    setup.change(element, lambda _: known)
    assert setup.game.spectator.state() == setup.game.created.state


def test_a_game_with_an_unreadable_state_can_be_deleted(setup: Setup) -> None:
    setup.change(STATE, lambda value: b"\x02" + value[1:])

    setup.game.host.delete()

    assert expect_error(setup.game.spectator.state).reason == "GAME_NOT_FOUND"


def test_a_game_in_a_later_layout_is_not_deleted(setup: Setup) -> None:
    known = setup.change(HEAD, lambda head: b"2" + head[1:])

    assert expect_error(setup.game.host.delete).reason == "UPGRADING"

    setup.change(HEAD, lambda _: known)
    assert setup.game.spectator.state() == setup.game.created.state


def test_the_watchers_of_a_game_that_becomes_unreadable_go_to_another_server(store_url: str, setup: Setup) -> None:
    watches = [Watch(caller) for caller in (setup.game.spectator, setup.game.seats[0])]
    for watch in watches:
        watch.next()

    setup.change(HEAD, lambda head: b"2" + head[1:])

    for watch in watches:
        assert ends_of(watch.rest()) == ["DRAINING"]
    setup.change(HEAD, lambda head: b"1" + head[1:])
    with in_process_stub(store_url) as other:
        play(setup.game.at(other), random.Random(1), moves=1)
        again = Watch(setup.game.spectator.at(other), resume_token=watches[0].resume_token).next()
    assert again.update.state.version == 2
