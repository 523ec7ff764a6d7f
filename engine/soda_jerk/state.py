"""The options, the moves and the state of Soda Jerk.

A state stores cards as codes (`components.CARDS`). A *hand* is the sorted codes of its cards. A *pile*, the cards at
one tap, has one byte for each card in the order of placing: the card's code, the seat that placed it, and whether it
lies face up. Moves, events and views contain `Card` and `PlacedCard`, never these bytes.

The bytes keep snapshots small. In 30 random games with four seats, the average snapshot has 195 bytes and the largest
344; with a `PlacedCard` instead of each byte of a pile, they would have 403 and 947 bytes.
"""

from typing import Final

from engine.rng import Rng
from engine.soda_jerk.components import Card, Flavor
from engine.value import Value


class Options(Value, frozen=True):
    """The options of a game. None means a random draw.

    Attributes:
        advanced: whether taps turn to their B sides (SJ-A1).
        first_seat: the seat that starts round 1 (SJ-S3).
        removed_flavor: the tap and cards that leave the game with two seats (SJ-S4).
        copies_per_value: how many cards of each flavor print 1, 2 and 3 (SJ-C2).
    """

    advanced: bool = False
    first_seat: int | None = None
    removed_flavor: Flavor | None = None
    copies_per_value: tuple[int, ...] = (3, 3, 3)


# --- Moves ------------------------------------------------------------------------------------------------------------


class Place(Value, frozen=True, tag="place"):
    """Place a card from the seat's own hand at a tap."""

    card: Card
    tap: Flavor

    def __str__(self) -> str:
        return f"place {self.card}@{self.tap.letters}"


class Flip(Value, frozen=True, tag="flip"):
    """Turn a face-down card at a tap face up. Positions count from 1 in the order of placing."""

    tap: Flavor
    position: int

    def __str__(self) -> str:
        return f"flip {self.tap.letters}.{self.position}"


Move = Place | Flip

# --- The state --------------------------------------------------------------------------------------------------------


class FinishedRound(Value, frozen=True, cache_hash=True):
    """A finished round in a state: piles and values by tap, hands and points by seat."""

    effects: tuple[Flavor, ...]
    piles: tuple[bytes, ...]
    tap_values: tuple[int, ...]
    hands: tuple[bytes, ...]
    points: tuple[int, ...]


class State(Value, frozen=True):
    """The complete information about a game, except for the cards that were set aside: no rule needs them.

    Attributes:
        options: the options of the game.
        rng: the source of every random draw.
        taps: the flavors of the taps in play, ascending.
        effects: the taps that show their B side, ascending.
        round: the current round, from 1.
        first_seat: the seat that started the round.
        seat: the seat whose turn it is.
        flips_in_a_row: flips since a card was placed.
        hands: by seat.
        piles: by tap, as in `taps`. When the game is over they are all face up.
        finished: the finished rounds.
    """

    options: Options
    rng: Rng
    taps: tuple[Flavor, ...]
    effects: tuple[Flavor, ...]
    round: int
    first_seat: int
    seat: int
    flips_in_a_row: int
    hands: tuple[bytes, ...]
    piles: tuple[bytes, ...]
    finished: tuple[FinishedRound, ...] = ()


# A byte of a pile: bits 0 to 3 the card's code, bits 4 and 5 the seat that placed it, bit 6 whether the card lies face
# up. All face-down cards are therefore below FACE_UP, and `min` shows whether a pile has any.
CODE_BITS: Final = 0x0F
SEAT_SHIFT: Final = 4
FACE_UP: Final = 0x40
_REVEALED: Final = bytes(packed | FACE_UP for packed in range(256))


def pack(code: int, seat: int, face_up: bool) -> int:
    """Return the byte of a placed card."""
    return code | seat << SEAT_SHIFT | (FACE_UP if face_up else 0)


def revealed(pile: bytes) -> bytes:
    """Return a pile with every card face up."""
    return pile.translate(_REVEALED)
