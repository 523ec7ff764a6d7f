"""Locust against a real service: as a single process, and as a master with two workers."""

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
    """Run a Python module until the end of the block at the latest."""
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


def faultless_report(folder: Path) -> dict[str, Any]:
    """Return the report of a run, and assert that it has no errors and faults and that every game was replayed."""
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    assert (report["errors"], report["faults"], report["replays"]["wrong"]) == ([], [], {})
    assert report["replays"]["games"] == sum(sum(outcomes.values()) for outcomes in report["games"].values())
    return report


def test_a_run_plays_and_replays_every_kind_of_game_and_fails_by_its_limit(target: str, tmp_path: Path) -> None:
    limits = "--limits=whole move p50 0.001, errors 0"
    with started(
        "clients.loadtest", f"--host={target}", "--users=3", "--run-time=3s", *FAST, limits, f"--report={tmp_path}"
    ) as run:
        output, _ = run.communicate(timeout=SECONDS)
    assert run.returncode == 1, output
    report = faultless_report(tmp_path)
    assert re.search(r"0:0\d \| \d+ games? finished \| \d+ moves \| ApplyMove p50", output), "progress is printed"
    assert report["games"].keys() == GREEDY.keys()
    assert report["calls"].keys() >= {"ListGameKinds", "NewGame", "WatchGame", "ApplyMove", "LegalMoves", "GetGame"}
    move = report["moves"]["whole move"]
    assert move["count"] > 0
    assert report["timeline"]
    assert report["generator"]["processes"]["generator"]["cpu_mean_percent"] > 0
    assert report["failures"] == [f"The limit whole move p50 0.001 was exceeded: {move['p50']:g}."]
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "report.csv").exists()


def commands_with_two_workers(
    target: str, folder: Path, *, users: int, run_time: str
) -> tuple[list[str], list[str], str]:
    """Return the commands of a master that waits for two workers and of a worker, and the address of the web page."""
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
def test_a_master_with_a_web_page_and_two_workers_writes_one_report(target: str, tmp_path: Path) -> None:
    master, worker, page = commands_with_two_workers(target, tmp_path, users=4, run_time="4s")
    with started(*master) as run, started(*worker) as one, started(*worker) as two:
        eventually(
            page_shows(page, lambda stats: stats["state"] == "running" and stats["user_count"] == 4), within=SECONDS
        )
        output, _ = run.communicate(timeout=SECONDS)
        assert [one.wait(SECONDS), two.wait(SECONDS)] == [0, 0]
    assert run.returncode == 0, output
    report = faultless_report(tmp_path)
    assert report["generator"]["processes"].keys() == {"worker 0", "worker 1"}
    assert report["calls"]["ListGameKinds"]["count"] == 4, "each user calls it once, on any worker"
    assert report["replays"]["games"] >= 4


@pytest.mark.long
def test_a_worker_that_quits_during_the_run_is_a_fault(target: str, tmp_path: Path) -> None:
    master, worker, page = commands_with_two_workers(target, tmp_path, users=2, run_time="15s")
    with started(*master) as run, started(*worker) as one, started(*worker):
        eventually(
            page_shows(page, lambda stats: stats["state"] == "running" and stats["user_count"] == 2), within=SECONDS
        )
        one.terminate()
        output, _ = run.communicate(timeout=SECONDS)
    report = json.loads((tmp_path / "report.json").read_text())
    assert run.returncode == 1, output
    assert [fault[:16] for fault in report["faults"]] == ["Workers lost: 1."], output
    assert report["replays"]["games"] >= 1


def page_shows(page: str, matches: Callable[[dict[str, Any]], bool]) -> Callable[[], bool]:
    """Return a function that returns whether the statistics of Locust's web page match."""

    def look() -> bool:
        try:
            with urllib.request.urlopen(f"http://{page}/stats/requests", timeout=5) as answer:
                return matches(json.load(answer))
        except OSError:
            return False

    return look
