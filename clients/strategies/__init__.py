"""Strategies that choose a legal move from the view of a seat; the demo and load tests use them.

To add a kind of game, add a module with a `choose` function and an entry in `GREEDY`.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from clients.strategies import juices, soda_jerk, soda_smugglers
from sodafountain.v1.game_pb2 import GameState, LegalMove

Choose: TypeAlias = Callable[[GameState, random.Random], LegalMove]
"""A function that chooses one of the legal moves of a state; equal random states give equal moves."""

GREEDY: Final[Mapping[str, Choose]] = {
    "soda_jerk": soda_jerk.choose,
    "soda_smugglers": soda_smugglers.choose,
    "juices": juices.choose,
}
"""Greedy strategies by kind of game, as the fields of `Options` name it: the best move now, with some noise."""


def choose_randomly(state: GameState, rng: random.Random) -> LegalMove:
    """Return a random legal move of any kind of game."""
    return rng.choice(state.legal_moves)


def strategy(name: str, game: str) -> Choose:
    """Return the strategy with this name, `greedy` or `random`, for a kind of game."""
    return GREEDY[game] if name == "greedy" else choose_randomly
