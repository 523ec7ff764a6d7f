"""Constructors of options and moves of Soda Jerk."""

from typing import Any

from sodafountain.v1 import game_pb2
from sodafountain.v1.soda_jerk_pb2 import Flavor, SodaJerkCard, SodaJerkMove, SodaJerkOptions


def jerk(**fields: Any) -> game_pb2.Options:
    """Return options of Soda Jerk."""
    return game_pb2.Options(soda_jerk=SodaJerkOptions(**fields))


def place(card: SodaJerkCard, tap: Flavor.ValueType) -> game_pb2.Move:
    """Return a move that places a card."""
    return game_pb2.Move(soda_jerk=SodaJerkMove(place=SodaJerkMove.Place(card=card, tap_flavor=tap)))


def flip(tap: Flavor.ValueType, position: int) -> game_pb2.Move:
    """Return a move that flips a card."""
    return game_pb2.Move(soda_jerk=SodaJerkMove(flip=SodaJerkMove.Flip(tap_flavor=tap, position=position)))
