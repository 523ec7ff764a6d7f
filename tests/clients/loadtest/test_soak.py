"""Half an hour of load: nothing grows, nothing leaks, and the last game is as fast as the first.

`pytest -m long tests/clients/loadtest --soak-minutes 3` tries it out.
"""

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import pytest

from clients.loadtest.metrics import total
from tests.support.ports import free_port
from tests.support.processes import children, cpu_seconds, resident_mib, threads
from tests.support.service import Service, running
from tests.support.store_servers import eventually

ROOT = Path(__file__).parents[3]
ROUNDS = 15
# Rounds before these fill caches and the store, which then forgets as many games as are made.
MIDDLE, LAST = slice(5, 10), slice(10, 15)


@dataclass(frozen=True)
class Round:
    """What a round of load left behind.

    Attributes:
        service_mib: resident memory of the service.
        store_mib: of its store.
        files: how many files and connections the service has open, nobody being there any more.
        threads: its threads.
        cpu_ms: what it needed of CPU for a move, everything else that went with it included, in milliseconds.
        p50: half of all whole moves took no longer, in milliseconds.
    """

    service_mib: float
    store_mib: float
    files: int
    threads: int
    cpu_ms: float
    p50: float


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
def test_a_service_under_load_for_long_neither_grows_nor_leaks_nor_slows_down(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seconds = int(request.config.option.soak_minutes * 60 / ROUNDS)
    port = free_port()
    flags = (f"--data-dir={tmp_path / 'data'}", f"--metrics-port={port}", "--cached-games=20", "--log-level=warning")
    with running(tmp_path, *flags, f"--finished-ttl={3 * seconds + 60}s", "--allow-fixed-seed") as service:
        rounds = [a_round(service, port, seconds, number, tmp_path) for number in range(ROUNDS)]
        assert service.stop() == 0
    middle, last = rounds[MIDDLE], rounds[LAST]

    def grown(figure: Callable[[Round], float]) -> float:
        return median(map(figure, last)) / median(map(figure, middle))

    assert grown(lambda left: left.service_mib) < 1.1
    assert grown(lambda left: left.store_mib) < 1.2
    assert max(after.files for after in last) <= max(before.files for before in middle)
    assert max(after.threads for after in last) <= max(before.threads for before in middle)
    assert grown(lambda left: left.cpu_ms) < 1.25
    # Machines that others share are twice as slow at one time as at another.
    assert grown(lambda left: left.p50) < 2


def a_round(service: Service, port: int, seconds: int, number: int, folder: Path) -> Round:
    """Plays for so many seconds, replays what was played, and looks at what is left when everybody has gone."""
    used = cpu_seconds(service.process.pid)
    report = folder / f"round-{number}"
    command = ["--users=5", "--think=0", f"--run-time={seconds}s", f"--run-seed=soak {number}", f"--report={report}"]
    done = subprocess.run(
        [sys.executable, "-m", "clients.loadtest", f"--host={service.target}", "--fixed-deals", *command],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=seconds + 600,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    told: dict[str, Any] = json.loads((report / "report.json").read_text())
    metrics = f"http://127.0.0.1:{port}/metrics"
    eventually(lambda: total(metrics, "sodafountain_watchers") == 0)
    assert total(metrics, "sodafountain_games_created_total") == total(metrics, "sodafountain_games_finished_total")
    pid, (store,) = service.process.pid, children(service.process.pid)
    left = Round(
        service_mib=resident_mib(pid),
        store_mib=resident_mib(store),
        files=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        threads=threads(pid),
        cpu_ms=1000 * (cpu_seconds(pid) - used) / told["moves"]["whole move"]["count"],
        p50=told["moves"]["whole move"]["p50"],
    )
    print(f"{number}: {told['replays']['games']} games, {left}", flush=True)
    return left
