"""Abusive watchers do not affect others: a regular watcher receives every move in time, and other calls stay fast."""

import random
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import pytest
from hyperframe.frame import DataFrame, PingFrame

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile.probe_client import MAX_LATENCY, ProbeClient
from tests.hostile.test_http2_floods import MIN_FRAMES, Attack, bounded_memory
from tests.support import http2
from tests.support.game_clients import Game, new_game, play
from tests.support.long_cases import long_case
from tests.support.processes import threads
from tests.support.service import Service, channel_to
from tests.support.store_servers import eventually
from tests.support.watching import Watch, check_complete

WATCH: Final = http2.call_fields(b"/sodafountain.v1.GameService/WatchGame")
ZERO_WINDOW: Final = http2.PREFACE + http2.settings((http2.INITIAL_WINDOW_SIZE, 0))
"""An opening with a window of zero: the server may send data only after window updates."""


def watch_request(game: Game) -> bytes:
    """Return the request for a game."""
    return http2.message(pb.WatchGameRequest(game_id=game.game_id).SerializeToString())


@pytest.fixture
def stub(service: Service) -> Iterator[GameServiceStub]:
    """A stub of a regular client."""
    with channel_to(service.target) as channel:
        yield GameServiceStub(channel)


@contextmanager
def watches(
    service: Service, game: Game, *, connections: int, each: int, opening: bytes | None
) -> Iterator[list[http2.Connection]]:
    """Open watches and do not read them until the end of the block."""
    opened = [http2.Connection(service.target, opening=opening) for _ in range(connections)]
    try:
        for connection in opened:
            connection.send(
                b"".join(http2.call(connection.next_stream(), WATCH, watch_request(game)) for _ in range(each))
            )
        yield opened
    finally:
        for connection in opened:
            connection.socket.close()


def check_delivery(game: Game, probe: ProbeClient, *, moves: int) -> None:
    """Check that a regular watcher receives each move in time, and that a new game can be played."""
    watch = Watch(game.spectator, timeout=60)
    watch.next()
    for version in range(2, moves + 2):
        play(game, random.Random(version), moves=1)
        started = time.monotonic()
        watch.until_version(version)
        assert time.monotonic() - started < MAX_LATENCY
    check_complete(watch.messages)
    watch.cancel()
    probe.start_a_game()


def wait_for_threads_to_end(service: Service, usual: int) -> None:
    """Wait until the threads of an attack have ended."""
    eventually(lambda: threads(service.process.pid) <= usual + 4, within=20)


@pytest.mark.parametrize(
    "frames",
    [
        lambda stream, body: http2.call(stream, WATCH, body) + http2.reset(stream),
        lambda stream, body: http2.call(stream, WATCH, body),
        lambda stream, body: http2.call(stream, WATCH, body[:-1]),
    ],
    ids=["reset immediately", "kept", "half of a request"],
)
def test_endless_new_watches_do_not_affect_others(
    service: Service, probe: ProbeClient, stub: GameServiceStub, frames: Callable[[int, bytes], bytes]
) -> None:
    game, other = new_game(stub), new_game(stub)
    body = watch_request(other)
    usual = threads(service.process.pid)

    with bounded_memory(service), Attack(service.target, lambda stream: frames(stream, body)) as attack:
        check_delivery(game, probe, moves=10)
        eventually(lambda: attack.sent >= MIN_FRAMES)

    wait_for_threads_to_end(service, usual)


@pytest.mark.parametrize("opening", [ZERO_WINDOW, long_case(None)], ids=["zero windows", "windows of 64 KiB for all"])
def test_watchers_that_read_nothing_do_not_affect_others(
    service: Service, probe: ProbeClient, stub: GameServiceStub, opening: bytes | None
) -> None:
    game, other = new_game(stub), new_game(stub)
    usual = threads(service.process.pid)

    with bounded_memory(service), watches(service, other, connections=5, each=250, opening=opening):
        play(other, random.Random(1), moves=100)
        check_delivery(game, probe, moves=10)

    wait_for_threads_to_end(service, usual)


class SlowReaders:
    """Watches of an active game whose readers accept each message just before they would be cut off."""

    def __init__(self, service: Service, game: Game, *, connections: int, each: int, pause: float) -> None:
        self._target = service.target
        self._body = watch_request(game)
        self._connections, self._each, self._pause = connections, each, pause
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(connections)]

    def __enter__(self) -> "SlowReaders":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _run(self) -> None:
        try:
            with http2.Connection(self._target, opening=_FIVE) as connection:
                for _ in range(self._each):
                    connection.send(http2.call(connection.next_stream(), WATCH, self._body))
                connection.send(http2.window_update(0, 1 << 30))
                self._read(connection)
        except OSError:  # the service has closed the connection
            pass

    def _read(self, connection: http2.Connection) -> None:
        """Read the length of a message, accept it after a pause, and accept the length of the next one."""
        held: defaultdict[int, bytes] = defaultdict(bytes)
        due: deque[tuple[float, int, int]] = deque()
        while not self._over.is_set():
            try:
                frame = connection.read(0.02)
            except TimeoutError:
                frame = PingFrame()
            if frame is None:
                return
            if isinstance(frame, DataFrame) and frame.data:
                stream = frame.stream_id
                held[stream] += frame.data
                while len(held[stream]) > _PREFIX and len(held[stream]) >= _PREFIX + _length(held[stream]):
                    held[stream] = held[stream][_PREFIX + _length(held[stream]) :]
                if len(held[stream]) == _PREFIX:
                    due.append((time.monotonic() + self._pause, stream, _length(held[stream])))
            while due and due[0][0] <= time.monotonic():
                _, stream, length = due.popleft()
                connection.send(http2.window_update(stream, 1) + http2.window_update(stream, length - 1 + _PREFIX))


_PREFIX: Final = 5
_FIVE: Final = http2.PREFACE + http2.settings((http2.INITIAL_WINDOW_SIZE, _PREFIX))


def _length(message: bytes) -> int:
    return int.from_bytes(message[1:_PREFIX], "big")


@pytest.mark.parametrize("pause", [0.9, long_case(0.04)])
def test_watchers_that_read_slowly_do_not_affect_others(
    service: Service, probe: ProbeClient, stub: GameServiceStub, pause: float
) -> None:
    game = new_game(stub)
    others = [new_game(stub) for _ in range(2)]
    usual = threads(service.process.pid)
    over = threading.Event()

    def play_moves(other: Game) -> None:
        rng = random.Random(1)
        while not over.is_set() and play(other, rng, moves=1):
            over.wait(0.1)

    players = [threading.Thread(target=play_moves, args=(other,)) for other in others]
    with bounded_memory(service), SlowReaders(service, others[0], connections=4, each=200, pause=pause):
        for player in players:
            player.start()
        try:
            check_delivery(game, probe, moves=10)
        finally:
            over.set()
            for player in players:
                player.join()

    wait_for_threads_to_end(service, usual)
