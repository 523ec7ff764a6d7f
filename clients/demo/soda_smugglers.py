"""Soda Smugglers in the demo: the narrator describes each round traveler by traveler."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from clients.demo.protocols import DemoGame
from clients.demo.scoreboard import signed
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

GAMES: Sequence[DemoGame] = (
    DemoGame("Soda Smugglers: five seats with event cards", SodaSmugglersOptions(events=True), seats=5, deal=1),
)


@dataclass
class Journey:
    """Sentences about a traveler in a round."""

    packed: str
    happened: list[str] = field(default_factory=list)


class SodaSmugglersNarrator:
    """Narrates a game round by round."""

    def __init__(self) -> None:
        self._guard = 0
        self._event = ""
        self._caps: Sequence[int] = ()
        self._journeys: dict[int, Journey] = {}

    def introduce(self, state: GameState) -> Iterator[RenderableType]:
        """Summarize the rules."""
        view = state.view.soda_smugglers
        self._start_round(view)
        yield (
            "Each round one seat guards the border. The other seats secretly pack up to three bottles into each of "
            "their suitcases, and offer one more suitcase as a bribe. The guard has tokens for accepting bribes, "
            "opening suitcases and arresting travelers. Each bottle that crosses the border is worth 1 cap. If an "
            "arrested traveler carries more than one bottle, the guard gets the bottles; otherwise the guard owes the "
            "traveler 2 caps. Each seat starts with 10 caps, and the seat with the most caps wins."
        )
        yield ""

    def narrate(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Narrate a round when it has ended."""
        for event in answer.events:
            detail = event.detail.soda_smugglers
            match detail.WhichOneof("event"):
                case "packed":
                    self._journeys[detail.packed.seat] = Journey(packed_text(detail.packed))
                case "inspected":
                    at = detail.inspected
                    self._add(at.seat, f"The guard had suitcase {at.slot} opened and found {bottles_text(at.bottles)}.")
                case "opened":
                    at = detail.opened
                    self._add(
                        at.seat, f"The dog sniffed at the luggage: suitcase {at.slot} held {bottles_text(at.bottles)}."
                    )
                case "left_border":
                    self._add(detail.left_border.seat, departure_text(detail.left_border))
                case "round_ended":
                    yield from self._round(detail.round_ended)
                    self._start_round(answer.state.view.soda_smugglers)

    def _add(self, seat: int, sentence: str) -> None:
        self._journeys[seat].happened.append(sentence)

    def _start_round(self, view: SodaSmugglersView) -> None:
        """Reset the state of the narration for a new round."""
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
            journey_text = Text.assemble((f"Seat {seat}", "bold"), f" {journey.packed} {' '.join(journey.happened)}")
            yield Padding(journey_text, (0, 0, 0, 2))
        yield ""
        yield caps_table(ended.caps, self._caps, self._guard)
        yield ""
        self._caps = list(ended.caps)


def narrator() -> SodaSmugglersNarrator:
    """Create the narrator of a new game."""
    return SodaSmugglersNarrator()


def packed_text(packed: SodaSmugglersEvent.Packed) -> str:
    """Return what a traveler packed: `packed 2 and 1 and offered 3.`."""
    *first, last = map(str, packed.luggage)
    luggage = f"packed {', '.join(first)} and {last}"
    if not packed.HasField("bribe"):
        return f"{luggage}."
    return f"{luggage} and offered {packed.bribe or 'nothing'}."


def bottles_text(bottles: int) -> str:
    """Return the number of bottles: `nothing`, `1 bottle`, `2 bottles`."""
    return "nothing" if bottles == 0 else f"{bottles} bottle{'s' * (bottles > 1)}"


def caps_text(number: int) -> str:
    """Return the number of caps: `1 cap`, `2 caps`."""
    return f"{number} cap{'s' * (number > 1)}"


def departure_text(left: SodaSmugglersEvent.LeftBorder) -> str:
    """Return how a traveler left the border."""
    bottles = sum(left.luggage)
    match left.how:
        case how if how == SODA_SMUGGLERS_DEPARTURE_BRIBED:
            worth = caps_text(left.guard_caps) if left.guard_caps else "nothing"
            return f"The guard accepted a bribe worth {worth}, and {bottles_text(bottles)} crossed the border."
        case how if how == SODA_SMUGGLERS_DEPARTURE_CAUGHT:
            return f"Arrested with {bottles_text(bottles)}, which the guard keeps."
        case how if how == SODA_SMUGGLERS_DEPARTURE_UNDULY_ARRESTED:
            paid = f"paid {caps_text(-left.guard_caps)}" if left.guard_caps else "paid nothing"
            return (
                f"Arrested without cause: the guard apologized and {paid}; {bottles_text(bottles)} crossed the border."
            )
    return f"Waved through: {bottles_text(bottles)} crossed the border."


def caps_table(now: Sequence[int], before: Sequence[int], guard: int) -> Table:
    """Return a table of the caps of each seat, and of their changes in the round."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("Caps")
    for seat in range(len(now)):
        table.add_column(f"Seat {seat}{' (guard)' * (seat == guard)}", justify="right")
    changes = (held - then for held, then in zip(now, before, strict=True))
    table.add_row("Round", *(signed(change) for change in changes))
    table.add_row("Held", *(Text(str(held), "bold") for held in now))
    return table
