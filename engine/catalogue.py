"""The list of games."""

from collections.abc import Mapping
from typing import Final

from engine.codec import PreviousSchema
from engine.game import AnyGame
from engine.juices import JUICES
from engine.soda_jerk import SODA_JERK
from engine.soda_smugglers import SODA_SMUGGLERS

GAMES: Final[dict[str, AnyGame]] = {
    game.about.kind: game
    for game in (
        SODA_JERK,
        SODA_SMUGGLERS,
        JUICES,
    )
}  # fmt: skip  # one game a line
"""Every game by its kind."""

PREVIOUS: Final[Mapping[str, tuple[PreviousSchema, ...]]] = {}
"""The earlier schemas of every game that has any, ascending, by its kind."""
