"""The sequences of phases."""

from typing import Final

from engine.juices.state import Phase

ROUND: Final = (
    Phase.DEAL,  # every seat chooses which of two tiles it keeps
    Phase.PASS,  # no tile moves before the last seat has chosen
    Phase.PLACE,  # each seat independently: two tiles, then juices and parts until nothing more changes
    Phase.BLOCKS,  # seat by seat
    Phase.COMPLEMENTS,  # causes CHILI and COFFEE, seat by seat and juice by juice
    Phase.END,  # the end of the game, or another round
)
TURN: Final = (
    Phase.DRAW,  # the seat places one of two tiles, then juices and parts; the other tile goes to the Automa
    Phase.COMPLEMENTS,
    Phase.AUTOMA,  # causes an AUTOMA_BLOCK for each of its juices
    Phase.END,  # another turn
)
"""A turn of Solo."""

CUP: Final = (
    Phase.PLACE,  # the tile that coffee drew
    Phase.BLOCKS,
    Phase.COMPLEMENTS,
)
"""The effect of coffee, for one seat."""
