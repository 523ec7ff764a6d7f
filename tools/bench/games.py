"""Games with precomputed moves, so that a load generator does not have to fetch legal moves."""

import random
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, Final, NamedTuple

from engine.game import AnyGame, seats_for
from engine.rng import SEED_BYTES, Rng
from service.games import Kind, all_kinds
from service.translation import Translation, all_translations
from sodafountain.v1.game_pb2 import Move, Options

STAGES: Final = {"early": 0.1, "middle": 0.5, "late": 0.9}
"""The progress of a game at each stage, as a share of its moves."""


class Variant(NamedTuple):
    """A preset of a kind of game, with the maximum number of seats."""

    name: str
    kind: Kind
    translation: Translation
    options: Any
    seats: int


class Script(NamedTuple):
    """A complete game: its parameters and all of its moves."""

    options: Options
    seats: int
    seed: bytes
    moves: tuple[tuple[int, Move], ...]


def variants() -> Iterator[Variant]:
    """Yield each preset of each game."""
    kinds = all_kinds()
    translations = all_translations(kinds)
    for name, kind in kinds.items():
        for number, preset in enumerate(kind.game.presets):
            seats = seats_for(kind.game, preset.options)[-1]
            yield Variant(f"{name}/{number}", kind, translations[name], preset.options, seats)


@lru_cache(maxsize=1024)
def script(variant: Variant, number: int) -> Script:
    """Play a random game; equal numbers give equal games."""
    kind = variant.kind
    moves = tuple(
        (seat, variant.translation.move_message(move))
        for _, seat, move in playout(kind.game, variant.options, variant.seats, number)
    )
    return Script(variant.translation.options_message(variant.options), variant.seats, seed(number), moves)


def playout(game: AnyGame, options: Any, seats: int, number: int) -> Iterator[tuple[Any, int, Any]]:
    """Play a random game; yield each state before its end, with the seat that moves and its move."""
    rng = random.Random(number)  # noqa: S311 - reproducible
    state, _ = game.new_game(options, seats, Rng(seed(number)))
    while awaited := game.to_act(state):
        seat = rng.choice(awaited)
        move = rng.choice(game.legal_moves(state, seat))
        yield state, seat, move
        state, _ = game.apply(state, seat, move)


def seed(number: int) -> bytes:
    """Return the seed for a number."""
    return number.to_bytes(SEED_BYTES, "big")
