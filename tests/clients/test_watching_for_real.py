"""Watches of the real service: nothing is lost and nothing told twice, whatever is cut, stopped or killed meanwhile."""

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
from sodafountain import _watching
from sodafountain._watching import WatchPlan
from sodafountain.v1.game_pb2 import Event
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.support.proxy import Proxy
from tests.support.service import Service, running, two_services
from tests.support.store_servers import Server, eventually

SECONDS = 60

# Watches with a client of an address, and tells every update to a function.
Tell: TypeAlias = Callable[[sodafountain.Update], object]
Viewer: TypeAlias = Callable[[Any], Any]
Face: TypeAlias = Callable[[str, Viewer, Tell], None]


def watch_sync(target: str, viewer: Viewer, tell: Tell) -> None:
    """With the sync client."""
    with sodafountain.connect(target) as client:
        for update in viewer(client).watch():
            tell(update)


def watch_asyncio(target: str, viewer: Viewer, tell: Tell) -> None:
    """With the asyncio client."""

    async def watch() -> None:
        async with sodafountain.aio.connect(target) as client:
            async for update in viewer(client).watch():
                tell(update)

    asyncio.run(watch())


@pytest.fixture(params=[watch_sync, watch_asyncio], ids=["sync", "asyncio"])
def face(request: pytest.FixtureRequest) -> Face:
    """A client, sync or asyncio."""
    face: Face = request.param
    return face


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that tests leave as it is."""
    folder = tmp_path_factory.mktemp("watched")
    with running(folder, f"--data-dir={folder / 'data'}", "--heartbeat=1s") as service:
        yield service


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store server."""
    with Server(tmp_path / "store") as server:
        yield server


class Watcher:
    """Somebody who watches a game in a thread of its own, from the beginning on.

    Attributes:
        updates: what was told so far.
    """

    def __init__(self, face: Face, target: str, viewer: Viewer) -> None:
        self.updates: list[sodafountain.Update] = []
        self._begun = threading.Event()
        self._threads = ThreadPoolExecutor(1)
        self._end = self._threads.submit(face, target, viewer, self._tell)
        self._end.add_done_callback(lambda _: self._begun.set())
        self._begun.wait(SECONDS)

    def _tell(self, update: sodafountain.Update) -> None:
        self.updates.append(update)
        self._begun.set()

    @property
    def version(self) -> int:
        """The newest version that was told."""
        return self.updates[-1].state.version

    def events(self) -> list[Event]:
        """Waits for the end; returns every event that was told."""
        self._end.result(SECONDS)
        return [event for update in self.updates for event in update.events]


class Table:
    """A game, played here and watched by a spectator and a player from somewhere else.

    It is sealed, so that its history shows what everybody was told.
    """

    def __init__(self, client: sodafountain.Client, face: Face, target: str) -> None:
        self.game = client.new_game(SodaJerkOptions(), 4, sealed=True)
        self._viewers = client.spectator(self.game.id), self.game.seats[1]
        game_id, token = self.game.id, self.game.seat_tokens[1]
        self.watchers = (
            Watcher(face, target, lambda client: client.spectator(game_id)),
            Watcher(face, target, lambda client: client.seat(game_id, token)),
        )

    def play(self, chance: random.Random, *, moves: int | None = None) -> int:
        """Plays on, to the end or for so many moves; returns the version."""
        state = self.game.host.state()
        while state.awaiting_seats and moves != 0:
            seat = self.game.seats[state.awaiting_seats[0]]
            state = seat.apply(chance.choice(seat.legal_moves().moves)).state
            moves = None if moves is None else moves - 1
        return state.version

    def prove(self) -> None:
        """Shows that everybody was told everything once and in order, with states that fit."""
        for watcher, viewer in zip(self.watchers, self._viewers, strict=True):
            happened = [event for entry in viewer.history().entries[1:] for event in entry.events]
            assert watcher.events() == happened
            first, *changes = watcher.updates
            assert (first.is_snapshot, first.state.version) == (True, 1)
            assert [update.state.version for update in changes] == [update.events[-1].version for update in changes]
            assert not any(update.is_snapshot for update in changes)


@contextmanager
def table(face: Face, player: str, watcher: str) -> Iterator[Table]:
    """A game that is played at one address and watched at another; at the end it is played to its end and proved."""
    with sodafountain.connect(player) as client:
        table = Table(client, face, watcher)
        yield table
        table.play(random.Random(1))
        table.prove()


def streams_ended(service: Service) -> int:
    """How many streams of WatchGame have ended at a service."""
    return service.log_file.read_text().count('"WatchGame"')


class Counted:
    """What all watches together did.

    Attributes:
        begun: how many streams they have begun.
        heard: how many messages they have heard.
    """

    begun = 0
    heard = 0


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    """Watches that are counted, and do not pause for long."""
    counted = Counted()
    call, told = WatchPlan._call, WatchPlan._told

    def counted_call(plan: WatchPlan) -> Any:
        counted.begun += 1
        return call(plan)

    def counted_told(plan: WatchPlan, message: Any) -> Any:
        counted.heard += 1
        return told(plan, message)

    monkeypatch.setattr(WatchPlan, "_call", counted_call)
    monkeypatch.setattr(WatchPlan, "_told", counted_told)
    monkeypatch.setattr(_watching, "SHORTEST_PAUSE", 0.01)
    return counted


def test_every_change_of_a_game_is_told_once_and_in_order(face: Face, service: Service) -> None:
    before = streams_ended(service)
    with table(face, service.target, service.target):
        pass
    assert streams_ended(service) == before + 2


def test_a_hundred_cut_connections_lose_nothing_and_repeat_nothing(
    face: Face, service: Service, counted: Counted
) -> None:
    chance = random.Random(3)
    with (
        Proxy(int(service.target.rpartition(":")[2])) as proxy,
        table(face, service.target, f"127.0.0.1:{proxy.port}") as played,
    ):
        while counted.begun < 102:
            if chance.random() < 0.5:
                played.play(chance, moves=1)
            heard = counted.heard
            proxy.break_connections()
            eventually(lambda: counted.heard >= heard + 1)  # noqa: B023 (at once)
        assert played.game.host.state().awaiting_seats


@pytest.mark.parametrize("end", [Service.kill, Service.stop], ids=["killed", "stopped"])
def test_watches_go_on_at_another_service_when_theirs_is_ended(
    face: Face, store: Server, tmp_path: Path, end: Callable[[Service], object]
) -> None:
    chance = random.Random(4)
    with two_services(tmp_path, store.url) as services:
        addresses = f"ipv4:{','.join(service.target for service in services)}"
        with table(face, addresses, addresses) as played:
            played.play(chance, moves=10)
            end(services[0])
            played.play(chance, moves=10)


def test_an_app_goes_on_after_its_own_restart(face: Face, service: Service) -> None:
    with table(face, service.target, service.target) as played:
        played.play(random.Random(6), moves=5)
        eventually(lambda: played.watchers[0].version == 6)
        resume_token = played.watchers[0].updates[2].resume_token
        known = played.watchers[0].updates[2].state.version
        played.play(random.Random(6))
        events: list[Event] = []
        game_id = played.game.id

        class Spectator:
            """A spectator who has watched before."""

            def __init__(self, client: Any) -> None:
                self._spectator = client.spectator(game_id)

            def watch(self) -> Any:
                return self._spectator.watch(resume_token=resume_token)

        face(service.target, Spectator, lambda update: events.extend(update.events))
        assert events == [event for event in played.watchers[0].events() if event.version > known]


def test_the_deletion_of_a_game_is_told(face: Face, service: Service) -> None:
    with sodafountain.connect(service.target) as client:
        game = client.new_game(SodaJerkOptions(), 2)
        watcher = Watcher(face, service.target, lambda client: client.spectator(game.id))
        game.host.delete()
        with pytest.raises(sodafountain.GameDeleted):
            watcher.events()
