"""Abuse of HTTP/2: other clients are not affected, memory stays bounded, and the service keeps running."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

import pytest
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    PriorityFrame,
    PushPromiseFrame,
    SettingsFrame,
)

from sodafountain.v1 import game_service_pb2 as pb
from tests.hostile.probe_client import ProbeClient
from tests.support import http2
from tests.support.game_clients import SECONDS
from tests.support.processes import resident_mib
from tests.support.service import Service
from tests.support.store_servers import eventually

GET_GAME: Final = http2.call_fields(b"/sodafountain.v1.GameService/GetGame")
MISSING: Final = http2.message(pb.GetGameRequest(game_id="a" * 26).SerializeToString())
MIN_FRAMES: Final = 2000
"""The number of frames that an attack must send, or of calls if it sends calls."""
MAX_GROWTH: Final = 96
"""The limit for the growth of the service in an attack, in MiB. It keeps allocated memory for later use."""

Frames = Callable[[int], bytes]


class Flood(NamedTuple):
    """Frames that are sent without end. `frames` is called with the number of an unused stream."""

    name: str
    frames: Frames


def always(frames: bytes) -> Frames:
    """Return the same frames for each stream."""
    return lambda _: frames


def reset(stream: int, body: bytes | None) -> bytes:
    """Return a call that is reset immediately."""
    return http2.call(stream, GET_GAME, body) + http2.reset(stream)


def endless_headers(stream: int) -> bytes:
    """Return the next part of an endless header block."""
    part = http2.block(((b"x", b"v" * 100),))
    return (HeadersFrame(1, part) if stream == 1 else ContinuationFrame(1, part)).serialize()


FLOODS: Final = [
    Flood("pings", always(http2.ping())),
    Flood("acknowledged pings", always(http2.ping(ack=True))),
    Flood("settings", always(http2.settings((http2.INITIAL_WINDOW_SIZE, 65_535)))),
    Flood(
        "settings that change",
        lambda stream: http2.settings((http2.HEADER_TABLE_SIZE, stream % 4096), (http2.INITIAL_WINDOW_SIZE, stream)),
    ),
    Flood("calls reset before their request", lambda stream: reset(stream, None)),
    Flood("calls reset after their request", lambda stream: reset(stream, MISSING)),
    Flood("calls", lambda stream: http2.call(stream, GET_GAME, MISSING)),
    Flood("half-open calls", lambda stream: http2.call(stream, GET_GAME, None)),
    Flood("empty data", lambda stream: http2.data(stream, b"")),
    Flood("window updates", always(http2.window_update(0, 1))),
    Flood("unknown frames", lambda stream: http2.raw_frame(0xBB, 0xFF, stream, b"x" * 16)),
    Flood("priorities", lambda stream: PriorityFrame(stream, stream_weight=15).serialize()),
    Flood("headers that never end", endless_headers),
]


class Attack:
    """A connection that sends frames as fast as it can. It reconnects whenever the service closes it."""

    def __init__(self, target: str, frames: Frames) -> None:
        self._target = target
        self._frames = frames
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="attacker")
        self.sent = 0

    def __enter__(self) -> "Attack":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._over.is_set():
            try:
                with http2.Connection(self._target, seconds=1) as connection:
                    self._pour(connection)
            except OSError:  # the service has closed the connection or does not read
                pass

    def _pour(self, connection: http2.Connection) -> None:
        while not self._over.is_set():
            connection.send(b"".join([self._frames(connection.next_stream()) for _ in range(100)]))
            self.sent += 100
            if connection.closed_within(0):
                return


@contextmanager
def bounded_memory(service: Service) -> Iterator[None]:
    """Check that the memory of the service stays bounded during the block."""
    before = resident_mib(service.process.pid)
    yield
    after = resident_mib(service.process.pid)
    assert after < before + MAX_GROWTH, f"{before:.0f} MiB became {after:.0f}"


@pytest.mark.parametrize("flood", FLOODS, ids=lambda flood: flood.name)
def test_a_flood_does_not_affect_others(service: Service, probe: ProbeClient, flood: Flood) -> None:
    with bounded_memory(service), Attack(service.target, flood.frames) as attack:
        probe.start_a_game()
        eventually(lambda: attack.sent >= MIN_FRAMES)


OPENINGS: Final = {
    "nothing": b"",
    "half a preface": http2.PREFACE[:10],
    "a wrong preface": b"PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n",
    "http/1.1": b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "tls": bytes.fromhex("160301020001000001fc0303") + bytes(500),
    "garbage": bytes(range(256)) * 64,
    "zeros": bytes(100_000),
    "no settings": http2.PREFACE + http2.call(1, GET_GAME, MISSING),
    "half a frame": http2.PREFACE + http2.settings() + http2.call(1, GET_GAME, MISSING)[:30],
    "a frame of 16 MiB": http2.PREFACE + http2.settings() + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01" + bytes(100_000),
    "garbage for headers": http2.PREFACE + http2.settings() + http2.raw_frame(HeadersFrame.type, 5, 1, b"\xff" * 1000),
    "data on no stream": http2.PREFACE + http2.settings() + http2.raw_frame(DataFrame.type, 1, 0, b"x"),
    "an even stream": http2.PREFACE + http2.settings() + http2.call(2, GET_GAME, MISSING),
    "a stream twice": http2.PREFACE + http2.settings() + http2.call(1, GET_GAME, MISSING) * 2,
    "settings of five bytes": http2.PREFACE + http2.raw_frame(SettingsFrame.type, 0, 0, b"12345"),
    "a ping of one byte": http2.PREFACE + http2.settings() + http2.raw_frame(PingFrame.type, 0, 0, b"1"),
    "a goaway": http2.PREFACE + http2.settings() + GoAwayFrame().serialize(),
    "a push": http2.PREFACE + http2.settings() + http2.raw_frame(PushPromiseFrame.type, 4, 1, bytes(8)),
    "too large a window": http2.PREFACE + http2.settings((http2.INITIAL_WINDOW_SIZE, 2**31)),
    "an overflowing window": http2.PREFACE + http2.settings() + http2.window_update(0, 2**31 - 1) * 3,
}


@pytest.mark.parametrize("opening", OPENINGS.values(), ids=list(OPENINGS))
def test_connections_with_invalid_http2_do_not_affect_others(
    service: Service, probe: ProbeClient, opening: bytes
) -> None:
    with bounded_memory(service):
        connections = [http2.Connection(service.target, opening=opening) for _ in range(20)]
        probe.start_a_game()
        for connection in connections:
            connection.socket.close()


def test_too_many_pings_close_the_connection(service: Service) -> None:
    with http2.Connection(service.target) as connection:
        connection.send(http2.ping() * 100)

        assert connection.closed_within(SECONDS)
