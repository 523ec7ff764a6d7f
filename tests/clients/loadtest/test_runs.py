"""Runs of Locust against a real service: alone, and one master with two workers."""

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from clients.loadtest.__main__ import LOCUSTFILE
from clients.strategies import GREEDY
from tests.support.ports import free_port
from tests.support.store_servers import eventually

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.timeout(400)
SECONDS = 100
FAST = ("--think=0", "--seats=2-3", "--spectators=0.5", "--loglevel=WARNING")


@contextmanager
def started(*command: str) -> Iterator["subprocess.Popen[str]"]:
    """Runs a Python module for the length of the block, at most."""
    process = subprocess.Popen(
        [sys.executable, "-m", *command],
        cwd=ROOT,
        env=os.environ | {"GRPC_VERBOSITY": "NONE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def checked(folder: Path) -> dict[str, Any]:
    """The report of a run, which must have been without fault."""
    told: dict[str, Any] = json.loads((folder / "report.json").read_text())
    assert (told["errors"], told["faults"], told["replays"]["wrong"]) == ([], [], {})
    assert told["replays"]["games"] == sum(sum(ends.values()) for ends in told["games"].values())
    return told


def test_a_run_plays_every_kind_of_game_replays_them_and_fails_by_its_limit(target: str, tmp_path: Path) -> None:
    limits = "--limits=whole move p50 0.001, errors 0"
    with started(
        "clients.loadtest", f"--host={target}", "--users=3", "--run-time=4s", *FAST, limits, f"--report={tmp_path}"
    ) as run:
        output, _ = run.communicate(timeout=SECONDS)
    assert run.returncode == 1, output
    told = checked(tmp_path)
    assert re.search(r"0:0\d \| \d+ games finished \| \d+ moves \| ApplyMove p50", output), "progress shows"
    assert told["games"].keys() == GREEDY.keys()
    assert told["calls"].keys() >= {"ListGameKinds", "NewGame", "WatchGame", "ApplyMove", "LegalMoves", "GetGame"}
    assert told["moves"]["whole move"]["count"] > 0
    assert told["timeline"]
    assert told["generator"]["processes"]["generator"]["cpu_mean_percent"] > 0
    assert told["failures"] == [f"The limit whole move p50 0.001 was exceeded: {told['moves']['whole move']['p50']:g}."]
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "report.csv").exists()


def with_two_workers(target: str, folder: Path, *, users: int, run_time: str) -> tuple[list[str], list[str], str]:
    """The commands of a master that waits for two workers, and of a worker; and where the master's page is."""
    port, page_port = str(free_port()), str(free_port())
    locust = ["locust", f"--locustfile={LOCUSTFILE}", *FAST]
    master = [
        *("--master", "--master-bind-host=127.0.0.1", f"--master-bind-port={port}", "--expect-workers=2"),
        *("--autostart", "--autoquit=0", "--web-host=127.0.0.1", f"--web-port={page_port}", f"--report={folder}"),
        *(f"--host={target}", f"--users={users}", f"--spawn-rate={users}", f"--run-time={run_time}"),
    ]
    worker = ["--worker", "--master-host=127.0.0.1", f"--master-port={port}"]
    return locust + master, locust + worker, f"127.0.0.1:{page_port}"


@pytest.mark.long
def test_a_master_with_its_page_and_two_workers_make_one_report(target: str, tmp_path: Path) -> None:
    master, worker, page = with_two_workers(target, tmp_path, users=4, run_time="4s")
    with started(*master) as run, started(*worker) as one, started(*worker) as two:
        eventually(seen(page, lambda told: told["state"] == "running" and told["user_count"] == 4), within=SECONDS)
        output, _ = run.communicate(timeout=SECONDS)
        assert [one.wait(SECONDS), two.wait(SECONDS)] == [0, 0]
    assert run.returncode == 0, output
    told = checked(tmp_path)
    assert told["generator"]["processes"].keys() == {"worker 0", "worker 1"}
    assert told["calls"]["ListGameKinds"]["count"] == 4, "each table asks once, whichever worker has it"
    assert told["replays"]["games"] >= 4


@pytest.mark.long
def test_a_worker_that_leaves_in_the_middle_is_told_of(target: str, tmp_path: Path) -> None:
    master, worker, page = with_two_workers(target, tmp_path, users=2, run_time="15s")
    with started(*master) as run, started(*worker) as one, started(*worker):
        eventually(seen(page, lambda told: told["state"] == "running" and told["user_count"] == 2), within=SECONDS)
        one.terminate()
        output, _ = run.communicate(timeout=SECONDS)
    told = json.loads((tmp_path / "report.json").read_text())
    assert run.returncode == 1, output
    assert [fault[:16] for fault in told["faults"]] == ["Workers lost: 1,"], output
    assert told["replays"]["games"] >= 1


def seen(page: str, wanted: Callable[[dict[str, Any]], bool]) -> Callable[[], bool]:
    """Whether Locust's page tells what is wanted."""

    def look() -> bool:
        try:
            with urllib.request.urlopen(f"http://{page}/stats/requests", timeout=5) as answer:
                return wanted(json.load(answer))
        except OSError:
            return False

    return look
