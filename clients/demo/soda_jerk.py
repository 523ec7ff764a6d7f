"""Soda Jerk in the demo: the narrator shows the taps and hands at the end of each round."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence

from rich.box import SIMPLE_HEAD
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from clients.demo.protocols import DemoGame
from clients.demo.scoreboard import signed
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

GAMES: Sequence[DemoGame] = (
    DemoGame("Soda Jerk: a basic game of four seats", SodaJerkOptions(), seats=4, deal=54),
    DemoGame("Soda Jerk: an advanced game of two seats", SodaJerkOptions(advanced=True), seats=2, deal=29),
)

COLORS = {
    FLAVOR_STRAWBERRY: "red",
    FLAVOR_BLUEBERRY: "bright_blue",
    FLAVOR_BANANA: "yellow",
    FLAVOR_KIWI: "green",
    FLAVOR_ORANGE: "dark_orange",
}


class SodaJerkNarrator:
    """Narrates a game round by round."""

    def __init__(self) -> None:
        self._totals: list[int] = []
        self._flips: list[bool] = []
        # The face-up cards, as tap and position. They are tracked because the result of a round shows all cards.
        self._face_up: set[PlaceAtTap] = set()
        self._first_seat = 0

    def introduce(self, state: GameState) -> Iterator[RenderableType]:
        """Summarize the rules, including those of a game with two seats."""
        view = state.view.soda_jerk
        self._totals = [0] * state.seat_count
        self._first_seat = view.first_seat
        yield (
            "Seats place cards at soda taps, mostly face down. A card raises the value of the tap of its own flavor by "
            "its number; at any other tap it lowers the value. When the round ends, each card left in a hand scores "
            "the value of its flavor's tap, regardless of its own number. Below, +Kiw3 is a Kiwi 3 at the Kiwi tap and "
            "\N{MINUS SIGN}Kiw3 a Kiwi 3 at another tap."
        )
        missing = set(COLORS) - {tap.flavor for tap in view.taps}
        if missing:
            names = " and ".join(name_of(flavor) for flavor in sorted(missing))
            yield f"With two seats, {names} is not used, and each seat has a Switcheroo, which negates a tap's value."
        yield ""

    def narrate(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Narrate a round when it has ended."""
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
            self._face_up.add((at.tap_flavor, at.card.position))

    def _round(self, result: SodaJerkView.RoundResult, last_seat: int) -> Iterator[RenderableType]:
        yield Text.assemble(
            (f"Round {result.round}", "bold"),
            f": seat {self._first_seat} started. After {len(self._flips)} turns, {sum(self._flips)} of them flips, ",
            self._end_reason(result, last_seat),
        )
        yield ""
        yield taps_table(result, self._face_up)
        yield ""
        yield hands_table(result, self._totals)
        yield ""

    def _end_reason(self, result: SodaJerkView.RoundResult, last_seat: int) -> str:
        seats = len(result.hands)
        if self._flips[-1] and len(self._face_up) == sum(len(tap.cards) for tap in result.taps):
            return "no face-down card was left."
        if self._flips[-seats:] == [True] * seats:
            return "all seats in turn had flipped a card."
        return f"seat {(last_seat + 1) % seats} started its turn with three cards in hand."


def narrator() -> SodaJerkNarrator:
    """Create the narrator of a new game."""
    return SodaJerkNarrator()


def taps_table(result: SodaJerkView.RoundResult, face_up: Collection[PlaceAtTap]) -> Table:
    """Return a table of the taps with their cards and values at the end of a round."""
    table = Table(box=SIMPLE_HEAD, show_edge=False, expand=True)
    table.add_column("Tap", no_wrap=True)
    table.add_column("Cards in order of placement; face-down cards in parentheses", ratio=1)
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
    """Return a table of the cards left in each hand and their points."""
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
    """Return a hand by flavor: `2 Strawberry at +1, 1 Kiwi at +3`."""
    flavors = Counter(card.flavor for card in cards if not card.switcheroo)
    groups = [
        Text(f"{count} {name_of(flavor)} at {signed(worth[flavor])}", COLORS[flavor])
        for flavor, count in sorted(flavors.items())
    ]
    if any(card.switcheroo for card in cards):
        groups.append(Text("Switcheroo"))
    return Text(", ").join(groups)


def card_at_tap(card: SodaJerkCard, tap: Flavor.ValueType, *, face_up: bool) -> Text:
    """Return a card at a tap, with the sign of its effect there: `+Kiw3`, or `(+Kiw3)` face down."""
    if card.switcheroo:
        name, style = "Switcheroo", "bold"
    else:
        sign = "+" if card.flavor == tap else "\N{MINUS SIGN}"
        name, style = f"{sign}{name_of(card.flavor)[:3]}{card.value}", COLORS[card.flavor]
    return Text(name if face_up else f"({name})", style)


def name_of(flavor: Flavor.ValueType) -> str:
    """Return the name of a flavor."""
    return Flavor.Name(flavor).removeprefix("FLAVOR_").capitalize()
