"""A greedy strategy for Soda Jerk: choose flavors to keep, and change the values of their taps."""

import random
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Self, TypeAlias

from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.soda_jerk_pb2 import (
    Flavor,
    SodaJerkMove,
    SodaJerkView,
)

# A round ends when a seat with this many cards starts its turn.
LAST_CARDS = 3

# Estimates: the number of cards of a flavor that another seat keeps on average, the loss of a card that the seat wants
# to keep, the value of the information from a flip, and the maximum of the random noise.
OTHERS_KEEP = 0.6
LOSS = 2.0
INSIGHT = 2.0
NOISE = 1.0

# The number of cards of each flavor; the tap of a card and its position there.
Cards: TypeAlias = Counter[Flavor.ValueType]
PlaceAtTap: TypeAlias = tuple[Flavor.ValueType, int]


def choose(state: GameState, rng: random.Random) -> LegalMove:
    """Choose flavors to keep, raise their taps and lower the others with the remaining cards."""
    assessment = Assessment.of(state.view.soda_jerk, state.viewer_seat)
    values = [assessment.value(legal.move.soda_jerk) + rng.uniform(-NOISE, NOISE) for legal in state.legal_moves]
    return state.legal_moves[values.index(max(values))]


@dataclass(frozen=True)
class Assessment:
    """Values that a strategy derives from the view of a seat.

    Attributes:
        held: the hand of the seat.
        kept: the cards of the hand that the seat wants to keep.
        worth: the value of each tap by the cards that the seat knows, without effects.
        hidden: the cards at taps that the seat does not know.
        last_flip: whether a flip ends the round.
    """

    held: Cards
    kept: Cards
    worth: Mapping[Flavor.ValueType, int]
    hidden: Collection[PlaceAtTap]
    last_flip: bool

    @classmethod
    def of(cls, view: SodaJerkView, seat: int) -> Self:
        """Assess a view of the game."""
        held = Counter(card.flavor for card in view.hands[seat].cards if not card.switcheroo)
        worth = {tap.flavor: worth_of(tap) for tap in view.taps}
        # Prefer flavors with a valuable tap and with many cards in hand.
        best = sorted(held.elements(), key=lambda flavor: (worth[flavor] + 2 * held[flavor], flavor), reverse=True)
        hidden = {(tap.flavor, card.position) for tap in view.taps for card in tap.cards if not card.HasField("card")}
        return cls(held, Counter(best[:LAST_CARDS]), worth, hidden, view.flips_in_a_row + 1 == len(view.hands))

    def value(self, move: SodaJerkMove) -> float:
        """Return the estimated value of a move."""
        if move.HasField("flip"):
            if self.last_flip:
                return sum(count * self.worth[flavor] for flavor, count in self.held.items())
            reveals = (move.flip.tap_flavor, move.flip.position) in self.hidden and self.kept[move.flip.tap_flavor]
            return INSIGHT if reveals else 0
        card, tap = move.place.card, move.place.tap_flavor
        missed = 0 < self.held[card.flavor] == self.kept[card.flavor]
        stake = self.kept[tap] - (missed and card.flavor == tap) - OTHERS_KEEP
        if card.switcheroo:
            return -2 * self.worth[tap] * stake
        change = card.value if card.flavor == tap else -card.value
        return change * stake - (LOSS if missed else self.worth[card.flavor] / 2)


def worth_of(tap: SodaJerkView.Tap) -> int:
    """Return the value of a tap by the cards that the viewer knows, without effects."""
    cards = [placed.card for placed in tap.cards if placed.HasField("card")]
    plain = sum(card.value if card.flavor == tap.flavor else -card.value for card in cards)
    return -plain if sum(card.switcheroo for card in cards) % 2 else plain
