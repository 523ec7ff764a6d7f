"""Soda Smugglers in the demo: rounds told traveler by traveler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clients.demo.scoreboard import signed
from clients.demo.protocols import Programme
from clients.strategies.soda_smugglers import choose as choose
from sodafountain.v1.game_pb2 import GameState
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.soda_smugglers_pb2 import (
    SODA_SMUGGLERS_DEPARTURE_BRIBED,
    SODA_SMUGGLERS_DEPARTURE_CAUGHT,
    SODA_SMUGGLERS_DEPARTURE_UNDULY_ARRESTED,
    SodaSmugglersEvent,
    SodaSmugglersOptions,
    SodaSmugglersView,
)

PROGRAMME: Sequence[Programme] = (
    Programme("Soda Smugglers: five seats with event cards", SodaSmugglersOptions(events=True), seats=5, deal=1),
)


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
