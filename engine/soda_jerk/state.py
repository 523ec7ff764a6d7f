"""The values of Soda Jerk: options, moves, the table as people see it, events, and the state.

A state keeps cards as codes (`components.CARDS`). A *hand* is the sorted codes of its cards. A *pile*, what lies at
one tap, is one byte per card in the order of placing: the card's code, who placed it and whether it lies face up.
Nothing of this packing shows outside the state; moves, events and views hold `Card` and `PlacedCard`.
"""

from typing import Final

from engine.rng import Rng
from engine.soda_jerk.components import CARDS, Card, Flavor
from engine.value import Value


class Options(Value, frozen=True):
    """How a game is to be played. None means a random draw.

    Attributes:
        advanced: whether taps turn to their B sides (SJ-A1).
        first_seat: who starts round 1 (SJ-S3).
        removed_flavor: which tap and cards two seats play without (SJ-S4).
        copies_per_value: how many cards of each flavor print 1, 2 and 3 (SJ-C2).
    """

    advanced: bool = False
    first_seat: int | None = None
    removed_flavor: Flavor | None = None
    copies_per_value: tuple[int, ...] = (3, 3, 3)


class Place(Value, frozen=True, tag="place"):
    """Put a card of the own hand down at a tap."""

    card: Card
    tap: Flavor


class Flip(Value, frozen=True, tag="flip"):
    """Turn a face-down card face up: the one at a position of a tap, counted from 1 in the order of placing."""

    tap: Flavor
    position: int


Move = Place | Flip


class PlacedCard(Value, frozen=True, cache_hash=True):
    """A card at a tap; `card` is None where it is hidden. Positions count from 1 in the order of placing."""

    position: int
    seat: int
    face_up: bool
    card: Card | None


class Tap(Value, frozen=True):
    """A tap and the cards at it, in the order of placing; without advanced play it has no effect text."""

    flavor: Flavor
    effect_active: bool
    effect_text: str
    cards: tuple[PlacedCard, ...]


class Hand(Value, frozen=True):
    """A seat's hand; `cards` is sorted, and empty where the hand is hidden."""

    seat: int
    size: int
    cards: tuple[Card, ...]


class RoundResult(Value, frozen=True, cache_hash=True):
    """A finished round: everything at the taps and in the hands, and what it scored. All of it is public (SJ-P1)."""

    round: int
    taps: tuple[Tap, ...]
    tap_values: tuple[int, ...]
    hands: tuple[Hand, ...]
    points: tuple[int, ...]


class RoundStarted(Value, frozen=True, tag="round_started"):
    """Cards were shuffled and dealt."""

    round: int
    first_seat: int
    active_effects: tuple[Flavor, ...]


class Placed(Value, frozen=True, tag="placed"):
    """`seat` placed a card at a tap."""

    seat: int
    tap: Flavor
    card: PlacedCard


class Flipped(Value, frozen=True, tag="flipped"):
    """`seat` turned a card face up; the card names the seat that had placed it."""

    seat: int
    tap: Flavor
    card: PlacedCard


class RoundEnded(Value, frozen=True, tag="round_ended"):
    """A round ended and was scored."""

    result: RoundResult


Event = RoundStarted | Placed | Flipped | RoundEnded


class FinishedRound(Value, frozen=True, cache_hash=True):
    """A finished round as a state keeps it: piles and values by tap, hands and points by seat."""

    effects: tuple[Flavor, ...]
    piles: tuple[bytes, ...]
    tap_values: tuple[int, ...]
    hands: tuple[bytes, ...]
    points: tuple[int, ...]


class State(Value, frozen=True):
    """Everything there is to know about a game. The cards that were set aside are not kept: nothing ever needs them.

    Attributes:
        options: how the game is played.
        rng: where every random draw comes from.
        taps: the flavors of the taps in play, ascending.
        effects: the taps that show their B side, ascending.
        round: which round is played, from 1.
        first_seat: who started it.
        seat: whose turn it is.
        flips_in_a_row: flips since a card was placed.
        hands: by seat.
        piles: by tap, as in `taps`. When the game is over they are all face up.
        finished: the rounds that are over.
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


# A card in a pile: bits 0 to 3 the card's code, bits 4 and 5 the seat that placed it, bit 6 whether it lies face up. So
# the face-down ones are those below FACE_UP, and `min` tells whether a pile has any.
CODE_BITS: Final = 0x0F
SEAT_SHIFT: Final = 4
FACE_UP: Final = 0x40
_REVEALED: Final = bytes(packed | FACE_UP for packed in range(256))


def pack(code: int, seat: int, face_up: bool) -> int:
    """Packs a placed card into a byte."""
    return code | seat << SEAT_SHIFT | (FACE_UP if face_up else 0)


def unpack(packed: int, position: int) -> PlacedCard:
    """Tells what a pile's byte at a position stands for."""
    seat = (packed & ~FACE_UP) >> SEAT_SHIFT
    return PlacedCard(position, seat, packed >= FACE_UP, CARDS[packed & CODE_BITS])


def revealed(pile: bytes) -> bytes:
    """Turns every card of a pile face up."""
    return pile.translate(_REVEALED)
