"""Games whose course is known beforehand, so that a load generator need not ask what is legal."""

import random
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from engine.catalogue import GAMES
from engine.game import AnyGame
from engine.rng import Rng
from service.kinds import Kind, all_kinds
from sodafountain.v1.game_pb2 import Move, Options

STAGES: Final = {"early": 0.1, "middle": 0.5, "late": 0.9}
"""How far a game has gone at each stage, as a share of its moves."""


class Script(NamedTuple):
    """A whole game: how to make it, and every move of it."""

    kind: Kind
    options: Options
    seats: int
    seed: bytes
    moves: tuple[tuple[int, Move], ...]


class Variant(NamedTuple):
    """A way to play a kind of game."""

    name: str
    kind: Kind
    options: Any
    seats: int


def variants() -> Iterator[Variant]:
    """Lists each preset of each game with the most seats it takes."""
    for name, kind in all_kinds().items():
        for number, preset in enumerate(kind.game.presets):
            yield Variant(f"{name}/{number}", kind, preset, kind.game.about.seats[-1])


def script(variant: Variant, number: int) -> Script:
    """Plays a game out by chance; the same number gives the same game."""
    seed = number.to_bytes(32, "big")
    moves = []
    for seat, move in playout(variant.kind.game, variant.options, variant.seats, number):
        moves.append((seat, variant.kind.move(move)))
    return Script(variant.kind, variant.kind.options(variant.options), variant.seats, seed, tuple(moves))


def playout(game: AnyGame, options: Any, seats: int, number: int) -> Iterator[tuple[int, Any]]:  # noqa: ANN401 - the game's own
    """Plays a game out by chance, move by move."""
    chance = random.Random(number)  # noqa: S311 - the same number gives the same game
    state, _ = game.new_game(options, seats, Rng(number.to_bytes(32, "big")))
    while awaited := game.to_act(state):
        seat = chance.choice(awaited)
        move = chance.choice(game.legal_moves(state, seat))
        yield seat, move
        state, _ = game.apply(state, seat, move)


__all__ = ["GAMES", "STAGES", "Script", "Variant", "playout", "script", "variants"]
