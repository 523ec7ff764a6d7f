"""Makes of what was taken down what the report says."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from hdrh.histogram import HdrHistogram

from clients.loadtest.limits import FIGURES, limits_of
from clients.loadtest.recorder import LATE, MOVE, Recorder
from clients.loadtest.formatting import DASH, several

# Where the generator is the bottleneck: its busiest process needs most of a core on average, or seats came so late to
# their moves, by no fault of the service, that it shows in the figures.
BUSY_PERCENT: Final = 85.0
LATE_MS: Final = 50.0
LATE_SHARE: Final = 0.25

OPTIONS: Final = (
    "num_users", "spawn_rate", "run_time", "finish_within", "mix", "seats", "spectators", "asking", "think", "strategy",
    "run_seed", "fixed_deals", "secure", "metrics"
)  # fmt: skip

# How many values a percentile needs at least: with fewer there is none beyond it, and it is just the largest.
LEAST: Final = {"p99": 100, "p99.9": 1000}


@dataclass(frozen=True)
class Outcome:
    """What is known at the end beside what was taken down.

    Attributes:
        target: the service's address.
        seconds: how long was measured.
        options: what the run was told.
        lost_races: how many commits another move came before; None where the service's metrics were not to be read.
        replays: what is wrong with games, by id.
        exceptions: mistakes of the load test's own.
        ended: when it ended, for people.
    """

    target: str
    seconds: float
    options: Mapping[str, Any]
    lost_races: int | None
    replays: Mapping[str, str]
    exceptions: Sequence[str] = ()
    ended: str = ""


def progress(recorder: Recorder, seconds: float) -> str:
    """Tells in a line how a run goes."""
    moves, calls = recorder.spans.get(MOVE), recorder.spans.get("ApplyMove")
    finished = sum(count for _, how, count in recorder.counted("game") if how == "finished")
    failed = sum(count for what in ("error", "late error") for _, _, count in recorder.counted(what))
    cpu = [sample[2] for sample in recorder.samples[-4:]]
    parts = [f"{int(seconds) // 60}:{int(seconds) % 60:02}", several(finished, "game") + " finished"]
    if moves and calls:
        parts += [
            several(moves.get_total_count(), "move"),
            f"ApplyMove p50 {percentile(calls, 50):.1f} ms, p99 {in_progress(calls)}",
            f"whole move p99 {in_progress(moves)}",
        ]
    parts += [several(failed, "error")]
    if cpu:
        parts += [f"generator {max(cpu):.0f} % of a core"]
    return " | ".join(parts)


def in_progress(spans: HdrHistogram) -> str:
    """Tells p99, once there are values enough for it."""
    return f"{percentile(spans, 99):.1f} ms" if spans.get_total_count() >= LEAST["p99"] else DASH


def percentile(spans: HdrHistogram, percent: float) -> float:
    """A percentile in milliseconds."""
    return float(spans.get_value_at_percentile(percent)) / 1000


def figures(spans: HdrHistogram, seconds: float) -> dict[str, Any]:
    """What is told of a name: how many, how many a second, and percentiles in milliseconds."""
    count = spans.get_total_count()
    told: dict[str, Any] = {"count": count, "per_second": round(count / seconds, 2) if seconds else 0.0}
    for figure in FIGURES:
        percent = 100.0 if figure == "max" else float(figure.removeprefix("p"))
        told[figure] = round(percentile(spans, percent), 2)
    return told


def borne(told: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a name that its count can bear; the others are None."""
    return {figure: None if told["count"] < LEAST.get(figure, 0) else value for figure, value in told.items()}


def summary(recorder: Recorder, outcome: Outcome) -> dict[str, Any]:
    """Brings a run together in values that JSON has."""
    named = {name: figures(spans, outcome.seconds) for name, spans in sorted(recorder.spans.items())}
    late = named.pop(LATE, None)
    moves = {name: named.pop(name) for name in list(named) if name.startswith(MOVE)}
    errors, late_errors = failed_calls(recorder, "error"), failed_calls(recorder, "late error")
    failed = sum(error["count"] for error in errors)
    calls = failed + sum(told["count"] for told in named.values())
    percent = 100 * failed / calls if calls else 0.0
    games: dict[str, dict[str, int]] = {}
    for game, how, count in recorder.counted("game"):
        games.setdefault(game, {})[how] = count
    limits = []
    for limit in limits_of(outcome.options["limits"]):
        measured = limit.measured(named | moves, percent)
        limits.append(
            {"limit": str(limit), "measured": measured, "held": measured is not None and measured <= limit.most}
        )
    told: dict[str, Any] = {
        "target": outcome.target,
        "ended": outcome.ended,
        "seconds": round(outcome.seconds, 1),
        "options": {name: outcome.options.get(name) for name in OPTIONS},
        "calls": {name: borne(figures) for name, figures in named.items()},
        "moves": {name: borne(figures) for name, figures in moves.items()},
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
        "faults": [*recorder.faults, *(f"The load test itself failed: {what}" for what in outcome.exceptions)],
        "limits": limits,
        "timeline": timeline(recorder, outcome.seconds),
    }
    told["failures"] = failures(told)
    told["passed"] = not told["failures"]
    return told


def failed_calls(recorder: Recorder, what: str) -> list[dict[str, Any]]:
    """Lists the calls that failed, by RPC and reason: each an "error" of the measured time, or a "late error"."""
    return [{"rpc": rpc, "reason": reason, "count": count} for rpc, reason, count in recorder.counted(what)]


def generator(recorder: Recorder, late: Mapping[str, Any] | None, moves: Mapping[str, Any] | None) -> dict[str, Any]:
    """Tells what the load generator itself took, and whether it was what made things slow."""
    processes = {}
    for process in sorted({sample[0] for sample in recorder.samples}):
        cpu = [sample[2] for sample in recorder.samples if sample[0] == process]
        behind = [sample[3] for sample in recorder.samples if sample[0] == process]
        processes[process] = {
            "cpu_mean_percent": round(sum(cpu) / len(cpu), 1),
            "cpu_max_percent": max(cpu),
            "longest_delay_ms": round(1000 * max(behind), 1),
        }
    warning = ""
    busiest = max((told["cpu_mean_percent"] for told in processes.values()), default=0.0)
    if busiest > BUSY_PERCENT:
        warning = f"The generator was the bottleneck: a process of it took {busiest:.0f} % of a core on average."
    elif late and moves and late["p99"] > max(LATE_MS, LATE_SHARE * moves["p99"]):
        warning = (
            f"The generator was the bottleneck: one in a hundred moves began {late['p99']:.0f} ms late for want of its "
            "own time, and the figures have that in them."
        )
    if warning:
        warning += " Use more processes (--processes) or machines, or play fewer tables."
    return {"processes": processes, "late": late and borne(late), "bottleneck": bool(warning), "warning": warning}


def timeline(recorder: Recorder, seconds: float) -> list[dict[str, float | None]]:
    """Tells of each slice of time how many whole moves there were and how long they took; not of a last, short one.

    Where there were none, nothing took any time, and p50 and p99 are None.
    """
    told: list[dict[str, float | None]] = []
    for number in range(int(seconds // recorder.slice_seconds)):
        spans = recorder.slices.get(number)
        told.append(
            {
                "second": round(number * recorder.slice_seconds, 1),
                "moves_per_second": round(spans.get_total_count() / recorder.slice_seconds, 2) if spans else 0.0,
                "p50": round(percentile(spans, 50), 2) if spans else None,
                "p99": round(percentile(spans, 99), 2) if spans else None,
            }
        )
    return told


def failures(told: Mapping[str, Any]) -> list[str]:
    """Tells in sentences why a run has failed; none when it has not."""
    found = []
    for limit in told["limits"]:
        if limit["measured"] is None:
            found.append(f"Of the limit {limit['limit']} nothing was measured.")
        elif not limit["held"]:
            found.append(f"The limit {limit['limit']} was exceeded: {limit['measured']:g}.")
    if told["replays"]["wrong"]:
        wrong, games = len(told["replays"]["wrong"]), told["replays"]["games"]
        found.append(f"{several(wrong, 'game')} of {games} did not hold when replayed.")
    if told["faults"]:
        found.append(f"{several(len(told['faults']), 'thing')} happened that never should; the report lists them all.")
    if not told["replays"]["games"]:
        found.append("No game was played to its end.")
    if abandoned := sum(games.get("abandoned", 0) for games in told["games"].values()):
        found.append(
            f"{several(abandoned, 'game was', 'games were')} abandoned: calls failed for good, or there was no end."
        )
    return found
