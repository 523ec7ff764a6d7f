"""A look at what counts against a quota, behind the store's back, and at what the store is asked for it."""

import secrets
from typing import Any

from service.metrics import Metrics
from service.store.layout import keys_of_owner


def new_owner() -> str:
    """Draws the name of an API key that made no game."""
    return f"app-{secrets.token_hex(6)}"


def counted_games(raw: Any, owner: str) -> tuple[int, int]:
    """Tells how many games of an owner count as live, and how many as made in the window."""
    live, made = keys_of_owner(owner)
    return raw.zcard(live), raw.zcard(made)


def store_calls(metrics: Metrics) -> dict[str, int]:
    """Tells which questions were asked of the store, and how often."""
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return {
        sample.labels["operation"]: int(sample.value)
        for sample in samples
        if sample.name == "sodafountain_store_seconds_count"
    }


def age_counts(raw: Any, owner: str, ms: int) -> None:
    """Makes all that is counted for an owner so much older, as if time had passed."""
    for key in keys_of_owner(owner):
        if scores := {game: score - ms for game, score in raw.zrange(key, 0, -1, withscores=True)}:
            raw.zadd(key, scores)
