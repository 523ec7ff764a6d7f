"""The memory that a game takes in the store, as the server reports it."""

import random
from typing import Any, Final

import pytest

from engine.game import seats_for
from service.store import Store
from service.store.keys import game_keys
from tests.support.repositories import KINDS, create, play, repository

pytestmark = pytest.mark.one_store  # allocators round up in different ways

FINISHED_BYTES: Final = {"soda_jerk": 2800, "soda_smugglers": 2800, "juices": 4000}
GAMES: Final = [
    (name, number, seats)
    for name, kind in KINDS.items()
    for number, preset in enumerate(kind.game.presets)
    for seats in seats_for(kind.game, preset.options)
]


def stored_bytes(raw: Any, game_id: str) -> int:
    """Return the memory of a game: its only key, with its name and everything that the server needs for it."""
    assert raw.keys(f"*{game_id}*") == [game_keys(game_id).game.encode()]
    return int(raw.memory_usage(game_keys(game_id).game, samples=0))


def new_bytes(seats: int) -> int:
    """Return how much a new game may take."""
    return 1200 if seats <= 10 else 1300


@pytest.mark.parametrize(("name", "preset", "seats"), GAMES)
def test_a_new_game_is_small(game_store: Store, raw: Any, name: str, preset: int, seats: int) -> None:
    games, kind = repository(game_store), KINDS[name]
    options = kind.game.presets[preset].options

    sizes = [stored_bytes(raw, create(games, kind, options, seats, seed).game_id) for seed in range(10)]

    assert max(sizes) <= new_bytes(seats)


@pytest.mark.parametrize(("name", "preset", "seats"), [game for game in GAMES if game[2] <= 10])
def test_a_finished_game_is_small_with_its_log(game_store: Store, raw: Any, name: str, preset: int, seats: int) -> None:
    games, kind = repository(game_store), KINDS[name]
    options = kind.game.presets[preset].options

    finished = play(games, create(games, kind, options, seats, seed=1), random.Random(1))

    assert finished.finished
    assert stored_bytes(raw, finished.game_id) <= FINISHED_BYTES[name]


def test_the_end_of_a_game_frees_most_of_its_memory(game_store: Store, raw: Any) -> None:
    games, kind = repository(game_store), KINDS["soda_jerk"]
    rng = random.Random(1)
    game = create(games, kind, kind.game.presets[0].options, 4, seed=1)
    before = 0
    while game.awaiting:
        before, game = stored_bytes(raw, game.game_id), play(games, game, rng, moves=1)

    assert stored_bytes(raw, game.game_id) < before / 2


def test_a_tombstone_is_smaller_than_any_game(game_store: Store, raw: Any) -> None:
    games, kind = repository(game_store), KINDS["juices"]
    game = create(games, kind, kind.game.presets[0].options, 4, seed=1)

    game_store.games.delete(game.game_id, tombstone_ttl_ms=60_000, timeout=10)

    assert stored_bytes(raw, game.game_id) <= 200
