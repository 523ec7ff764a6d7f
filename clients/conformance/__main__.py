"""Build client libraries, run the scenarios with each of them, and report the differences from scenarios.yaml."""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from clients.conformance.calls import Placeholders, describe
from clients.conformance.comparison import call_problems, outcome_problems
from clients.conformance.environment import ScenarioEnvironment, scenario_environment
from clients.conformance.libraries import LIBRARIES, ROOT, Command, Library
from clients.conformance.recorder import Recorder
from clients.conformance.scenarios import Json, Scenario, read

_SECONDS: Final = 300.0
"""The timeout of a driver."""
_CONCURRENCY: Final = 3
"""How many packages are built or tested concurrently; scenarios mostly wait for retries."""
_OK: Final = "ok  "
_FAIL: Final = "FAIL"
_KINDS: Final = ("soda_jerk", "soda_smugglers", "juices")
_MIN_BOT_LINES: Final = 10
"""The minimal number of lines that a bot prints: one for each move, and the result."""


class Result(NamedTuple):
    """The result of a scenario, or of a game that a bot played.

    Attributes:
        name: the name of the scenario or game.
        problems: the differences from the expectation; empty if it passed.
        seconds: the duration.
    """

    name: str
    problems: Sequence[str]
    seconds: float


def main() -> int:
    """Run the scenarios; return the exit status, 1 if any of them failed."""
    parser = argparse.ArgumentParser(prog="make clients-test", description=__doc__)
    parser.add_argument("library", nargs="*", help=f"the libraries to test (default: all of {', '.join(LIBRARIES)})")
    parser.add_argument("--scenario", default="", metavar="TEXT", help="run only scenarios whose name contains TEXT")
    parser.add_argument("--no-build", action="store_true", help="use the packages that are already built and installed")
    parser.add_argument("--show", action="store_true", help="print the calls and outcomes of each scenario, as YAML")
    arguments = parser.parse_args()
    if unknown := set(arguments.library) - LIBRARIES.keys():
        parser.error(f"unknown library {', '.join(sorted(unknown))}; expected one of {', '.join(LIBRARIES)}")
    scenarios = [scenario for scenario in read() if arguments.scenario in scenario.name]
    if not scenarios:
        parser.error(f"no scenario name contains {arguments.scenario!r}")
    jobs: dict[Sequence[Command], list[str]] = {}
    for name in arguments.library or LIBRARIES:
        jobs.setdefault(LIBRARIES[name].build, []).append(name)

    def run(names: Sequence[str]) -> list[str]:
        return _run_libraries(names, scenarios, build=not arguments.no_build, show=arguments.show)

    with ThreadPoolExecutor(_CONCURRENCY) as workers:
        marks = [mark for each in workers.map(run, jobs.values()) for mark in each]
    failed = marks.count(_FAIL)
    print(f"{len(marks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _run_libraries(names: Sequence[str], scenarios: Sequence[Scenario], *, build: bool, show: bool) -> list[str]:
    """Build the package that these libraries share, and run the scenarios with each library; return all marks."""
    if build and (problem := _build(LIBRARIES[names[0]].build)):
        print(f"{_FAIL} {names[0]}: {problem}", flush=True)
        return [_FAIL]
    marks = []
    for name in names:
        for transport in LIBRARIES[name].transports:
            for result in _run_library(name, LIBRARIES[name], transport, scenarios, show=show):
                marks.append(_FAIL if result.problems else _OK)
                lines = [f"{marks[-1]} {name} over {transport}: {result.name} ({result.seconds:.1f} s)"]
                lines += [f"  - {problem}" for problem in result.problems]
                print("\n".join(lines), flush=True)
    return marks


def _build(commands: Sequence[Command]) -> str:
    """Build and install a package; return the error, or an empty text on success."""
    for command in commands:
        since = time.monotonic()
        result = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if result.returncode:
            return f"`{' '.join(command)}` failed:\n{result.stdout}"
        print(f"     {' '.join(command)} ({time.monotonic() - since:.0f} s)", flush=True)
    return ""


def _run_library(
    name: str, library: Library, transport: str, scenarios: Sequence[Scenario], *, show: bool
) -> Iterator[Result]:
    """Run the scenarios with a library, then its bot.

    Over gRPC each scenario has an address of its own, and the driver runs once with all of them. A gateway takes long
    to start: all scenarios share one, and the driver runs once per scenario.
    """
    chosen = [scenario for scenario in scenarios if name not in scenario.skip and transport not in scenario.skip]
    batches = [chosen] if transport == "grpc" else [[scenario] for scenario in chosen]
    with tempfile.TemporaryDirectory(prefix="soda-") as folder, scenario_environment(Path(folder)) as environment:
        for batch in batches:
            yield from _run_batch(library, transport, batch, environment, Path(folder), show=show)
        if library.bot and transport == "grpc":
            yield from (_run_bot(library, kind, environment.target) for kind in _KINDS)


def _run_bot(library: Library, kind: str, target: str) -> Result:
    """Let the bot of a library play a complete game."""
    since = time.monotonic()
    command = [*library.bot, "--target", target, "--kind", kind, "--seed", "7"]
    result = subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=_SECONDS, check=False
    )
    problems = [f"the bot exited with status {result.returncode}: {result.stderr.strip()}"] if result.returncode else []
    if not problems and len(result.stdout.splitlines()) < _MIN_BOT_LINES:
        problems.append(f"the bot printed too few lines: {result.stdout!r}")
    return Result(f"the bot plays {kind}", problems, time.monotonic() - since)


def _run_batch(
    library: Library,
    transport: str,
    batch: Sequence[Scenario],
    environment: ScenarioEnvironment,
    folder: Path,
    *,
    show: bool,
) -> Iterator[Result]:
    recorders = {scenario.name: environment.recorder(scenario) for scenario in batch}
    connects = {scenario.name: environment.address(scenario, recorders[scenario.name], transport) for scenario in batch}
    plan = {
        "transport": transport,
        "scenarios": [
            {"name": scenario.name, "connect": connects[scenario.name], "steps": [step.do for step in scenario.steps]}
            for scenario in batch
        ],
    }
    outcomes, times, driver_problems = _drive(library, plan, folder)
    for scenario in batch:
        recorder, found = recorders[scenario.name], outcomes[scenario.name]
        problems = [
            *(driver_problems if len(found) < len(scenario.steps) else ()),
            *outcome_problems(scenario, found, connects[scenario.name]["target"]),
            *call_problems(scenario, recorder.calls, with_deadlines=transport != "rest"),
            *_metadata_problems(library, transport, recorder),
        ]
        if still_open := recorder.wait_until_idle():
            problems.append(f"{still_open} calls were still open after the driver had exited")
        if show:
            _show(scenario, recorder, found)
        yield Result(scenario.name, problems, times[scenario.name])


def _drive(library: Library, plan: Json, folder: Path) -> tuple[dict[str, list[Json]], dict[str, float], list[str]]:
    """Run a driver with a plan; return its outcomes and durations by scenario, and the problems of the driver."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    outcomes: defaultdict[str, list[Json]] = defaultdict(list)
    times: defaultdict[str, float] = defaultdict(float)
    with (folder / "driver.log").open("w+b") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*library.driver, str(file)], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8"
        )
        timer = threading.Timer(_SECONDS, process.kill)
        timer.start()
        since = time.monotonic()
        try:
            assert process.stdout is not None
            for line in process.stdout:
                reported = json.loads(line)
                outcomes[reported["scenario"]].append(reported["outcome"])
                times[reported["scenario"]] += time.monotonic() - since
                since = time.monotonic()
            status = process.wait()
        finally:
            timer.cancel()
            process.kill()
            process.wait()
        log.seek(0)
        errors = log.read().decode(errors="replace").strip()
    return outcomes, times, [f"the driver exited with status {status}: {errors}"] if status else []


def _metadata_problems(library: Library, transport: str, recorder: Recorder) -> Iterator[str]:
    if transport != "rest":
        for number, call in enumerate(recorder.calls, start=1):
            request: Any = call.request
            if call.metadata.get("x-game-id", "") != getattr(request, "game_id", ""):
                yield f"call {number}: its x-game-id is {call.metadata.get('x-game-id')!r}"
    if transport == "grpc" and library.agent:
        for number, call in enumerate(recorder.calls, start=1):
            if not str(call.metadata.get("user-agent", "")).startswith(library.agent):
                yield f"call {number}: its user agent is {call.metadata.get('user-agent')!r}"


def _show(scenario: Scenario, recorder: Recorder, outcomes: Sequence[Json]) -> None:
    placeholders = Placeholders()
    calls = [describe(call, placeholders) for call in recorder.calls]
    for call in calls:
        if "deadline" in call:
            call["deadline"] = round(call["deadline"], 1)
    seen = {"name": scenario.name, "outcomes": list(outcomes), "calls": calls}
    print(yaml.safe_dump(seen, sort_keys=False, width=120, default_flow_style=None, allow_unicode=True))


if __name__ == "__main__":
    sys.exit(main())
