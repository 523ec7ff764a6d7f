"""Write the report of a run: an HTML page for people, JSON and CSV for programs, and a summary for the terminal."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from clients.loadtest.formatting import NO_VALUE, TOO_FEW_VALUES, format_contention, format_replays, pluralize
from clients.loadtest.limits import FIGURES
from clients.loadtest.page import render_page

MAX_PROBLEMS_SHOWN: Final = 10


def write(report: Mapping[str, Any], folder: Path) -> None:
    """Write report.html, report.json and report.csv."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "report.json").write_text(json.dumps(report, indent=2) + "\n")
    (folder / "report.html").write_text(render_page(report), encoding="utf-8")
    with (folder / "report.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["name", "count", "per_second", "errors", *(f"{figure}_ms" for figure in FIGURES)])
        for name, figures in (report["calls"] | report["moves"]).items():
            errors = sum(error["count"] for error in report["errors"] if error["rpc"] == name)
            values = [figures["count"], figures["per_second"], errors, *(figures[figure] for figure in FIGURES)]
            writer.writerow([name, *values])


def format_text(report: Mapping[str, Any]) -> str:
    """Return the report for the terminal: the figures as a table, the problems, and the verdict."""
    lines = ["", f"{'milliseconds':<28}{'count':>8}{'per second':>12}" + "".join(f"{name:>9}" for name in FIGURES)]
    for name, figures in (report["calls"] | report["moves"]).items():
        lines.append(
            f"{name:<28}{figures['count']:>8}{figures['per_second']:>12.1f}"
            + "".join(f"{NO_VALUE if figures[key] is None else format(figures[key], '.1f'):>9}" for key in FIGURES)
        )
    if any(None in figures.values() for figures in (report["calls"] | report["moves"]).values()):
        lines.append(TOO_FEW_VALUES)
    lines.append("")
    for game, outcomes in report["games"].items():
        lines.append(f"{game}: " + ", ".join(f"{count} {outcome}" for outcome, count in outcomes.items()))
    for errors, when in ((report["errors"], ""), (report["late_errors"], " after the run time")):
        lines += [
            f"{error['rpc']} failed {pluralize(error['count'], 'time')}{when}: {error['reason']}" for error in errors
        ]
    lines.append(format_contention(report))
    lines.append(format_replays(report))
    problems = [*(f"{game}: {problem}" for game, problem in report["replays"]["wrong"].items()), *report["faults"]]
    lines += problems[:MAX_PROBLEMS_SHOWN]
    if len(problems) > MAX_PROBLEMS_SHOWN:
        lines.append(f"… and {len(problems) - MAX_PROBLEMS_SHOWN} more in the report")
    if warning := report["generator"]["warning"]:
        lines.append(f"Warning: {warning}")
    lines.append("Passed." if report["passed"] else "FAILED. " + " ".join(report["failures"]))
    return "\n".join(lines)
