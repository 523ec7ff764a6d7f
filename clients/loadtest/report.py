"""Writes the report of a run: a page to look at, JSON and CSV for programs, and a few lines for the terminal."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clients.loadtest.limits import FIGURES
from clients.loadtest.page import page
from clients.loadtest.formatting import DASH, FEW, contention, replays, several

# So many of the things that should never be are told in the terminal.
MOST: Final = 10


def write(told: Mapping[str, Any], folder: Path) -> None:
    """Writes report.html, report.json and report.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(told, indent=2) + "\n")
    (folder / "report.html").write_text(page(told), encoding="utf-8")
    with (folder / "report.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "count", "per_second", "errors", *(f"{figure}_ms" for figure in FIGURES)])
        for name, figures in (told["calls"] | told["moves"]).items():
            errors = sum(error["count"] for error in told["errors"] if error["rpc"] == name)
            values = [figures["count"], figures["per_second"], errors, *(figures[figure] for figure in FIGURES)]
            writer.writerow([name, *values])


def in_words(told: Mapping[str, Any]) -> str:
    """Tells the figures as a table, and what was found."""
    lines = ["", f"{'milliseconds':<28}{'count':>8}{'a second':>10}" + "".join(f"{figure:>9}" for figure in FIGURES)]
    for name, figures in (told["calls"] | told["moves"]).items():
        lines.append(
            f"{name:<28}{figures['count']:>8}{figures['per_second']:>10.1f}"
            + "".join(f"{DASH if figures[figure] is None else format(figures[figure], '.1f'):>9}" for figure in FIGURES)
        )
    if any(None in figures.values() for figures in (told["calls"] | told["moves"]).values()):
        lines.append(FEW)
    lines.append("")
    for game, ends in told["games"].items():
        lines.append(f"{game}: " + ", ".join(f"{count} {how}" for how, count in ends.items()))
    for errors, when in ((told["errors"], ""), (told["late_errors"], ", after the time")):
        lines += [
            f"{error['rpc']} failed {several(error['count'], 'time')}{when}: {error['reason']}" for error in errors
        ]
    lines.append(contention(told))
    lines.append(replays(told))
    wrong = [*(f"{game}: {problem}" for game, problem in told["replays"]["wrong"].items()), *told["faults"]]
    lines += wrong[:MOST]
    lines += [f"… and {len(wrong) - MOST} more, in the report"] * (len(wrong) > MOST)
    if warning := told["generator"]["warning"]:
        lines.append(f"Warning: {warning}")
    lines.append("Passed." if told["passed"] else "FAILED. " + " ".join(told["failures"]))
    return "\n".join(lines)
