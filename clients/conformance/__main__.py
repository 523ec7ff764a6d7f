"""Builds client libraries, runs the scenarios with each, and tells which of them do what scenarios.yaml says."""

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

from clients.conformance.comparison import call_problems, outcome_problems
from clients.conformance.libraries import LIBRARIES, ROOT, Command, Library
from clients.conformance.calls import Names, told
from clients.conformance.recorder import Recorder
from clients.conformance.scenarios import Json, Scenario, read
from clients.conformance.environment import World, world

_SECONDS: Final = 300.0
"""How long a driver may take over its plan."""
_AT_ONCE: Final = 3
"""How many packages are built or held to the scenarios at once; scenarios wait most of the time, for retries."""
_OK: Final = "ok  "
_FAIL: Final = "FAIL"
_KINDS: Final = ("soda_jerk", "soda_smugglers", "juices")
_FEWEST_LINES: Final = 10
"""How many lines a bot prints at least: one for each move, and the result."""


class Done(NamedTuple):
    """A scenario that a library went through, or a game that its bot played.

    Attributes:
        name: what it was.
        problems: what was not as it should be.
        seconds: how long it took.
    """

    name: str
    problems: Sequence[str]
    seconds: float


def main() -> int:
    """Runs what the command line says; returns the exit status: 1 when anything differs."""
    parser = argparse.ArgumentParser(prog="make clients-test", description=__doc__)
    parser.add_argument("library", nargs="*", help=f"which libraries (all of {', '.join(LIBRARIES)})")
    parser.add_argument("--scenario", default="", metavar="TEXT", help="only scenarios with this in their name")
    parser.add_argument(
        "--no-build", action="store_true", help="take the packages that were built and installed before"
    )
    parser.add_argument("--show", action="store_true", help="print the calls and outcomes of each scenario, as YAML")
    arguments = parser.parse_args()
    if unknown := set(arguments.library) - LIBRARIES.keys():
        parser.error(f"no library is called {', '.join(sorted(unknown))}; there are {', '.join(LIBRARIES)}")
    scenarios = [scenario for scenario in read() if arguments.scenario in scenario.name]
    if not scenarios:
        parser.error(f"no scenario has {arguments.scenario!r} in its name")
    jobs: dict[Sequence[Command], list[str]] = {}
    for name in arguments.library or LIBRARIES:
        jobs.setdefault(LIBRARIES[name].build, []).append(name)

    def held_to(names: Sequence[str]) -> list[str]:
        return _held_to(names, scenarios, build=not arguments.no_build, show=arguments.show)

    with ThreadPoolExecutor(_AT_ONCE) as workers:
        marks = [mark for each in workers.map(held_to, jobs.values()) for mark in each]
    failed = marks.count(_FAIL)
    print(f"{len(marks) - failed} passed, {failed} failed")
    return 1 if failed else 0


def _held_to(names: Sequence[str], scenarios: Sequence[Scenario], *, build: bool, show: bool) -> list[str]:
    """Builds the package that these libraries have in common, and holds each to the scenarios; returns all marks."""
    if build and (problem := _built(LIBRARIES[names[0]].build)):
        print(f"{_FAIL} {names[0]}: {problem}", flush=True)
        return [_FAIL]
    marks = []
    for name in names:
        for transport in LIBRARIES[name].transports:
            for done in _run(name, LIBRARIES[name], transport, scenarios, show=show):
                marks.append(_FAIL if done.problems else _OK)
                lines = [f"{marks[-1]} {name} over {transport}: {done.name} ({done.seconds:.1f} s)"]
                lines += [f"  - {problem}" for problem in done.problems]
                print("\n".join(lines), flush=True)
    return marks


def _built(commands: Sequence[Command]) -> str:
    """Builds and installs a package; returns what went wrong, and nothing if all went well."""
    for command in commands:
        since = time.monotonic()
        done = subprocess.run(  # noqa: S603 - our own commands
            command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
        )
        if done.returncode:
            return f"`{' '.join(command)}` failed:\n{done.stdout}"
        print(f"     {' '.join(command)} ({time.monotonic() - since:.0f} s)", flush=True)
    return ""


def _run(name: str, library: Library, transport: str, scenarios: Sequence[Scenario], *, show: bool) -> Iterator[Done]:
    """Runs scenarios with a library, and its bot.

    Over gRPC each scenario has an address of its own, and one run of the driver goes through all of them. A gateway is
    costly, so there is one, and a run for each scenario.
    """
    chosen = [scenario for scenario in scenarios if name not in scenario.skip and transport not in scenario.skip]
    batches = [chosen] if transport == "grpc" else [[scenario] for scenario in chosen]
    with tempfile.TemporaryDirectory(prefix="soda-") as folder, world(Path(folder)) as around:
        for batch in batches:
            yield from _run_batch(library, transport, batch, around, Path(folder), show=show)
        if library.bot and transport == "grpc":
            yield from (_watch_bot(library, kind, around.target) for kind in _KINDS)


def _watch_bot(library: Library, kind: str, target: str) -> Done:
    """Lets a library's bot play a whole game."""
    since = time.monotonic()
    command = [*library.bot, "--target", target, "--kind", kind, "--seed", "7"]
    done = subprocess.run(  # noqa: S603 - our own command
        command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8", timeout=_SECONDS, check=False
    )
    problems = [f"it ended with status {done.returncode}: {done.stderr.strip()}"] if done.returncode else []
    if not problems and len(done.stdout.splitlines()) < _FEWEST_LINES:
        problems.append(f"it told of no game: {done.stdout!r}")
    return Done(f"its bot plays {kind}", problems, time.monotonic() - since)


def _run_batch(
    library: Library, transport: str, batch: Sequence[Scenario], around: World, folder: Path, *, show: bool
) -> Iterator[Done]:
    recorders = {scenario.name: around.recorder(scenario) for scenario in batch}
    connects = {scenario.name: around.address(scenario, recorders[scenario.name], transport) for scenario in batch}
    plan = {
        "transport": transport,
        "scenarios": [
            {"name": scenario.name, "connect": connects[scenario.name], "steps": [step.do for step in scenario.steps]}
            for scenario in batch
        ],
    }
    outcomes, times, trouble = _drive(library, plan, folder)
    for scenario in batch:
        recorder, found = recorders[scenario.name], outcomes[scenario.name]
        problems = [
            *(trouble if len(found) < len(scenario.steps) else ()),
            *outcome_problems(scenario, found, connects[scenario.name]["target"]),
            *call_problems(scenario, recorder.notes, with_deadlines=transport != "rest"),
            *_agent_problems(library, transport, recorder),
        ]
        if left := recorder.settled():
            problems.append(f"{left} calls were still open when the driver had ended")
        if show:
            _show(scenario, recorder, found)
        yield Done(scenario.name, problems, times[scenario.name])


def _drive(library: Library, plan: Json, folder: Path) -> tuple[dict[str, list[Json]], dict[str, float], list[str]]:
    """Runs a driver through a plan: its outcomes and how long they took, by scenario, and what was wrong with it."""
    file = folder / "plan.json"
    file.write_text(json.dumps(plan), encoding="utf-8")
    outcomes: defaultdict[str, list[Json]] = defaultdict(list)
    times: defaultdict[str, float] = defaultdict(float)
    with (folder / "driver.log").open("w+b") as log:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*library.driver, str(file)], cwd=ROOT, stdout=subprocess.PIPE, stderr=log, text=True, encoding="utf-8"
        )
        guard = threading.Timer(_SECONDS, process.kill)
        guard.start()
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
            guard.cancel()
            process.kill()
            process.wait()
        log.seek(0)
        words = log.read().decode(errors="replace").strip()
    return outcomes, times, [f"the driver ended with status {status}: {words}"] if status else []


def _agent_problems(library: Library, transport: str, recorder: Recorder) -> Iterator[str]:
    if transport == "grpc-web":
        for number, note in enumerate(recorder.notes, start=1):
            request: Any = note.request
            if note.metadata.get("x-game-id", "") != getattr(request, "game_id", ""):
                yield f"call {number}: its x-game-id is {note.metadata.get('x-game-id')!r}"
    if transport == "grpc" and library.agent:
        for number, note in enumerate(recorder.notes, start=1):
            if not str(note.metadata.get("user-agent", "")).startswith(library.agent):
                yield f"call {number}: its user agent is {note.metadata.get('user-agent')!r}"


def _show(scenario: Scenario, recorder: Recorder, outcomes: Sequence[Json]) -> None:
    names = Names()
    calls = [told(note, names) for note in recorder.notes]
    for call in calls:
        if "deadline" in call:
            call["deadline"] = round(call["deadline"], 1)
    seen = {"name": scenario.name, "outcomes": list(outcomes), "calls": calls}
    print(yaml.safe_dump(seen, sort_keys=False, width=120, default_flow_style=None, allow_unicode=True))


if __name__ == "__main__":
    sys.exit(main())
