"""Watches of the real service neither lose nor repeat events when connections break and services stop."""

import asyncio
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias

import pytest

import sodafountain
import sodafountain.aio
from sodafountain import _watch_plan
from sodafountain._watch_plan import WatchPlan
from sodafountain.v1.game_pb2 import Event
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.support.proxy import Proxy
from tests.support.service import Service, two_services
from tests.support.store_servers import Server, eventually

SECONDS = 60

# Connects a client to an address, watches the game of a handle, and passes every update to a function.
OnUpdate: TypeAlias = Callable[[sodafountain.Update], object]
GetHandle: TypeAlias = Callable[[Any], Any]
RunWatch: TypeAlias = Callable[[str, GetHandle, OnUpdate], None]


def watch_sync(target: str, get_handle: GetHandle, on_update: OnUpdate, **options: Any) -> None:
    """Watch with the sync client."""
    with sodafountain.connect(target) as client:
        for update in get_handle(client).watch(**options):
            on_update(update)


def watch_asyncio(target: str, get_handle: GetHandle, on_update: OnUpdate, **options: Any) -> None:
    """Watch with the asyncio client."""

    async def watch() -> None:
        async with sodafountain.aio.connect(target) as client:
            async for update in get_handle(client).watch(**options):
                on_update(update)

    asyncio.run(watch())


class Watcher:
    """Watches a game from its start, in its own thread.

    Attributes:
        updates: the updates received so far.
    """

    def __init__(self, run_watch: RunWatch, target: str, get_handle: GetHandle) -> None:
        self.updates: list[sodafountain.Update] = []
        self._started = threading.Event()
        self._threads = ThreadPoolExecutor(1)
        self._result = self._threads.submit(run_watch, target, get_handle, self._on_update)
        self._result.add_done_callback(lambda _: self._started.set())

    def wait_for_start(self) -> None:
        """Wait for the first update, or the end of the watch."""
        assert self._started.wait(SECONDS)

    def _on_update(self, update: sodafountain.Update) -> None:
        self.updates.append(update)
        self._started.set()

    @property
    def version(self) -> int:
        """The version of the newest update."""
        return self.updates[-1].state.version

    def events(self) -> list[Event]:
        """Wait for the end of the watch and return all events received."""
        self._result.result(SECONDS)
        return [event for update in self.updates for event in update.events]


class WatchedGame:
    """A game that a spectator and a player watch, each with the sync and with the asyncio client.

    The game is sealed, so that the history of each viewer contains exactly the events that the viewer could see.
    """

    def __init__(self, client: sodafountain.Client, target: str) -> None:
        self.game = client.new_game(SodaJerkOptions(), 4, sealed=True)
        game_id, token = self.game.id, self.game.seat_tokens[1]
        viewers: list[tuple[Any, GetHandle]] = [
            (client.spectator(game_id), lambda client: client.spectator(game_id)),
            (self.game.seats[1], lambda client: client.seat(game_id, token)),
        ]
        self.watchers = [
            (Watcher(run_watch, target, get_handle), handle)
            for handle, get_handle in viewers
            for run_watch in (watch_sync, watch_asyncio)
        ]
        for watcher, _ in self.watchers:
            watcher.wait_for_start()

    def play(self, rng: random.Random, *, moves: int | None = None) -> int:
        """Play to the end, or this many moves; return the version."""
        state = self.game.host.state()
        while state.awaiting_seats and moves != 0:
            seat = self.game.seats[state.awaiting_seats[0]]
            state = seat.apply(rng.choice(seat.legal_moves().moves)).state
            moves = None if moves is None else moves - 1
        return state.version

    def check_watchers(self) -> None:
        """Check that every watcher received every event once and in order, with the matching states."""
        for watcher, handle in self.watchers:
            expected = [event for entry in handle.history().entries[1:] for event in entry.events]
            assert watcher.events() == expected
            first, *changes = watcher.updates
            assert (first.is_snapshot, first.state.version) == (True, 1)
            assert [update.state.version for update in changes] == [update.events[-1].version for update in changes]
            assert not any(update.is_snapshot for update in changes)


@contextmanager
def watched_game(player_target: str, watcher_target: str) -> Iterator[WatchedGame]:
    """Create a game that is played at one address and watched at another; finish and check it afterwards."""
    with sodafountain.connect(player_target) as client:
        watched = WatchedGame(client, watcher_target)
        yield watched
        watched.play(random.Random(1))
        watched.check_watchers()


def ended_streams(service: Service, game_id: str) -> int:
    """Return how many streams of WatchGame about a game the service has logged."""
    return sum(f'"{game_id}"' in line and '"WatchGame"' in line for line in service.log_file.read_text().splitlines())


class Counts:
    """Totals over all watches.

    Attributes:
        streams: the number of streams opened.
        messages: the number of messages received.
    """

    streams = 0
    messages = 0


@pytest.fixture
def counts(monkeypatch: pytest.MonkeyPatch) -> Counts:
    """Count streams and messages, and shorten the backoff."""
    counts = Counts()
    call, handle = WatchPlan._call, WatchPlan._handle

    def counted_call(plan: WatchPlan) -> Any:
        counts.streams += 1
        return call(plan)

    def counted_handle(plan: WatchPlan, message: Any) -> Any:
        counts.messages += 1
        return handle(plan, message)

    monkeypatch.setattr(WatchPlan, "_call", counted_call)
    monkeypatch.setattr(WatchPlan, "_handle", counted_handle)
    monkeypatch.setattr(_watch_plan, "INITIAL_BACKOFF", 0.01)
    return counts


def test_every_event_is_received_once_and_in_order(real_service: Service) -> None:
    with watched_game(real_service.target, real_service.target) as watched:
        game_id = watched.game.id
    assert ended_streams(real_service, game_id) == 4


def test_no_event_is_lost_or_repeated_when_a_hundred_connections_break(real_service: Service, counts: Counts) -> None:
    rng = random.Random(3)
    with (
        Proxy(int(real_service.target.rpartition(":")[2])) as proxy,
        watched_game(real_service.target, f"127.0.0.1:{proxy.port}") as watched,
    ):
        while counts.streams < 204:
            if rng.random() < 0.5:
                watched.play(rng, moves=1)
            messages = counts.messages
            proxy.break_connections()
            eventually(lambda: counts.messages >= messages + 1)  # noqa: B023 (called before the next iteration)
        assert watched.game.host.state().awaiting_seats


def test_watches_continue_when_their_service_is_killed_or_stopped(tmp_path: Path) -> None:
    rng = random.Random(4)
    with Server(tmp_path / "store") as store, two_services(tmp_path, store.url) as (first, second):
        targets = f"ipv4:{first.target},{second.target}"
        with watched_game(targets, targets) as watched:
            watched.play(rng, moves=10)
            first.kill()
            watched.play(rng, moves=10)
            first.restart()
            second.stop()
            watched.play(rng, moves=10)


@pytest.mark.parametrize("run_watch", [watch_sync, watch_asyncio], ids=["sync", "asyncio"])
def test_a_resume_token_works_in_another_client(real_service: Service, run_watch: Callable[..., None]) -> None:
    with watched_game(real_service.target, real_service.target) as watched:
        watcher, _ = watched.watchers[0]
        watched.play(random.Random(6), moves=5)
        eventually(lambda: watcher.version == 6)
        last_seen = watcher.updates[2]
        watched.play(random.Random(6))
        events: list[Event] = []
        run_watch(
            real_service.target,
            lambda client: client.spectator(watched.game.id),
            lambda update: events.extend(update.events),
            resume_token=last_seen.resume_token,
        )
        assert events == [event for event in watcher.events() if event.version > last_seen.state.version]


@pytest.mark.parametrize("run_watch", [watch_sync, watch_asyncio], ids=["sync", "asyncio"])
def test_the_deletion_of_a_game_raises_in_its_watch(real_service: Service, run_watch: RunWatch) -> None:
    with sodafountain.connect(real_service.target) as client:
        game = client.new_game(SodaJerkOptions(), 2)
        watcher = Watcher(run_watch, real_service.target, lambda client: client.spectator(game.id))
        watcher.wait_for_start()
        game.host.delete()
        with pytest.raises(sodafountain.GameDeleted):
            watcher.events()
