"""Limits that a run must keep: parsed from the options and compared with the measurements."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from clients.loadtest.recorder import MOVE
from clients.strategies import GREEDY

FIGURES: Final = ("p50", "p90", "p95", "p99", "p99.9", "max")
"""The figures reported for each name, in milliseconds."""

ERRORS: Final = "errors"

CALLS: Final = (
    "ListGameKinds", "NewGame", "WatchGame", "ApplyMove", "LegalMoves", "GetGame", "Score", "GetHistory"
)  # fmt: skip
"""The RPCs that a load test calls."""

NAMES: Final = (*CALLS, MOVE, *(f"{MOVE} {game}" for game in GREEDY), ERRORS)
"""The names that can have a limit."""


@dataclass(frozen=True)
class Limit:
    """The maximum of a figure.

    Attributes:
        name: one of `NAMES`.
        figure: one of `FIGURES`; empty for errors.
        maximum: milliseconds; for errors, percent of all calls.
    """

    name: str
    figure: str
    maximum: float

    def __str__(self) -> str:
        return " ".join(filter(None, (self.name, self.figure, f"{self.maximum:g}")))

    def measured(self, figures: Mapping[str, Mapping[str, Any]], errors_percent: float) -> float | None:
        """Return the measured value, or None if nothing was measured."""
        if self.name == ERRORS:
            return errors_percent
        return figures[self.name][self.figure] if self.name in figures else None


def parse_limits(text: str) -> Sequence[Limit]:
    """Parse limits such as `ApplyMove p99 100, errors 0.1`.

    Raises:
        ValueError: the text is invalid.
    """
    limits = []
    for part in filter(None, map(str.strip, text.split(","))):
        found = re.fullmatch(
            r"(?P<name>.+?)(?: (?P<figure>p[0-9.]+|max))? (?P<maximum>[0-9]+(?:\.[0-9]+)?)(?: ?ms| ?%)?", part
        )
        if not found or (found["figure"] not in FIGURES and found["name"] != ERRORS):
            raise ValueError(
                f"{part!r} is not a limit; expected 'NAME FIGURE MILLISECONDS' or 'errors PERCENT', for example "
                f"'ApplyMove p99 100', where FIGURE is one of {', '.join(FIGURES)}"
            )
        if found["name"] not in NAMES:
            raise ValueError(f"{found['name']!r} cannot have a limit; expected one of {', '.join(NAMES)}")
        limits.append(Limit(found["name"], found["figure"] or "", float(found["maximum"])))
    return limits
