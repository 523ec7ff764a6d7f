"""While a replica is frozen, calls and watches of every library continue at another one.

A frozen process keeps its connections, and its host still accepts new ones, but nothing answers.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import sodafountain
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Connect
from tests.support import stores
from tests.support.service import Service, two_services

FROZEN_SECONDS = 20.0
CALL_SECONDS = 5.0
WATCH_SECONDS = 6.0

ROOT = Path(__file__).parents[2]
# The tests of the other libraries, which suspend the replicas themselves.
OTHER_LIBRARIES = {
    "go": (
        (
            "go",
            "-C",
            "clients/go",
            "test",
            "-count=1",
            "-v",
            "-run=WhileAReplicaIsFrozen",
            ".",
        ),
        "--- PASS",
    ),
    "java": (
        ("mvn", "-B", "-ntp", "-f", "clients/java", "test", "-Dtest=FrozenServerTest#callsAndAWatch*"),
        "Tests run: 1, Failures: 0, Errors: 0, Skipped: 0",
    ),
}

pytestmark = [pytest.mark.long, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def replicas(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    """Two services on one store."""
    with stores.server("valkey") as url, two_services(tmp_path_factory.mktemp("replicas"), url) as services:
        yield services


def connections(service: Service) -> set[str]:
    """Return the addresses of the clients that are connected to a service. gRPC uses IPv6 sockets for IPv4 too."""
    port = f"{int(service.target.rpartition(':')[2]):04X}"
    lines = (line.split() for line in Path("/proc/net/tcp6").read_text().splitlines()[1:])
    return {line[2] for line in lines if line[3] == "01" and line[1].endswith(f":{port}")}


@contextmanager
def frozen(service: Service) -> Iterator[None]:
    """Suspend the process of a service during the block."""
    os.kill(service.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(service.process.pid, signal.SIGCONT)


def test_calls_continue_at_the_other_replica(connect: Connect, replicas: tuple[Service, Service]) -> None:
    client = connect("ipv4:" + ",".join(service.target for service in replicas))
    spectator = client.spectator(client.new_game(SodaJerkOptions(), 2).id)
    slowest = 0.0
    for replica in (*replicas, replicas[0]):
        with frozen(replica):
            since = time.monotonic()
            while (called := time.monotonic()) < since + FROZEN_SECONDS:
                spectator.score()
                slowest = max(slowest, time.monotonic() - called)
                time.sleep(0.05)  # a client in use, not a wait for a condition
    print(f"slowest call: {slowest:.2f} s")
    assert slowest < CALL_SECONDS


def test_a_watch_continues_at_the_other_replica(connect: Connect, replicas: tuple[Service, Service]) -> None:
    client = connect("ipv4:" + ",".join(service.target for service in replicas))
    game = client.new_game(SodaJerkOptions(), 2)
    watch = iter(client.spectator(game.id).watch())
    version = next(watch).state.version
    slowest = 0.0
    for replica, other in (replicas, replicas[::-1]):
        with frozen(replica), sodafountain.connect(other.target) as mover:
            since = time.monotonic()
            host = mover.host(game.id, game.host_token)
            seat = host.state().awaiting_seats[0]
            host.apply(seat, host.legal_moves(seat).moves[0])
            update = next(watch)
            slowest = max(slowest, time.monotonic() - since)
            assert (update.is_snapshot, update.state.version) == (False, version + 1)
            version += 1
    print(f"slowest update: {slowest:.2f} s")
    assert slowest < WATCH_SECONDS


def test_a_new_client_skips_a_frozen_replica(connect: Connect, replicas: tuple[Service, Service]) -> None:
    client = connect("ipv4:" + ",".join(service.target for service in replicas))
    with frozen(replicas[0]):
        since = time.monotonic()
        client.game_kinds()
        assert time.monotonic() - since < 1.0


def test_an_idle_connection_survives_the_pings(connect: Connect, replicas: tuple[Service, Service]) -> None:
    """A server that does not allow the pings closes the connection after a few of them."""
    client = connect(replicas[0].target)
    client.game_kinds()
    (before,) = connections(replicas[0])
    time.sleep(9.0)  # four pings
    client.game_kinds()
    assert connections(replicas[0]) == {before}


@pytest.mark.parametrize(("command", "passed"), OTHER_LIBRARIES.values(), ids=OTHER_LIBRARIES)
def test_the_other_libraries_continue_at_the_other_replica(
    replicas: tuple[Service, Service], command: tuple[str, ...], passed: str
) -> None:
    processes = ",".join(f"{service.target}={service.process.pid}" for service in replicas)
    try:
        result = subprocess.run(
            command,
            cwd=ROOT,
            env=os.environ | {"SODAFOUNTAIN_TEST_REPLICAS": processes, "GOFLAGS": "-trimpath"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        for service in replicas:
            os.kill(service.process.pid, signal.SIGCONT)
    print(*(line for line in result.stdout.splitlines() if line.startswith("slowest")), sep="\n")
    assert result.returncode == 0, result.stdout + result.stderr
    assert passed in result.stdout
