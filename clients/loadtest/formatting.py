"""Puts what is told of a run into words."""

from collections.abc import Mapping
from typing import Any, Final

DASH: Final = "\N{EN DASH}"
"""Stands for a figure that is not told."""

FEW: Final = f"{DASH}: too few values for that: p99 needs 100, p99.9 needs 1,000."


def several(count: int, one: str, many: str = "") -> str:
    """A number of things: `1 game`, `2 games`; `many` where an s does not make more of them."""
    return f"{count} {one if count == 1 else many or f'{one}s'}"


def replays(told: Mapping[str, Any]) -> str:
    """Tells how many games hold against their histories."""
    return f"{several(told['replays']['games'], 'game')} replayed, {len(told['replays']['wrong'])} wrong."


def contention(told: Mapping[str, Any]) -> str:
    """Tells how often moves met."""
    races = told["contention"]["lost_races"]
    if races is not None:
        met = f"{several(races, 'commit')} lost a race and had to be tried again"
    elif told["options"]["metrics"]:
        met = "how often moves met is not known, since the service's metrics could not be read"
    else:
        met = "how often moves met is not known, for want of --metrics"
    refused = several(told["contention"]["refused"], "move was", "moves were")
    return f"Contention: {met}; {refused} refused for it."
