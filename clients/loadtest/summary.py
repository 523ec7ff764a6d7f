"""Compute the content of the report from the measurements of a run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hdrh.histogram import HdrHistogram

from clients.loadtest.formatting import NO_VALUE, pluralize
from clients.loadtest.limits import FIGURES, parse_limits
from clients.loadtest.recorder import LATE, MOVE, Recorder

# The generator is the bottleneck if its busiest process uses this share of a core on average, or if the p99 of the
# delay of moves by the generator exceeds both this time and this share of the p99 of whole moves.
BUSY_PERCENT: Final = 85.0
LATE_MS: Final = 50.0
LATE_SHARE: Final = 0.25

OPTIONS: Final = (
    "num_users", "spawn_rate", "run_time", "finish_within", "mix", "seats", "spectators", "asking", "think", "strategy",
    "run_seed", "fixed_deals", "secure", "allow_insecure", "metrics"
)  # fmt: skip

# With fewer values than this, no value lies beyond the percentile, and it is equal to the maximum.
MIN_COUNTS: Final = {"p99": 100, "p99.9": 1000}


@dataclass(frozen=True)
class Outcome:
    """The results of a run that are not measurements.

    Attributes:
        target: the address of the service.
        seconds: the length of the measured time.
        options: the options of the run.
        lost_races: how many commits lost a race; None if the service's metrics are not available.
        replays: the problems of replayed games, by game id.
        exceptions: unexpected exceptions of the load test itself.
        ended: the time of the end, formatted for people.
    """

    target: str
    seconds: float
    options: Mapping[str, Any]
    lost_races: int | None
    replays: Mapping[str, str]
    exceptions: Sequence[str] = ()
    ended: str = ""


def format_progress(recorder: Recorder, seconds: float) -> str:
    """Return the state of a run in one line."""
    moves, calls = recorder.spans.get(MOVE), recorder.spans.get("ApplyMove")
    finished = sum(count for _, outcome, count in recorder.counts_of("game") if outcome == "finished")
    failed = sum(count for kind in ("error", "late error") for _, _, count in recorder.counts_of(kind))
    cpu = [sample[2] for sample in recorder.samples[-4:]]
    parts = [f"{int(seconds) // 60}:{int(seconds) % 60:02}", pluralize(finished, "game") + " finished"]
    if moves and calls:
        parts += [
            pluralize(moves.get_total_count(), "move"),
            f"ApplyMove p50 {percentile(calls, 50):.1f} ms, p99 {format_p99(calls)}",
            f"whole move p99 {format_p99(moves)}",
        ]
    parts += [pluralize(failed, "error")]
    if cpu:
        parts += [f"generator {max(cpu):.0f} % of a core"]
    return " | ".join(parts)


def format_p99(spans: HdrHistogram) -> str:
    """Return p99 in milliseconds if there are enough values."""
    return f"{percentile(spans, 99):.1f} ms" if spans.get_total_count() >= MIN_COUNTS["p99"] else NO_VALUE


def percentile(spans: HdrHistogram, percent: float) -> float:
    """Return a percentile in milliseconds."""
    return float(spans.get_value_at_percentile(percent)) / 1000


def figures_of(spans: HdrHistogram, seconds: float) -> dict[str, Any]:
    """Return the figures of a histogram: count, count per second, and percentiles in milliseconds."""
    count = spans.get_total_count()
    figures: dict[str, Any] = {"count": count, "per_second": round(count / seconds, 2) if seconds else 0.0}
    for figure in FIGURES:
        percent = 100.0 if figure == "max" else float(figure.removeprefix("p"))
        figures[figure] = round(percentile(spans, percent), 2)
    return figures


def reliable(figures: Mapping[str, Any]) -> dict[str, Any]:
    """Replace percentiles by None if there are too few values for them."""
    return {name: None if figures["count"] < MIN_COUNTS.get(name, 0) else value for name, value in figures.items()}


def summarize(recorder: Recorder, outcome: Outcome) -> dict[str, Any]:
    """Return the content of the report as JSON values."""
    calls = {name: figures_of(spans, outcome.seconds) for name, spans in sorted(recorder.spans.items())}
    late = calls.pop(LATE, None)
    moves = {name: calls.pop(name) for name in list(calls) if name.startswith(MOVE)}
    errors, late_errors = failed_calls(recorder, "error"), failed_calls(recorder, "late error")
    failed = sum(error["count"] for error in errors)
    total = failed + sum(figures["count"] for figures in calls.values())
    percent = 100 * failed / total if total else 0.0
    games: dict[str, dict[str, int]] = {}
    for game, how, count in recorder.counts_of("game"):
        games.setdefault(game, {})[how] = count
    limits = []
    for limit in parse_limits(outcome.options["limits"]):
        measured = limit.measured(calls | moves, percent)
        limits.append(
            {"limit": str(limit), "measured": measured, "held": measured is not None and measured <= limit.maximum}
        )
    report: dict[str, Any] = {
        "target": outcome.target,
        "ended": outcome.ended,
        "seconds": round(outcome.seconds, 1),
        "options": {name: outcome.options.get(name) for name in OPTIONS},
        "calls": {name: reliable(figures) for name, figures in calls.items()},
        "moves": {name: reliable(figures) for name, figures in moves.items()},
        "games": games,
        "errors": errors,
        "errors_percent": round(percent, 4),
        "late_errors": late_errors,
        "contention": {
            "refused": sum(error["count"] for error in (*errors, *late_errors) if error["reason"] == "CONTENTION"),
            "lost_races": outcome.lost_races,
        },
        "generator": generator(recorder, late, moves.get(MOVE)),
        "replays": {"games": len(recorder.games), "wrong": dict(outcome.replays)},
        "faults": [*recorder.faults, *(f"The load test itself failed: {error}" for error in outcome.exceptions)],
        "limits": limits,
        "timeline": timeline(recorder, outcome.seconds),
    }
    report["failures"] = failures(report)
    report["passed"] = not report["failures"]
    return report


def failed_calls(recorder: Recorder, kind: str) -> list[dict[str, Any]]:
    """Return the failed calls of a kind, "error" or "late error", by RPC and reason."""
    return [{"rpc": rpc, "reason": reason, "count": count} for rpc, reason, count in recorder.counts_of(kind)]


def generator(recorder: Recorder, late: Mapping[str, Any] | None, moves: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the usage of the load generator's processes, and whether the generator was the bottleneck."""
    processes = {}
    for process in sorted({sample[0] for sample in recorder.samples}):
        cpu = [sample[2] for sample in recorder.samples if sample[0] == process]
        delays = [sample[3] for sample in recorder.samples if sample[0] == process]
        processes[process] = {
            "cpu_mean_percent": round(sum(cpu) / len(cpu), 1),
            "cpu_max_percent": max(cpu),
            "longest_delay_ms": round(1000 * max(delays), 1),
        }
    warning = ""
    busiest = max((process["cpu_mean_percent"] for process in processes.values()), default=0.0)
    if busiest > BUSY_PERCENT:
        warning = f"The generator was the bottleneck: one of its processes used {busiest:.0f} % of a core on average."
    elif late and moves and late["p99"] > max(LATE_MS, LATE_SHARE * moves["p99"]):
        warning = (
            f"The generator was the bottleneck: 1 % of the moves started {late['p99']:.0f} ms late or more because the "
            "generator was busy, and the figures include this delay."
        )
    if warning:
        warning += " Use more processes (--processes), more machines or fewer users."
    return {"processes": processes, "late": late and reliable(late), "bottleneck": bool(warning), "warning": warning}


def timeline(recorder: Recorder, seconds: float) -> list[dict[str, float | None]]:
    """Return rate, p50 and p99 of whole moves for each complete slice of time; p50 and p99 are None without moves."""
    points: list[dict[str, float | None]] = []
    for number in range(int(seconds // recorder.slice_seconds)):
        spans = recorder.slices.get(number)
        points.append(
            {
                "second": round(number * recorder.slice_seconds, 1),
                "moves_per_second": round(spans.get_total_count() / recorder.slice_seconds, 2) if spans else 0.0,
                "p50": round(percentile(spans, 50), 2) if spans else None,
                "p99": round(percentile(spans, 99), 2) if spans else None,
            }
        )
    return points


def failures(report: Mapping[str, Any]) -> list[str]:
    """Return why a run failed, one sentence each; empty if it passed."""
    found = []
    for limit in report["limits"]:
        if limit["measured"] is None:
            found.append(f"The limit {limit['limit']} could not be checked: nothing was measured.")
        elif not limit["held"]:
            found.append(f"The limit {limit['limit']} was exceeded: {limit['measured']:g}.")
    if report["replays"]["wrong"]:
        wrong, games = len(report["replays"]["wrong"]), report["replays"]["games"]
        found.append(f"The replay failed for {wrong} of {pluralize(games, 'game')}.")
    if report["faults"]:
        faults = pluralize(len(report["faults"]), "invariant was", "invariants were")
        found.append(f"{faults} violated; see the report.")
    if not report["replays"]["games"]:
        found.append("No game was finished.")
    if abandoned := sum(games.get("abandoned", 0) for games in report["games"].values()):
        games_were = pluralize(abandoned, "game was", "games were")
        found.append(f"{games_were} abandoned because a call failed permanently or the game did not finish.")
    return found
