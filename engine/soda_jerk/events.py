"""The events of Soda Jerk, and the public values that events and views share."""

from functools import lru_cache
from typing import Final

from engine.soda_jerk.components import B_SIDES, CARDS, MAX_AT_TAPS, Card, Flavor
from engine.soda_jerk.state import CODE_BITS, FACE_UP, SEAT_SHIFT, FinishedRound
from engine.value import Value

# --- Public values ----------------------------------------------------------------------------------------------------


class PlacedCard(Value, frozen=True, cache_hash=True):
    """A card at a tap; `card` is None where it is hidden. Positions count from 1 in the order of placing."""

    position: int
    seat: int
    face_up: bool
    card: Card | None


class Tap(Value, frozen=True):
    """A tap and its cards in the order of placing. The effect text is empty without advanced play."""

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
    """A finished round: all cards at the taps and in the hands, and the points. All of it is public (SJ-P1)."""

    round: int
    taps: tuple[Tap, ...]
    tap_values: tuple[int, ...]
    hands: tuple[Hand, ...]
    points: tuple[int, ...]


# --- Events -----------------------------------------------------------------------------------------------------------


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
    """`seat` turned a card face up; `card.seat` is the seat that placed it."""

    seat: int
    tap: Flavor
    card: PlacedCard


class RoundEnded(Value, frozen=True, tag="round_ended"):
    """A round ended and was scored."""

    result: RoundResult


Event = RoundStarted | Placed | Flipped | RoundEnded

# --- Public values from the values of a state -------------------------------------------------------------------------


def placed_card(packed: int, position: int) -> PlacedCard:
    """Return the card that a byte of a pile stands for."""
    seat = (packed & ~FACE_UP) >> SEAT_SHIFT
    return PlacedCard(position, seat, packed >= FACE_UP, CARDS[packed & CODE_BITS])


PLACED_CARDS: Final = tuple(
    tuple(placed_card(packed, at + 1) for packed in range(2 * FACE_UP)) for at in range(MAX_AT_TAPS)
)
"""Every card that can lie at a tap, by position - 1 and byte."""


def tap_with(flavor: Flavor, effects: tuple[Flavor, ...], advanced: bool, cards: tuple[PlacedCard, ...]) -> Tap:
    """Return a tap with the cards that a viewer sees there."""
    return Tap(flavor, flavor in effects, B_SIDES[flavor].text if advanced else "", cards)


def open_hand(seat: int, hand: bytes) -> Hand:
    """Return a hand with its cards."""
    return Hand(seat, len(hand), tuple([CARDS[code] for code in hand]))


@lru_cache(maxsize=4096)  # a finished round does not change and is the same for every viewer
def round_result(number: int, taps: tuple[Flavor, ...], advanced: bool, finished: FinishedRound) -> RoundResult:
    """Return the public form of a finished round."""
    return RoundResult(
        round=number,
        taps=tuple(
            tap_with(
                flavor,
                finished.effects,
                advanced,
                tuple(cards[packed] for packed, cards in zip(pile, PLACED_CARDS, strict=False)),
            )
            for flavor, pile in zip(taps, finished.piles, strict=True)
        ),
        tap_values=finished.tap_values,
        hands=tuple(open_hand(seat, hand) for seat, hand in enumerate(finished.hands)),
        points=finished.points,
    )
