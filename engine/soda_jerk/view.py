"""What a viewer may know of a game of Soda Jerk.

Only `view` and `view_event` turn a state or an event into something for a viewer. They copy what the viewer may know,
and nothing else (SJ-T5).
"""

from typing import Final

from engine.game import Viewer
from engine.soda_jerk.components import ROUNDS
from engine.soda_jerk.events import (
    PLACED_CARDS,
    Event,
    Hand,
    Placed,
    PlacedCard,
    RoundResult,
    Tap,
    open_hand,
    round_result,
    tap_with,
)
from engine.soda_jerk.state import FACE_UP, SEAT_SHIFT, State
from engine.value import Value


class View(Value, frozen=True):
    """What a viewer may know: the current round (the last one when the game is over) and the finished rounds.

    Attributes:
        round: the current round, from 1.
        first_seat: the seat that started it.
        flips_in_a_row: flips since a card was placed; the round ends when it reaches the number of seats.
        taps: the taps in play.
        hands: by seat.
        finished_rounds: in order.
    """

    round: int
    first_seat: int
    flips_in_a_row: int
    taps: tuple[Tap, ...]
    hands: tuple[Hand, ...]
    finished_rounds: tuple[RoundResult, ...]


def view(state: State, viewer: Viewer) -> View:
    """Return what the viewer may know of the state."""
    over = len(state.finished) == ROUNDS
    effects, advanced = state.effects, state.options.advanced
    return View(
        round=state.round,
        first_seat=state.first_seat,
        flips_in_a_row=state.flips_in_a_row,
        taps=tuple(
            [
                tap_with(flavor, effects, advanced, _cards(pile, viewer))
                for flavor, pile in zip(state.taps, state.piles, strict=True)
            ]
        ),
        hands=tuple(
            [
                # SJ-T5, and SJ-P1 for the last round.
                open_hand(seat, hand) if over or seat == viewer else Hand(seat, len(hand), ())
                for seat, hand in enumerate(state.hands)
            ]
        ),
        finished_rounds=tuple(
            [
                round_result(number, state.taps, advanced, finished)
                for number, finished in enumerate(state.finished, start=1)
            ]
        ),
    )


def _hide(placed: PlacedCard) -> PlacedCard:
    return PlacedCard(placed.position, placed.seat, placed.face_up, None)


_HIDDEN_CARDS: Final = tuple(tuple(_hide(placed) for placed in row[:: 1 << SEAT_SHIFT]) for row in PLACED_CARDS)
"""Every hidden card that can lie at a tap, by position - 1 and seat."""


def _cards(pile: bytes, viewer: Viewer) -> tuple[PlacedCard, ...]:
    """Return the cards of a pile as a viewer sees them. Only the seat that placed a face-down card sees it (SJ-T5)."""
    return tuple(
        [
            shown[packed] if packed >= FACE_UP or packed >> SEAT_SHIFT == viewer else hidden[packed >> SEAT_SHIFT]
            for packed, shown, hidden in zip(pile, PLACED_CARDS, _HIDDEN_CARDS, strict=False)
        ]
    )


def view_event(event: Event, viewer: Viewer) -> Event:
    """Return an event without the identity of a card that another seat placed face down."""
    if isinstance(event, Placed) and not event.card.face_up and event.seat != viewer:
        return Placed(event.seat, event.tap, _hide(event.card))
    return event
