"""What comes next in a game of Juices: the phases, and the rows in which they come.

A round is a row of phases, a turn of Solo is another, and a coffee is a short one of its own. `State.agenda` is the
stack of the phases to come. When a phase begins it may ask seats something; they answer side by side, each when it
likes, and while anybody is asked anything the pipeline waits. When nobody is, the next phase begins. A phase that has
more to ask puts itself back on the stack; one that brings others about puts those there. `engine.juices.pipeline` has
the loop and says which function begins which phase.
"""

from enum import IntEnum
from typing import Final

from engine.juices.components import Value


class Phase(IntEnum):
    """A phase; a snapshot holds its number."""

    DEAL = 1
    PASS = 2
    PLACE = 3
    BLOCKS = 4
    COMPLEMENTS = 5
    CHILI = 6
    COFFEE = 7
    END = 8
    DRAW = 9
    AUTOMA = 10
    AUTOMA_BLOCK = 11


class Step(Value, frozen=True):
    """A phase that is to come, for one seat or, with None, for all of them."""

    phase: Phase
    seat: int | None = None


ROUND: Final = (
    Phase.DEAL,  # every seat is asked which of two tiles it keeps
    Phase.PASS,  # nothing moves before the last seat has chosen
    Phase.PLACE,  # every seat on its own: two tiles, then juices and parts until the grid is at rest
    Phase.BLOCKS,  # seat by seat
    Phase.COMPLEMENTS,  # brings about CHILI and COFFEE, seat by seat and juice by juice
    Phase.END,  # the end of the game, or another round
)
TURN: Final = (
    Phase.DRAW,  # the seat places one of two tiles, then juices and parts; the other tile goes to the Automa
    Phase.COMPLEMENTS,
    Phase.AUTOMA,  # brings about an AUTOMA_BLOCK for each of its juices
    Phase.END,  # another turn
)
CUP: Final = (
    Phase.PLACE,  # the tile that coffee drew
    Phase.BLOCKS,
    Phase.COMPLEMENTS,
)
"""What COFFEE brings about, for the seat that drinks it."""
