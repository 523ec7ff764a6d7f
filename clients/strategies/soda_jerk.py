"""Plays Soda Jerk greedily: picks flavors to keep, and moves their taps."""

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

# A round ends before the turn of a seat that holds so many cards.
LAST_CARDS = 3

# What a seat reckons with: how many cards of a flavor another seat keeps on average, what it loses with a card that it
# wanted to keep, what a flip tells it, and how far a whim moves every opinion.
OTHERS_KEEP = 0.6
LOSS = 2.0
INSIGHT = 2.0
WHIM = 1.0

# How many cards of each flavor, and a card's tap and its position there.
Cards: TypeAlias = Counter[Flavor.ValueType]
PlaceAtTap: TypeAlias = tuple[Flavor.ValueType, int]


def choose(state: GameState, chance: random.Random) -> LegalMove:
    """Picks flavors to keep, raises their taps and lowers the others, with cards that it can do without."""
    outlook = Outlook.of(state.view.soda_jerk, state.viewer_seat)
    opinions = [outlook.opinion(legal.move.soda_jerk) + chance.uniform(-WHIM, WHIM) for legal in state.legal_moves]
    return state.legal_moves[opinions.index(max(opinions))]


@dataclass(frozen=True)
class Outlook:
    """What a seat makes of what it sees.

    Attributes:
        held: its hand.
        kept: what of it the seat wants to keep.
        worth: what each tap is worth by the cards that the seat knows, effects aside.
        hidden: the cards at taps that the seat does not know.
        last_flip: whether a flip would end the round.
    """

    held: Cards
    kept: Cards
    worth: Mapping[Flavor.ValueType, int]
    hidden: Collection[PlaceAtTap]
    last_flip: bool

    @classmethod
    def of(cls, view: SodaJerkView, seat: int) -> Self:
        """Looks at the game."""
        held = Counter(card.flavor for card in view.hands[seat].cards if not card.switcheroo)
        worth = {tap.flavor: worth_of(tap) for tap in view.taps}
        # The flavors that promise most, the more cards the better.
        best = sorted(held.elements(), key=lambda flavor: (worth[flavor] + 2 * held[flavor], flavor), reverse=True)
        hidden = {(tap.flavor, card.position) for tap in view.taps for card in tap.cards if not card.HasField("card")}
        return cls(held, Counter(best[:LAST_CARDS]), worth, hidden, view.flips_in_a_row + 1 == len(view.hands))

    def opinion(self, move: SodaJerkMove) -> float:
        """How much a move seems to be worth."""
        if move.HasField("flip"):
            if self.last_flip:
                return sum(count * self.worth[flavor] for flavor, count in self.held.items())
            tells = (move.flip.tap, move.flip.position) in self.hidden and self.kept[move.flip.tap]
            return INSIGHT if tells else 0
        card, tap = move.place.card, move.place.tap
        missed = 0 < self.held[card.flavor] == self.kept[card.flavor]
        stake = self.kept[tap] - (missed and card.flavor == tap) - OTHERS_KEEP
        if card.switcheroo:
            return -2 * self.worth[tap] * stake
        change = card.value if card.flavor == tap else -card.value
        return change * stake - (LOSS if missed else self.worth[card.flavor] / 2)


def worth_of(tap: SodaJerkView.Tap) -> int:
    """What a tap is worth by the cards that the viewer knows, effects aside."""
    cards = [placed.card for placed in tap.cards if placed.HasField("card")]
    plain = sum(card.value if card.flavor == tap.flavor else -card.value for card in cards)
    return -plain if sum(card.switcheroo for card in cards) % 2 else plain
