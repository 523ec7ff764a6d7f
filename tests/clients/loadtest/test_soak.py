"""Half an hour of load: memory, files and threads do not grow, and the last games are as fast as the first.

For a short trial: `pytest -m long tests/clients/loadtest --soak-minutes 3`.
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

from clients.loadtest.metrics import read_counter
from tests.support.ports import free_port
from tests.support.processes import children, cpu_seconds, resident_mib, threads
from tests.support.service import Service, running
from tests.support.store_servers import eventually

ROOT = Path(__file__).parents[3]
ROUNDS = 15
# The first rounds fill the caches and the store. After that, the store deletes as many games as are created.
MIDDLE, LAST = slice(5, 10), slice(10, 15)


@dataclass(frozen=True)
class Round:
    """Measurements after a round of load.

    Attributes:
        service_mib: the resident memory of the service.
        store_mib: the resident memory of its store.
        files: the open files and connections of the service, after all clients have disconnected.
        threads: the threads of the service.
        cpu_ms: the CPU time of the service per move, including all other calls, in milliseconds.
        p50: the median duration of whole moves, in milliseconds.
    """

    service_mib: float
    store_mib: float
    files: int
    threads: int
    cpu_ms: float
    p50: float


@pytest.mark.long
@pytest.mark.timeout(3 * 3600)
def test_a_service_under_long_load_does_not_grow_leak_or_slow_down(
    tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    seconds = int(request.config.option.soak_minutes * 60 / ROUNDS)
    port = free_port()
    flags = (f"--data-dir={tmp_path / 'data'}", f"--metrics-port={port}", "--cached-games=20", "--log-level=warning")
    with running(tmp_path, *flags, f"--finished-ttl={3 * seconds + 60}s", "--allow-fixed-seed") as service:
        rounds = [play_round(service, port, seconds, number, tmp_path) for number in range(ROUNDS)]
        assert service.stop() == 0
    middle, last = rounds[MIDDLE], rounds[LAST]

    def growth(figure: Callable[[Round], float]) -> float:
        return median(map(figure, last)) / median(map(figure, middle))

    assert growth(lambda one: one.service_mib) < 1.1
    assert growth(lambda one: one.store_mib) < 1.2
    assert max(after.files for after in last) <= max(before.files for before in middle)
    assert max(after.threads for after in last) <= max(before.threads for before in middle)
    assert growth(lambda one: one.cpu_ms) < 1.25
    # The speed of a shared machine varies by a factor of two.
    assert growth(lambda one: one.p50) < 2


def play_round(service: Service, port: int, seconds: int, number: int, folder: Path) -> Round:
    """Run a load test with replays, and measure the service after all clients have disconnected."""
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
    summary: dict[str, Any] = json.loads((report / "report.json").read_text())
    metrics = f"http://127.0.0.1:{port}/metrics"
    eventually(lambda: read_counter(metrics, "sodafountain_watchers") == 0)
    assert read_counter(metrics, "sodafountain_games_created_total") == read_counter(
        metrics, "sodafountain_games_finished_total"
    )
    pid, (store,) = service.process.pid, children(service.process.pid)
    result = Round(
        service_mib=resident_mib(pid),
        store_mib=resident_mib(store),
        files=len(list(Path(f"/proc/{pid}/fd").iterdir())),
        threads=threads(pid),
        cpu_ms=1000 * (cpu_seconds(pid) - used) / summary["moves"]["whole move"]["count"],
        p50=summary["moves"]["whole move"]["p50"],
    )
    print(f"{number}: {summary['replays']['games']} games, {result}", flush=True)
    return result
