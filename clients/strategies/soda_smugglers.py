"""Plays Soda Smugglers greedily: travelers who take risks, guards who reckon."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.soda_smugglers_pb2 import (
    SODA_SMUGGLERS_EVENT_CARD_BIRTHDAY,
    SODA_SMUGGLERS_EVENT_CARD_BREAKAGE,
    SodaSmugglersMove,
    SodaSmugglersView,
)

# What a seat reckons with: how likely an arrest is and how far each cap offered lowers that; how many bottles are in a
# suitcase that it cannot see, and how many more for each cap offered; and how far a whim moves every opinion.
ARREST_RISK = 0.6
BRIBE_CALMS = 0.12
USUAL_BOTTLES = 1.1
BRIBE_BETRAYS = 0.5
WHIM = 1.2

APOLOGY = 2
LEGAL_BOTTLES = {SODA_SMUGGLERS_EVENT_CARD_BIRTHDAY: 2, SODA_SMUGGLERS_EVENT_CARD_BREAKAGE: 0}
USUALLY_LEGAL = 1
# So much a guard is drawn to what can only be done before something else: bribes, and then a look into suitcases.
WHILE_POSSIBLE = {"accept_all": 10, "accept_bribe": 10, "inspect": 5, "sniff": 6}


def choose(state: GameState, chance: random.Random) -> LegalMove:
    """Reckons what each move is worth, roughly, and adds a whim."""
    outlook = Outlook.of(state.view.soda_smugglers)
    opinions = [outlook.opinion(legal.move.soda_smugglers) + chance.uniform(-WHIM, WHIM) for legal in state.legal_moves]
    return state.legal_moves[opinions.index(max(opinions))]


@dataclass(frozen=True)
class Outlook:
    """What a seat makes of what it sees.

    Attributes:
        seats: the seats.
        legal_bottles: how many bottles in a luggage are legal.
    """

    seats: Sequence[SodaSmugglersView.Seat]
    legal_bottles: int

    @classmethod
    def of(cls, view: SodaSmugglersView) -> Self:
        """Looks at the game."""
        return cls(view.seats, LEGAL_BOTTLES.get(view.event, USUALLY_LEGAL))

    def opinion(self, move: SodaSmugglersMove) -> float:
        """How much a move seems to be worth."""
        kind = move.WhichOneof("move") or ""
        drawn = WHILE_POSSIBLE.get(kind, 0)
        match kind:
            case "pack":
                return self._of_pack(move.pack)
            case "accept_all":
                return drawn * (sum(seat.bribe for seat in self.seats) > len(self.seats))
            case "accept_bribe":
                return drawn * (self.seats[move.accept_bribe.seat].bribe > 1)
            case "inspect":
                return drawn + self._expected(move.inspect.seat) / 2
            case "sniff":
                return drawn + self._expected(move.sniff.seat) / 2
            case "arrest":
                return self._of_arrest(move.arrest)
        return 0

    def _of_pack(self, pack: SodaSmugglersMove.Pack) -> float:
        bottles = sum(pack.luggage)
        risk = ARREST_RISK - BRIBE_CALMS * pack.bribe
        if bottles <= self.legal_bottles:
            return bottles + risk * APOLOGY
        return (1 - risk) * bottles - pack.bribe / 3

    def _of_arrest(self, arrest: SodaSmugglersMove.Arrest) -> float:
        expected = self._expected(arrest.seat)
        if expected > self.legal_bottles + 0.5:
            return expected - arrest.tip_off / 2
        return -4 if not arrest.tip_off else 0

    def _expected(self, seat: int) -> float:
        """How many bottles a traveler's luggage seems to hold."""
        traveler = self.seats[seat]
        seen = [suitcase.bottles for suitcase in traveler.luggage if suitcase.face_up]
        unseen = len(traveler.luggage) - len(seen)
        return sum(seen) + unseen * (USUAL_BOTTLES + BRIBE_BETRAYS * (traveler.bribe - 1))
