"""Soda Jerk in the demo: rounds told by their taps and hands."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clients.demo.scoreboard import signed
from clients.demo.protocols import Programme
from clients.strategies.soda_jerk import PlaceAtTap
from clients.strategies.soda_jerk import choose as choose
from sodafountain.v1.game_pb2 import GameState
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.soda_jerk_pb2 import (
    FLAVOR_BANANA,
    FLAVOR_BLUEBERRY,
    FLAVOR_KIWI,
    FLAVOR_ORANGE,
    FLAVOR_STRAWBERRY,
    Flavor,
    SodaJerkCard,
    SodaJerkEvent,
    SodaJerkOptions,
    SodaJerkView,
)

PROGRAMME: Sequence[Programme] = (
    Programme("Soda Jerk: a basic game of four seats", SodaJerkOptions(), seats=4, deal=54),
    Programme("Soda Jerk: an advanced game of two seats", SodaJerkOptions(advanced=True), seats=2, deal=29),
)

COLORS = {
    FLAVOR_STRAWBERRY: "red",
    FLAVOR_BLUEBERRY: "bright_blue",
    FLAVOR_BANANA: "yellow",
    FLAVOR_KIWI: "green",
    FLAVOR_ORANGE: "dark_orange",
}


class SodaJerkStory:
    """Tells a game round by round."""

    def __init__(self) -> None:
        self._totals: list[int] = []
        self._flips: list[bool] = []
        # The cards that lie face up, as tap and position: at the end of a round every card is shown.
        self._face_up: set[PlaceAtTap] = set()
        self._first_seat = 0

    def begin(self, state: GameState) -> Iterator[RenderableType]:
        """Tells the rules in three sentences, and what is special about this game."""
        view = state.view.soda_jerk
        self._totals = [0] * state.seat_count
        self._first_seat = view.first_seat
        yield (
            "Cards go to the soda taps, most of them face down. A card raises the value of its own flavor's tap by the "
            "number printed on it and lowers every other tap's. When the round ends, each card left in a hand scores "
            "what its flavor's tap is worth, whatever is printed on it. Below, +Kiw3 is a Kiwi 3 at the Kiwi tap and "
            "\N{MINUS SIGN}Kiw3 one at another."
        )
        missing = set(COLORS) - {tap.flavor for tap in view.taps}
        if missing:
            names = " and ".join(name_of(flavor) for flavor in sorted(missing))
            yield f"With two seats {names} stays in the box, and each seat has a Switcheroo, which negates its tap."
        yield ""

    def go_on(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Tells a round when it has ended."""
        for event in answer.events:
            detail = event.detail.soda_jerk
            match detail.WhichOneof("event"):
                case "placed":
                    self._turn(detail.placed, flip=False)
                case "flipped":
                    self._turn(detail.flipped, flip=True)
                case "round_started":
                    self._flips.clear()
                    self._face_up.clear()
                    self._first_seat = detail.round_started.first_seat
                case "round_ended":
                    result = detail.round_ended
                    self._totals = [sum(pair) for pair in zip(self._totals, result.points, strict=True)]
                    yield from self._round(result, event.seat)

    def _turn(self, at: SodaJerkEvent.CardAtTap, *, flip: bool) -> None:
        self._flips.append(flip)
        if at.card.face_up:
            self._face_up.add((at.tap, at.card.position))

    def _round(self, result: SodaJerkView.RoundResult, last_seat: int) -> Iterator[RenderableType]:
        yield Text.assemble(
            (f"Round {result.round}", "bold"),
            f": seat {self._first_seat} started. After {len(self._flips)} turns, {sum(self._flips)} of them flips, ",
            self._why_it_ended(result, last_seat),
        )
        yield ""
        yield taps_table(result, self._face_up)
        yield ""
        yield hands_table(result, self._totals)
        yield ""

    def _why_it_ended(self, result: SodaJerkView.RoundResult, last_seat: int) -> str:
        seats = len(result.hands)
        if self._flips[-1] and len(self._face_up) == sum(len(tap.cards) for tap in result.taps):
            return "no card lay face down any more."
        if self._flips[-seats:] == [True] * seats:
            return "every seat in turn had flipped."
        return f"seat {(last_seat + 1) % seats} began its turn with three cards in hand."


def story() -> SodaJerkStory:
    """Begins to tell a game."""
    return SodaJerkStory()


def taps_table(result: SodaJerkView.RoundResult, face_up: Collection[PlaceAtTap]) -> Table:
    """Draws the taps with their cards, as they lay when the round ended, and values."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, expand=True)
    table.add_column("Tap", no_wrap=True)
    table.add_column("Cards as placed; in parentheses: never turned face up", ratio=1)
    table.add_column("Value", justify="right", style="bold")
    for tap, value in zip(result.taps, result.tap_values, strict=True):
        cards = Text(" ").join(
            card_at_tap(placed.card, tap.flavor, face_up=(tap.flavor, placed.position) in face_up)
            for placed in tap.cards
        )
        if tap.effect_active:
            cards = Text("\n").join([cards, Text(tap.effect_text, "italic")])
        table.add_row(Text(name_of(tap.flavor), COLORS[tap.flavor]), cards, signed(value))
    return table


def hands_table(result: SodaJerkView.RoundResult, totals: Sequence[int]) -> Table:
    """Draws what each seat had left and what that scored."""
    worth = {tap.flavor: value for tap, value in zip(result.taps, result.tap_values, strict=True)}
    table = Table(box=SIMPLE_HEAD, show_edge=False, expand=True)
    table.add_column("Hand", no_wrap=True)
    table.add_column("Cards left, each at the value of its flavor's tap", ratio=1)
    table.add_column("Scores", justify="right", style="bold")
    table.add_column("Total", justify="right")
    for hand, points, total in zip(result.hands, result.points, totals, strict=True):
        table.add_row(f"Seat {hand.seat}", cards_left(hand.cards, worth), signed(points), signed(total))
    return table


def cards_left(cards: Sequence[SodaJerkCard], worth: Mapping[Flavor.ValueType, int]) -> Text:
    """Tells a hand by flavor: `2 Strawberry at +1, 1 Kiwi at +3`."""
    flavors = Counter(card.flavor for card in cards if not card.switcheroo)
    groups = [
        Text(f"{count} {name_of(flavor)} at {signed(worth[flavor])}", COLORS[flavor])
        for flavor, count in sorted(flavors.items())
    ]
    if any(card.switcheroo for card in cards):
        groups.append(Text("Switcheroo"))
    return Text(", ").join(groups)


def card_at_tap(card: SodaJerkCard, tap: Flavor.ValueType, *, face_up: bool) -> Text:
    """Writes a card at a tap, with the sign of what it does there: `+Kiw3`, or `(+Kiw3)` face down."""
    if card.switcheroo:
        name, style = "Switcheroo", "bold"
    else:
        sign = "+" if card.flavor == tap else "\N{MINUS SIGN}"
        name, style = f"{sign}{name_of(card.flavor)[:3]}{card.value}", COLORS[card.flavor]
    return Text(name if face_up else f"({name})", style)


def name_of(flavor: Flavor.ValueType) -> str:
    """A flavor's name."""
    return Flavor.Name(flavor).removeprefix("FLAVOR_").capitalize()
