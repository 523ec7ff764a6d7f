"""Soda Smugglers in the demo: travelers who take risks, guards who reckon, and rounds told traveler by traveler."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Self

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clients.demo.scoreboard import signed
from clients.demo.show import Programme
from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.soda_smugglers_pb2 import (
    SODA_SMUGGLERS_DEPARTURE_BRIBED,
    SODA_SMUGGLERS_DEPARTURE_CAUGHT,
    SODA_SMUGGLERS_DEPARTURE_UNDULY_ARRESTED,
    SODA_SMUGGLERS_EVENT_CARD_BIRTHDAY,
    SODA_SMUGGLERS_EVENT_CARD_BREAKAGE,
    SodaSmugglersEvent,
    SodaSmugglersMove,
    SodaSmugglersOptions,
    SodaSmugglersView,
)

PROGRAMME: Sequence[Programme] = (
    Programme("Soda Smugglers: five seats with event cards", SodaSmugglersOptions(events=True), seats=5, deal=1),
)

# --- Choosing ---------------------------------------------------------------------------------------------------------

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


# --- Telling ----------------------------------------------------------------------------------------------------------


@dataclass
class Journey:
    """What happened to a traveler in a round, in words."""

    packed: str
    happened: list[str] = field(default_factory=list)


class SodaSmugglersStory:
    """Tells a game round by round."""

    def __init__(self) -> None:
        self._guard = 0
        self._event = ""
        self._caps: Sequence[int] = ()
        self._journeys: dict[int, Journey] = {}

    def begin(self, state: GameState) -> Iterator[RenderableType]:
        """Tells the rules in a few sentences."""
        view = state.view.soda_smugglers
        self._look_at(view)
        yield (
            "Each round one seat guards the border and the others pack suitcases with up to three bottles each, in "
            "secret, and offer one more suitcase as a bribe. The guard may take a bribe, have suitcases opened and "
            "make arrests, as far as tokens go. Bottles that come across are worth a cap each; more than one in the "
            "luggage of somebody who is arrested goes to the guard, but whoever is arrested without is owed 2 caps. "
            "Everybody starts with 10 caps, and the most caps win."
        )
        yield ""

    def go_on(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Tells a round when it has ended."""
        for event in answer.events:
            detail = event.detail.soda_smugglers
            match detail.WhichOneof("event"):
                case "packed":
                    self._journeys[detail.packed.seat] = Journey(packing(detail.packed))
                case "inspected":
                    at = detail.inspected
                    self._tell(at.seat, f"The guard had suitcase {at.slot} opened and found {found(at.bottles)}.")
                case "opened":
                    at = detail.opened
                    self._tell(at.seat, f"The dog came sniffing, and suitcase {at.slot} held {found(at.bottles)}.")
                case "left_border":
                    self._tell(detail.left_border.seat, leaving(detail.left_border))
                case "round_ended":
                    yield from self._round(detail.round_ended)
                    self._look_at(answer.state.view.soda_smugglers)

    def _tell(self, seat: int, sentence: str) -> None:
        self._journeys[seat].happened.append(sentence)

    def _look_at(self, view: SodaSmugglersView) -> None:
        """Looks at a round that has just begun."""
        self._guard = view.guard_seat
        self._event = view.event_text
        self._journeys.clear()
        if not self._caps:
            self._caps = [seat.caps for seat in view.seats]

    def _round(self, ended: SodaSmugglersEvent.RoundEnded) -> Iterator[RenderableType]:
        yield Text.assemble((f"Round {ended.round}", "bold"), f": seat {self._guard} guards the border.")
        if self._event:
            yield Text(self._event, "italic")
        yield ""
        for seat, journey in sorted(self._journeys.items()):
            told = Text.assemble((f"Seat {seat}", "bold"), f" {journey.packed} {' '.join(journey.happened)}")
            yield Padding(told, (0, 0, 0, 2))
        yield ""
        yield caps_table(ended.caps, self._caps, self._guard)
        yield ""
        self._caps = list(ended.caps)


def story() -> SodaSmugglersStory:
    """Begins to tell a game."""
    return SodaSmugglersStory()


def packing(packed: SodaSmugglersEvent.Packed) -> str:
    """Tells what was packed, for instance that a seat packed 2 and 1 and offered 3."""
    *most, last = map(str, packed.luggage)
    luggage = f"packed {', '.join(most)} and {last}"
    if not packed.HasField("bribe"):
        return f"{luggage}."
    return f"{luggage} and offered {packed.bribe or 'nothing'}."


def found(bottles: int) -> str:
    """Tells what is in an open suitcase."""
    return "nothing" if bottles == 0 else f"{bottles} bottle{'s' * (bottles > 1)}"


def caps(number: int) -> str:
    """Counts caps: 1 cap, 2 caps."""
    return f"{number} cap{'s' * (number > 1)}"


def leaving(left: SodaSmugglersEvent.LeftBorder) -> str:
    """Tells how a traveler left the border."""
    bottles = sum(left.luggage)
    match left.how:
        case how if how == SODA_SMUGGLERS_DEPARTURE_BRIBED:
            paid = caps(left.guard_caps) if left.guard_caps else "which brought nothing"
            return f"The guard took the bribe, {paid}, and {found(bottles)} came across."
        case how if how == SODA_SMUGGLERS_DEPARTURE_CAUGHT:
            return f"Arrested, rightly: {found(bottles)} for the guard."
        case how if how == SODA_SMUGGLERS_DEPARTURE_UNDULY_ARRESTED:
            apology = f"{caps(-left.guard_caps)} and an apology" if left.guard_caps else "nothing but an apology"
            return f"Arrested, for nothing! The guard gave {apology}; {found(bottles)} came across."
    return f"Waved through: {found(bottles)} came across."


def caps_table(now: Sequence[int], before: Sequence[int], guard: int) -> Table:
    """Draws what everybody holds, and by how much the round changed it."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("Caps")
    for seat in range(len(now)):
        table.add_column(f"Seat {seat}{' (guard)' * (seat == guard)}", justify="right")
    changes = (held - then for held, then in zip(now, before, strict=True))
    table.add_row("Round", *(signed(change) for change in changes))
    table.add_row("Held", *(Text(str(held), "bold") for held in now))
    return table
