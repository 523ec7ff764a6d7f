"""Several processes on one port: a killed worker is replaced, and no worker outlives its parent."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from service.access import new_token_key
from tests.support.background_load import background_load
from tests.support.service import Service, clean_environment, running
from tests.support.store_servers import Server, eventually

PLAYERS = 4
ENV = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}


@pytest.fixture
def service(store: Server, tmp_path: Path) -> Iterator[Service]:
    """A service with two workers."""
    with running(tmp_path / "service", "--store-url", store.url, "--workers=2", env=ENV) as service:
        yield service


def workers(service: Service) -> list[int]:
    """Return the process ids of the workers that serve, in order."""
    return [line["pid"] for line in service.logs() if line["event"] == "serving"]


def are_serving(service: Service, number: int) -> bool:
    """Return whether this many workers serve."""
    return len(workers(service)) == number


def is_alive(pid: int) -> bool:
    """Return whether a process exists and is not a zombie."""
    return any(line[0] == pid and not line[2].startswith("Z") for line in processes())


def processes() -> list[tuple[int, int, str, str]]:
    """Return all processes: id, parent's id, state, command."""
    listing = subprocess.check_output(["ps", "-axww", "-o", "pid=,ppid=,state=,command="], text=True)
    fields = (line.split(maxsplit=3) for line in listing.splitlines())
    return [(int(pid), int(parent), state, "".join(command)) for pid, parent, state, *command in fields]


def starting(supervisor: int) -> list[int]:
    """Return the process ids of the workers that a service has started."""
    return [pid for pid, parent, _, command in processes() if parent == supervisor and "spawn_main" in command]


def test_a_killed_worker_is_replaced_and_no_move_is_lost(service: Service) -> None:
    with background_load(service.target, players=PLAYERS) as load:
        for kill in range(2):
            load.wait_for_moves(50)
            os.kill(workers(service)[kill], signal.SIGKILL)
            load.wait_for_moves(50)
            eventually(partial(are_serving, service, 3 + kill))

    died = [line for line in service.logs() if line["event"] == "worker_died"]
    assert [line["exit_code"] for line in died] == [-signal.SIGKILL] * 2
    assert service.stop() == 0
    assert not any(is_alive(pid) for pid in workers(service))


def test_a_worker_that_dies_before_it_serves_ends_the_service(store: Server, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "service", "serve", "--port=0", "--workers=2", "--store-url", store.url]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=clean_environment() | ENV) as service:
        try:
            eventually(lambda: starting(service.pid))
            os.kill(starting(service.pid)[0], signal.SIGKILL)

            _, stderr = service.communicate(timeout=25)
        finally:
            service.kill()

    assert service.returncode == 2
    assert stderr.splitlines()[-1] == "sodafountain: a worker ended before it was ready"


def test_workers_drain_and_end_when_their_parent_is_killed(service: Service, store: Server, tmp_path: Path) -> None:
    with (
        running(tmp_path / "other", "--store-url", store.url, env=ENV) as other,
        background_load(service.target, other.target, players=PLAYERS) as load,
    ):
        load.wait_for_moves(50)
        service.kill()
        eventually(lambda: not any(is_alive(pid) for pid in workers(service)))
        load.wait_for_moves(50)

    assert [line["event"] for line in service.logs()].count("drained") == 2
    assert load.errors["DRAINING"]
