"""Connections: their number, age and idle time are bounded, and a full server still reaches its store."""

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import pytest
from hyperframe.frame import GoAwayFrame

from service.server.listening import RESERVED_DESCRIPTORS
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile.conftest import ENV
from tests.support import http2
from tests.support.game_clients import SECONDS, new_game
from tests.support.ports import free_port
from tests.support.service import Service, channel_to, health, running
from tests.support.store_servers import eventually
from tests.support.watching import Watch

DESCRIPTORS = 400
MOST = DESCRIPTORS - RESERVED_DESCRIPTORS
IDLE_SECONDS = 3


class LimitedService(Service):
    """A service that may open few file descriptors."""

    def launch(self, *arguments: str, stderr: IO[Any]) -> subprocess.Popen[bytes]:
        limit = ("prlimit", f"--nofile={DESCRIPTORS}:{DESCRIPTORS}")
        return subprocess.Popen([*limit, sys.executable, "-m", self.module, *arguments], env=self.env, stderr=stderr)


@contextmanager
def idle_connections(target: str, count: int) -> Iterator[list[http2.Connection]]:
    """Open connections and send nothing more than the opening."""
    with ExitStack() as closers:
        opened = []
        for _ in range(count):
            with suppress(OSError):  # closed at once
                opened.append(closers.enter_context(http2.Connection(target)))
        yield opened


def test_idle_connections_leave_descriptors_for_everything_else(valkey: str, tmp_path: Path) -> None:
    health_port = free_port()
    flags = ("--store-url", valkey, f"--health-port={health_port}", f"--max-connection-idle={IDLE_SECONDS}s")
    with (
        running(tmp_path, *flags, env=ENV, kind=LimitedService) as service,
        channel_to(service.target) as early,
        channel_to(f"127.0.0.1:{health_port}") as checks,
    ):
        stub = GameServiceStub(early)
        new_game(stub, 2)

        with idle_connections(service.target, DESCRIPTORS + 50) as connections:
            eventually(lambda: sum(each.closed_within(0) for each in connections) >= len(connections) - MOST)

            new_game(stub, 2)  # reaches the store
            assert health(checks, "") == "SERVING"
            with channel_to(service.target) as late:  # as soon as idle connections were closed
                assert health(late, "") == "SERVING"

        [limited] = [line for line in service.logs() if line["event"] == "connections_limited"]
    assert limited["max_connections"] == MOST


def test_a_connection_above_the_limit_is_closed_at_once(valkey: str, tmp_path: Path) -> None:
    with (
        running(tmp_path, "--store-url", valkey, "--max-connections=5", env=ENV) as service,
        idle_connections(service.target, 5) as connections,
        http2.Connection(service.target) as excess,
    ):
        assert excess.closed_within(1.0)
        assert not [each for each in connections if each.closed_within(0)]


def test_an_idle_connection_is_closed(valkey: str, tmp_path: Path) -> None:
    flags = ("--store-url", valkey, "--max-connection-idle=1s")
    with running(tmp_path, *flags, env=ENV) as service, http2.Connection(service.target) as connection:
        assert not connection.closed_within(0.5)
        assert connection.closed_within(SECONDS)


def test_an_old_connection_is_replaced_without_a_failure(valkey: str, tmp_path: Path) -> None:
    with (
        running(tmp_path, "--store-url", valkey, "--max-connection-age=1s", env=ENV) as service,
        channel_to(service.target) as channel,
        http2.Connection(service.target) as raw,
    ):
        stub = GameServiceStub(channel)
        deadline = time.monotonic() + 4
        while time.monotonic() < deadline:
            stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS)

        frames = iter(lambda: raw.read(1), None)
        assert any(isinstance(frame, GoAwayFrame) for frame in frames)


def test_a_watch_outlives_the_age_of_its_connection(valkey: str, tmp_path: Path) -> None:
    age = 3
    flags = ("--store-url", valkey, f"--max-connection-age={age}s", "--heartbeat=500ms")
    with running(tmp_path, *flags, env=ENV) as service, channel_to(service.target) as channel:
        watch = Watch(new_game(GameServiceStub(channel), 2).spectator, timeout=60)
        started = time.monotonic()
        while time.monotonic() < started + 1.5 * age:
            watch.next()
        watch.cancel()


def test_a_caller_may_ping_every_second_without_calls(service: Service) -> None:
    with http2.Connection(service.target) as connection:
        for _ in range(6):
            connection.send(http2.ping())
            assert not connection.closed_within(1.0)
        assert connection.unary(b"/sodafountain.v1.GameService/ListGameKinds", b"").status == 0


@pytest.mark.long
def test_a_caller_that_does_not_answer_pings_is_disconnected(service: Service) -> None:
    with http2.Connection(service.target) as connection:
        connection.socket.settimeout(90)
        with suppress(ConnectionResetError):
            while connection.socket.recv(65_536):
                pass  # without an answer


def test_a_caller_that_opens_no_http2_is_disconnected(service: Service) -> None:
    host, _, port = service.target.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=15) as connection:
        while connection.recv(65_536):
            pass


def test_silent_connections_to_the_metrics_do_not_stop_them(valkey: str, tmp_path: Path) -> None:
    port = free_port()
    with running(tmp_path, "--store-url", valkey, f"--metrics-port={port}", env=ENV), ExitStack() as closers:
        for _ in range(100):
            silent = closers.enter_context(socket.create_connection(("127.0.0.1", port)))
            silent.sendall(b"GET /metrics HTTP/1.1\r\n")

        with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=SECONDS) as response:
            assert b"sodafountain_" in response.read()
