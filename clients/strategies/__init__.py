"""How programs that know the rules a little choose among the legal moves, by nothing but what their seat sees.

The demo and load tests play by them. A kind of game adds a module here with a `choose`, and its line in `GREEDY`.
"""

import random
from collections.abc import Callable, Mapping
from typing import Final, TypeAlias

from clients.strategies import juices, soda_jerk, soda_smugglers
from sodafountain.v1.game_pb2 import GameState, LegalMove

Choose: TypeAlias = Callable[[GameState, random.Random], LegalMove]
"""Chooses a legal move of a state that lists some; the same again for the same chance."""

GREEDY: Final[Mapping[str, Choose]] = {
    "soda_jerk": soda_jerk.choose,
    "soda_smugglers": soda_smugglers.choose,
    "juices": juices.choose,
}
"""By kind of game, as the fields of `Options` name it: takes what seems best now, with a whim."""


def by_chance(state: GameState, chance: random.Random) -> LegalMove:
    """Takes any legal move, of any kind of game."""
    return chance.choice(state.legal_moves)


def strategy(name: str, game: str) -> Choose:
    """Finds a strategy of a kind of game by its name, `greedy` or `random`."""
    return GREEDY[game] if name == "greedy" else by_chance
