"""The limit of watchers, and a game whose view fails for one viewer."""

from collections.abc import Iterator
from ipaddress import ip_network
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
from tests.support.game_clients import CallError, GameClient, expect_error, new_game
from tests.support.in_process import in_process_stub
from tests.support.moves import flip
from tests.support.service import channel_to
from tests.support.simultaneous_game import State, simultaneous_game
from tests.support.store_servers import eventually
from tests.support.watching import Watch


def test_a_watcher_above_the_limit_is_rejected_until_another_leaves(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=3, max_spectators=3) as stub:
        game = new_game(stub)
        watches = [Watch(seat) for seat in game.seats]
        for watch in watches:
            watch.next()

        check(expect_error(Watch(game.spectator).next), "LIMIT", "has the maximum number of watchers")
        watches[0].cancel()
        eventually(lambda: is_accepted(Watch(game.spectator)))


def accepted(client: GameClient, count: int = 1) -> list[Watch]:
    """Return watches that were accepted. A watch ends when it is no longer referenced."""
    watches = [Watch(client) for _ in range(count)]
    for watch in watches:
        watch.next()
    return watches


def refusal(client: GameClient) -> str:
    """Return why a watch is refused."""
    error = expect_error(Watch(client).next)
    assert error.reason == "LIMIT"
    return error.message


def test_spectators_leave_places_for_players(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=40, max_watchers_per_caller=100, max_spectators_per_game=100) as stub:
        game = new_game(stub)
        spectators = accepted(game.spectator, 10) + accepted(game.invited, 10)

        assert "maximum number of spectators" in refusal(game.spectator)
        assert "maximum number of spectators" in refusal(game.invited)
        players = accepted(game.host, 10) + accepted(game.seats[0], 10)
        assert "maximum number of watchers" in refusal(game.seats[1])

        players[0].cancel()
        eventually(lambda: is_accepted(Watch(game.seats[1])))
        spectators[0].cancel()
        eventually(lambda: is_accepted(Watch(game.spectator)))


def test_the_spectators_of_a_game_are_limited(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=100, max_watchers_per_caller=100) as stub:
        game, other = new_game(stub), new_game(stub)
        watches = accepted(game.spectator, 10)

        assert "The game has the maximum number of spectators" in refusal(game.spectator)
        watches += accepted(other.spectator) + accepted(game.seats[0])
        watches[0].cancel()
        eventually(lambda: is_accepted(Watch(game.spectator)))


def test_the_streams_of_an_address_are_limited(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=100, trusted_proxies=(ip_network("127.0.0.0/8"),)) as stub:
        games = [new_game(stub) for _ in range(6)]
        watches = [watch for game in games[:5] for watch in accepted(game.spectator.behind_proxy("203.0.113.1"))]

        for spectator in (games[5].spectator, games[5].invited):
            assert "You have the maximum number of streams" in refusal(spectator.behind_proxy("203.0.113.1"))
            watches += accepted(spectator.behind_proxy("203.0.113.2"))
        watches += accepted(games[0].seats[0].behind_proxy("203.0.113.1"))
        watches[0].cancel()
        eventually(lambda: is_accepted(Watch(games[5].spectator.behind_proxy("203.0.113.1"))))


def test_the_streams_of_a_seat_and_of_a_host_are_limited(store_url: str) -> None:
    with in_process_stub(store_url, max_watchers=100) as stub:
        game = new_game(stub)
        for full, other in ((game.seats[0], game.seats[1]), (game.host, game.seats[2])):
            watches = accepted(full, 5)

            assert "You have the maximum number of streams" in refusal(full)
            watches += accepted(other)


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
