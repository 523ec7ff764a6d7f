"""Limits that a run must keep: read from its options, and held against what was measured."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clients.loadtest.recorder import MOVE
from clients.strategies import GREEDY

FIGURES: Final = ("p50", "p90", "p95", "p99", "p99.9", "max")
"""What is told of each name, in milliseconds: percentiles, and the longest."""

ERRORS: Final = "errors"

CALLS: Final = (
    "ListGameKinds", "NewGame", "WatchGame", "ApplyMove", "LegalMoves", "GetGame", "Score", "GetHistory"
)  # fmt: skip
"""The calls that a table makes."""

NAMES: Final = (*CALLS, MOVE, *(f"{MOVE} {game}" for game in GREEDY), ERRORS)
"""What can be limited."""


@dataclass(frozen=True)
class Limit:
    """The most that a figure may be.

    Attributes:
        name: one of `NAMES`.
        figure: one of `FIGURES`; empty for errors.
        most: milliseconds; of errors, percent of all calls.
    """

    name: str
    figure: str
    most: float

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.figure, f"{self.most:g}")))

    def measured(self, figures: Mapping[str, Mapping[str, Any]], errors_percent: float) -> float | None:
        """What was measured; None where nothing was."""
        if self.name == ERRORS:
            return errors_percent
        return figures[self.name][self.figure] if self.name in figures else None


def limits_of(text: str) -> Sequence[Limit]:
    """Reads limits such as `ApplyMove p99 100, errors 0.1`.

    Raises:
        ValueError: they are none.
    """
    limits = []
    for part in filter(None, map(str.strip, text.split(","))):
        found = re.fullmatch(
            r"(?P<name>.+?)(?: (?P<figure>p[0-9.]+|max))? (?P<most>[0-9]+(?:\.[0-9]+)?)(?: ?ms| ?%)?", part
        )
        if not found or (found["figure"] not in FIGURES and found["name"] != ERRORS):
            raise ValueError(
                f"{part!r} is not a limit such as 'ApplyMove p99 100' or 'errors 0.1'; figures are {', '.join(FIGURES)}"
            )
        if found["name"] not in NAMES:
            raise ValueError(f"there is no {found['name']!r} to limit; there are {', '.join(NAMES)}")
        limits.append(Limit(found["name"], found["figure"] or "", float(found["most"])))
    return limits
