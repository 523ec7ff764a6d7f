"""The counts of quotas, read directly from the store, and the calls that quotas make to it."""

import secrets
from typing import Any

from service.observability.metrics import Metrics
from service.store.keys import owner_keys


def new_owner() -> str:
    """Return a new name of an API key."""
    return f"app-{secrets.token_hex(6)}"


def counted_games(raw: Any, owner: str) -> tuple[int, int]:
    """Return the number of an owner's live games, and of those created in the window."""
    live, created = owner_keys(owner)
    return raw.zcard(live), raw.zcard(created)


def store_calls(metrics: Metrics) -> dict[str, int]:
    """Return the number of calls to the store, by operation."""
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return {
        sample.labels["operation"]: int(sample.value)
        for sample in samples
        if sample.name == "sodafountain_store_seconds_count"
    }


def age_counts(raw: Any, owner: str, ms: int) -> None:
    """Make all counts of an owner older, as if time had passed."""
    for key in owner_keys(owner):
        if scores := {game: score - ms for game, score in raw.zrange(key, 0, -1, withscores=True)}:
            raw.zadd(key, scores)
