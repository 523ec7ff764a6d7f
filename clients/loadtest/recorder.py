"""Takes down what happened in a run: how long things took, what failed, which games ended how."""

import math
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from hdrh.histogram import HdrHistogram

import sodafountain

LONGEST_US: Final = 3_600_000_000
DIGITS: Final = 3
# The timeline has many histograms, and is looked at and not quoted.
LONGEST_SLICE_US: Final = 120_000_000
SLICE_DIGITS: Final = 2

MOVE: Final = "whole move"
LATE: Final = "late"


def histogram() -> HdrHistogram:
    """A histogram of spans from a microsecond to an hour, exact to three digits."""
    return HdrHistogram(1, LONGEST_US, DIGITS)


def reason_of(error: sodafountain.SodaFountainError) -> str:
    """Why a call failed, in a word: the service's reason, or the name of what the client found."""
    return type(error).__name__ if error.reason is None else str(error.reason)


class Recorder:
    """What one process takes down; or, of a master, what all its workers have.

    Spans come in as two times of the monotonic clock, in seconds, and are in microseconds in the histograms. Measured
    is what began in time, whenever it ended: else a service that stalls at the end would get away with it. `take` and
    `add` carry what one process took down to another, in parts.

    Attributes:
        began: when the run did.
        until: when its time was up; infinite before that.
        slice_seconds: how long the timeline's slices are.
        spans: a histogram for each name: an RPC, `MOVE`, `MOVE` and a game's name, `LATE`.
        slices: a histogram of whole moves for each slice of time, by its number.
        counts: how many calls failed, by ("error", RPC, reason), of those that began when the time was up by
            ("late error", RPC, reason); how many games ended how, by ("game", name, how).
        games: the ids of the games that were played to their end.
        faults: what should never be, a sentence each.
        samples: (process, second of the run, CPU in percent of a core, longest delay of the loop in seconds).
    """

    def __init__(self) -> None:
        self.began, self.until = math.inf, -math.inf
        self.slice_seconds = 1.0
        self.clear()

    def begin(self, now: float, slice_seconds: float) -> None:
        """Begins a run with nothing taken down."""
        self.clear()
        self.began, self.until, self.slice_seconds = now, math.inf, slice_seconds

    @property
    def is_under_way(self) -> bool:
        """Whether a run has begun, and its time is not up."""
        return self.until == math.inf

    def measures(self, began: float) -> bool:
        """Tells whether what began then is measured."""
        return self.began <= began < self.until

    def clear(self) -> None:
        """Forgets everything."""
        self.spans: dict[str, HdrHistogram] = {}
        self.slices: dict[int, HdrHistogram] = {}
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.games: list[str] = []
        self.faults: list[str] = []
        self.samples: list[tuple[str, float, float, float]] = []

    def took(self, name: str, began: float, ended: float) -> None:
        """Takes down how long something took."""
        if self.measures(began):
            if name not in self.spans:
                self.spans[name] = histogram()
            self.spans[name].record_value(microseconds(ended - began, LONGEST_US))

    def moved(self, game: str, began: float, ended: float) -> None:
        """Takes down a whole move."""
        if self.measures(began):
            self.took(MOVE, began, ended)
            self.took(f"{MOVE} {game}", began, ended)
            number = int((ended - self.began) / self.slice_seconds)
            if number not in self.slices:
                self.slices[number] = HdrHistogram(1, LONGEST_SLICE_US, SLICE_DIGITS)
            self.slices[number].record_value(microseconds(ended - began, LONGEST_SLICE_US))

    def failed(self, rpc: str, began: float, error: sodafountain.SodaFountainError) -> None:
        """Counts a call that failed."""
        self.counts["error" if self.measures(began) else "late error", rpc, reason_of(error)] += 1

    def ended(self, game: str, game_id: str, how: str) -> None:
        """Counts a game; `how` is finished, abandoned (by the service) or left (by the load test)."""
        if how == "finished":
            self.games.append(game_id)
            how = "finished" if self.is_under_way else "finished after the time"
        self.counts["game", game, how] += 1

    def fault(self, what: str) -> None:
        """Takes down what should never be."""
        self.faults.append(what)

    def take(self) -> dict[str, Any]:
        """Gives what was taken down since the last time, of plain values that travel, and forgets it."""
        taken = {
            "spans": {name: spans.encode() for name, spans in self.spans.items()},
            "slices": [(number, spans.encode()) for number, spans in self.slices.items()],
            "counts": [(*key, count) for key, count in self.counts.items()],
            "games": self.games,
            "faults": self.faults,
            "samples": self.samples,
        }
        self.clear()
        return taken

    def add(self, taken: dict[str, Any]) -> None:
        """Adds what another process took down."""
        for name, encoded in taken["spans"].items():
            self.spans.setdefault(name, histogram()).decode_and_add(encoded)
        for number, encoded in taken["slices"]:
            self.slices.setdefault(number, HdrHistogram(1, LONGEST_SLICE_US, SLICE_DIGITS)).decode_and_add(encoded)
        for what, where, why, count in taken["counts"]:
            self.counts[what, where, why] += count
        self.games.extend(taken["games"])
        self.faults.extend(taken["faults"])
        self.samples.extend(tuple(sample) for sample in taken["samples"])

    def counted(self, what: str) -> Iterator[tuple[str, str, int]]:
        """Gives the counts of errors or games: where, why or how, and how many."""
        for (kind, where, why), count in sorted(self.counts.items()):
            if kind == what:
                yield where, why, count


def microseconds(seconds: float, longest: int) -> int:
    """A span as a histogram takes it."""
    return min(max(int(seconds * 1_000_000), 1), longest)
