"""The golden games of Soda Jerk (see `tests.engine.golden`)."""

from collections.abc import Iterator
from typing import Final

from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.components import Flavor
from engine.soda_jerk.events import Event, Hand, RoundEnded, RoundResult, RoundStarted
from engine.soda_jerk.state import Options, State
from engine.texts import format_points
from tests.engine.golden import Golden

GAMES: Final = {
    "four-seats": Golden(Options(first_seat=2), 4, 317),
    "two-seats-advanced": Golden(Options(advanced=True, removed_flavor=Flavor.BLUEBERRY), 2, 574),
}
"""The seeds were chosen so that the three rounds end for three different reasons (SJ-E1, SJ-E2, SJ-E3)."""

SNAPSHOT: Final = "two-seats-advanced"


def lines(state: State, event: Event) -> Iterator[str]:
    """Yield the lines for an event, with all hands when a round starts and all taps and hands when it ends."""
    if isinstance(event, RoundStarted):
        yield ""
    yield f"  {SODA_JERK.describe(event)}"
    if isinstance(event, RoundStarted):
        for seat in range(len(state.hands)):
            yield f"  {_hand(SODA_JERK.view(state, seat).hands[seat])}"
    elif isinstance(event, RoundEnded):
        yield from _result_lines(event.result)


def _result_lines(result: RoundResult) -> Iterator[str]:
    for tap, value in zip(result.taps, result.tap_values, strict=True):
        cards = ", ".join(placed.card.title for placed in tap.cards if placed.card)
        side = "B" if tap.effect_active else "A"
        yield f"  {tap.flavor.title} ({side}) is worth {format_points(value)}: {cards or 'no cards'}"
    for hand, points in zip(result.hands, result.points, strict=True):
        yield f"  {_hand(hand)}: {format_points(points)} points"


def _hand(hand: Hand) -> str:
    return f"seat {hand.seat} holds {', '.join(card.title for card in hand.cards)}"
