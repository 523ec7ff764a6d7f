"""Options and moves of Soda Jerk, built by hand."""

from typing import Any

from sodafountain.v1 import game_pb2
from sodafountain.v1.soda_jerk_pb2 import Flavor, SodaJerkCard, SodaJerkMove, SodaJerkOptions


def jerk(**fields: Any) -> game_pb2.Options:
    """Writes options of Soda Jerk."""
    return game_pb2.Options(soda_jerk=SodaJerkOptions(**fields))


def place(card: SodaJerkCard, tap: Flavor.ValueType) -> game_pb2.Move:
    """Writes a place."""
    return game_pb2.Move(soda_jerk=SodaJerkMove(place=SodaJerkMove.Place(card=card, tap=tap)))


def flip(tap: Flavor.ValueType, position: int) -> game_pb2.Move:
    """Writes a flip."""
    return game_pb2.Move(soda_jerk=SodaJerkMove(flip=SodaJerkMove.Flip(tap=tap, position=position)))
