"""A greedy strategy for Soda Smugglers: travelers take risks, guards estimate luggage."""

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

# Estimates: the probability of an arrest, and by how much each offered cap lowers it; the number of bottles in a hidden
# suitcase, and how many more for each offered cap; the maximum of the random noise.
ARREST_RISK = 0.6
BRIBE_CALMS = 0.12
USUAL_BOTTLES = 1.1
BRIBE_BETRAYS = 0.5
NOISE = 1.2

APOLOGY = 2
LEGAL_BOTTLES = {SODA_SMUGGLERS_EVENT_CARD_BIRTHDAY: 2, SODA_SMUGGLERS_EVENT_CARD_BREAKAGE: 0}
USUALLY_LEGAL = 1
# A bonus for moves that later stages exclude: a guard accepts bribes first, then opens suitcases.
EARLY_BONUS = {"accept_all": 10, "accept_bribe": 10, "inspect_suitcase": 5, "sniff": 6}


def choose(state: GameState, rng: random.Random) -> LegalMove:
    """Choose the move with the highest estimated value plus noise."""
    assessment = Assessment.of(state.view.soda_smugglers)
    values = [assessment.value(legal.move.soda_smugglers) + rng.uniform(-NOISE, NOISE) for legal in state.legal_moves]
    return state.legal_moves[values.index(max(values))]


@dataclass(frozen=True)
class Assessment:
    """Values that a strategy derives from the view of a seat.

    Attributes:
        seats: the seats of the view.
        legal_bottles: the largest legal number of bottles in the luggage of a traveler.
    """

    seats: Sequence[SodaSmugglersView.SeatView]
    legal_bottles: int

    @classmethod
    def of(cls, view: SodaSmugglersView) -> Self:
        """Assess a view of the game."""
        return cls(view.seats, LEGAL_BOTTLES.get(view.event, USUALLY_LEGAL))

    def value(self, move: SodaSmugglersMove) -> float:
        """Return the estimated value of a move."""
        kind = move.WhichOneof("action") or ""
        bonus = EARLY_BONUS.get(kind, 0)
        match kind:
            case "pack":
                return self._of_pack(move.pack)
            case "accept_all":
                return bonus * (sum(seat.bribe for seat in self.seats) > len(self.seats))
            case "accept_bribe":
                return bonus * (self.seats[move.accept_bribe.seat].bribe > 1)
            case "inspect_suitcase":
                return bonus + self._expected(move.inspect_suitcase.seat) / 2
            case "sniff":
                return bonus + self._expected(move.sniff.seat) / 2
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
        """Return the expected number of bottles in the luggage of a traveler."""
        traveler = self.seats[seat]
        seen = [suitcase.bottles for suitcase in traveler.luggage if suitcase.face_up]
        unseen = len(traveler.luggage) - len(seen)
        return sum(seen) + unseen * (USUAL_BOTTLES + BRIBE_BETRAYS * (traveler.bribe - 1))
