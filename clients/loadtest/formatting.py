"""Format parts of the report as text."""

from collections.abc import Mapping
from typing import Any, Final

NO_VALUE: Final = "\N{EN DASH}"
"""Replaces a figure that is not shown."""

TOO_FEW_VALUES: Final = f"{NO_VALUE}: too few values; p99 needs 100, p99.9 needs 1,000."


def pluralize(count: int, one: str, many: str = "") -> str:
    """Return a count with its noun: `1 game`, `2 games`; pass `many` for irregular plurals."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def format_replays(report: Mapping[str, Any]) -> str:
    """Return how many games were verified by a replay, and how many failed."""
    games, failed = report["replays"]["games"], len(report["replays"]["wrong"])
    return f"{pluralize(games - failed, 'game')} verified, {failed} failed."


def format_contention(report: Mapping[str, Any]) -> str:
    """Return how many commits lost a race and how many moves were rejected for contention."""
    races = report["contention"]["lost_races"]
    if races is not None:
        lost = f"{pluralize(races, 'commit')} lost a race and had to be retried"
    elif report["options"]["metrics"]:
        lost = "lost races are unknown because the service's metrics could not be read"
    else:
        lost = "lost races are unknown because --metrics is not set"
    rejected = pluralize(report["contention"]["refused"], "move was", "moves were")
    return f"Contention: {lost}; {rejected} rejected with CONTENTION."
