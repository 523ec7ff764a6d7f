"""The limit of watchers, and a game whose view fails for one viewer."""

from collections.abc import Iterator
from typing import Any

import grpc
import pytest

from engine.game import Viewer
from service.access import new_token_key, parse_token_keys
from service.server.composition import bind
from service.server.settings import Settings
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI
from tests.service.transport.errors.fixtures import check
from tests.support.game_clients import CallError, expect_error, new_game
from tests.support.in_process import in_process_stub
from tests.support.moves import flip
from tests.support.service import channel_to
from tests.support.simultaneous_game import State, simultaneous_game
from tests.support.store_servers import eventually
from tests.support.watching import Watch


def test_a_watcher_above_the_limit_is_rejected_until_another_leaves(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=3) as stub:
        game = new_game(stub)
        watches = [Watch(seat) for seat in game.seats]
        for watch in watches:
            watch.next()

        check(expect_error(Watch(game.spectator).next), "LIMIT", "has the maximum number of watchers")
        watches[0].cancel()
        eventually(lambda: is_accepted(Watch(game.spectator)))


def is_accepted(watch: Watch) -> bool:
    """Return whether a watcher receives a message."""
    try:
        watch.next()
    except grpc.RpcError:
        return False
    return True


def test_a_rejected_watcher_is_not_counted(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=1) as stub:
        game = new_game(stub)
        error: list[CallError] = [expect_error(Watch(game.spectator, resume_token="x").next) for _ in range(3)]

        assert {one.reason for one in error} == {"MALFORMED"}
        Watch(game.spectator).next()


class FailingView:
    """The simultaneous game, except that the view of seat 1 fails once a seat has picked a nine."""

    def __init__(self, game: Any) -> None:
        self._game = game

    def __getattr__(self, name: str) -> Any:
        return getattr(self._game, name)

    def view(self, state: State, viewer: Viewer) -> Any:
        """Fail for seat 1."""
        if viewer == 1 and 9 in state.picks:
            raise ValueError("the Kiwi 3")
        return self._game.view(state, viewer)


@pytest.fixture
def failing_view(store_url: str) -> Iterator[GameServiceStub]:
    """A service of that game, in this process."""
    settings = Settings(port=0, store_url=store_url, token_keys=parse_token_keys(new_token_key()))
    with (
        bind(settings, **simultaneous_game(5, FailingView)) as server,
        channel_to(f"127.0.0.1:{server.port}") as channel,
    ):
        yield GameServiceStub(channel)


def test_a_failing_view_ends_its_own_streams_and_no_others(failing_view: GameServiceStub) -> None:
    game, other = new_game(failing_view, 3), new_game(failing_view, 3)
    failing, same_game, other_game = Watch(game.seats[1]), Watch(game.seats[0]), Watch(other.seats[1])
    for watch in (failing, same_game, other_game):
        watch.next()

    game.seats[2].apply(flip(FLAVOR_KIWI, 9))
    other.seats[2].apply(flip(FLAVOR_KIWI, 8))

    error = expect_error(failing.rest)
    assert (error.code, error.reason) == (grpc.StatusCode.INTERNAL, "INTERNAL")
    assert b"Kiwi" not in error.raw
    same_game.until_version(2)
    other_game.until_version(2)
