"""Record what happens in a run: durations, failed calls, and the outcome of each game."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from hdrh.histogram import HdrHistogram

import sodafountain

MAX_SPAN_US: Final = 3_600_000_000
DIGITS: Final = 3
# The timeline has many histograms, and a chart needs less precision.
MAX_SLICE_SPAN_US: Final = 120_000_000
SLICE_DIGITS: Final = 2

MOVE: Final = "whole move"
LATE: Final = "late"


def new_histogram() -> HdrHistogram:
    """Create a histogram of durations from a microsecond to an hour, with three significant digits."""
    return HdrHistogram(1, MAX_SPAN_US, DIGITS)


def reason_of(error: sodafountain.SodaFountainError) -> str:
    """Return why a call failed: the service's reason, or the name of the client's exception."""
    return type(error).__name__ if error.reason is None else str(error.reason)


class Recorder:
    """The measurements of one process; on a master, of all its workers.

    Methods take start and end times of the monotonic clock, in seconds; histograms are in microseconds. A call that
    started during the measured time is recorded, no matter when it ended: a service that stalls at the end of the run
    must not look fast. `drain` and `merge` transfer measurements between processes.

    Attributes:
        started: when the run started.
        measured_until: when the measured time ended; infinite before that.
        slice_seconds: the length of the timeline's slices.
        spans: a histogram for each name: an RPC, `MOVE`, `MOVE` and a game's name, `LATE`.
        slices: a histogram of whole moves for each slice, by the number of the slice.
        counts: the number of failed calls by ("error", RPC, reason), of those that started after the measured time by
            ("late error", RPC, reason), and of games by ("game", name, outcome).
        games: the commitments of the finished games, in hexadecimal digits, by the id of the game.
        faults: violations of invariants, one sentence each.
        samples: (process, second of the run, CPU in percent of a core, longest delay of the event loop in seconds).
    """

    def __init__(self) -> None:
        self.started, self.measured_until = math.inf, -math.inf
        self.slice_seconds = 1.0
        self.clear()

    def start(self, now: float, slice_seconds: float) -> None:
        """Start a run with no measurements."""
        self.clear()
        self.started, self.measured_until, self.slice_seconds = now, math.inf, slice_seconds

    @property
    def is_measuring(self) -> bool:
        """Whether a run has started and its measured time has not ended."""
        return self.measured_until == math.inf

    def measures(self, started: float) -> bool:
        """Return whether something that started at this time is measured."""
        return self.started <= started < self.measured_until

    def clear(self) -> None:
        """Discard all measurements."""
        self.spans: dict[str, HdrHistogram] = {}
        self.slices: dict[int, HdrHistogram] = {}
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.games: dict[str, str] = {}
        self.faults: list[str] = []
        self.samples: list[tuple[str, float, float, float]] = []

    def record_span(self, name: str, started: float, ended: float) -> None:
        """Record a duration."""
        if self.measures(started):
            if name not in self.spans:
                self.spans[name] = new_histogram()
            self.spans[name].record_value(microseconds(ended - started, MAX_SPAN_US))

    def record_move(self, game: str, started: float, ended: float) -> None:
        """Record a whole move."""
        if self.measures(started):
            self.record_span(MOVE, started, ended)
            self.record_span(f"{MOVE} {game}", started, ended)
            number = int((ended - self.started) / self.slice_seconds)
            if number not in self.slices:
                self.slices[number] = HdrHistogram(1, MAX_SLICE_SPAN_US, SLICE_DIGITS)
            self.slices[number].record_value(microseconds(ended - started, MAX_SLICE_SPAN_US))

    def record_error(self, rpc: str, started: float, error: sodafountain.SodaFountainError) -> None:
        """Count a failed call."""
        self.counts["error" if self.measures(started) else "late error", rpc, reason_of(error)] += 1

    def record_game(self, game: str, game_id: str, commitment: bytes, outcome: str) -> None:
        """Count a game; `outcome` is finished, abandoned (a call failed) or stopped (by the load test)."""
        if outcome == "finished":
            self.games[game_id] = commitment.hex()
            outcome = "finished" if self.is_measuring else "finished late"
        self.counts["game", game, outcome] += 1

    def record_fault(self, fault: str) -> None:
        """Record the violation of an invariant."""
        self.faults.append(fault)

    def drain(self) -> dict[str, Any]:
        """Return the measurements since the last call as plain values, and discard them."""
        recorded = {
            "spans": {name: spans.encode() for name, spans in self.spans.items()},
            "slices": [(number, spans.encode()) for number, spans in self.slices.items()],
            "counts": [(*key, count) for key, count in self.counts.items()],
            "games": self.games,
            "faults": self.faults,
            "samples": self.samples,
        }
        self.clear()
        return recorded

    def merge(self, recorded: dict[str, Any]) -> None:
        """Add the measurements that another process drained."""
        for name, encoded in recorded["spans"].items():
            self.spans.setdefault(name, new_histogram()).decode_and_add(encoded)
        for number, encoded in recorded["slices"]:
            empty = HdrHistogram(1, MAX_SLICE_SPAN_US, SLICE_DIGITS)
            self.slices.setdefault(number, empty).decode_and_add(encoded)
        for kind, name, detail, count in recorded["counts"]:
            self.counts[kind, name, detail] += count
        self.games |= recorded["games"]
        self.faults.extend(recorded["faults"])
        self.samples.extend(tuple(sample) for sample in recorded["samples"])

    def counts_of(self, requested: str) -> Iterator[tuple[str, str, int]]:
        """Yield the counts of a kind: RPC or game, reason or outcome, and the number."""
        for (kind, name, detail), count in sorted(self.counts.items()):
            if kind == requested:
                yield name, detail, count


def microseconds(seconds: float, longest: int) -> int:
    """Convert a duration to microseconds, limited to the range of a histogram."""
    return min(max(int(seconds * 1_000_000), 1), longest)
