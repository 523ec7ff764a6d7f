"""What a viewer may know of a game of Soda Jerk, and how it is told.

The one way out of a state: `view` and `view_event` copy what is allowed and nothing else. Texts of events and moves are
made from what they are given, and the prompt from sizes and face-up cards, which are everybody's to see.
"""

from functools import lru_cache
from typing import Final

from engine.game import SPECTATOR, Viewer
from engine.soda_jerk.components import B_SIDES, CARDS, FULL_HAND, MOST_AT_TAPS, ROUNDS, Card, Flavor
from engine.soda_jerk.state import (
    FACE_UP,
    SEAT_SHIFT,
    Event,
    FinishedRound,
    Flipped,
    Hand,
    Move,
    Place,
    Placed,
    PlacedCard,
    RoundEnded,
    RoundResult,
    RoundStarted,
    State,
    Tap,
    unpack,
)
from engine.value import Value
from engine.words import listed, signed


class View(Value, frozen=True):
    """What a viewer may know: the round being played (the last one when the game is over) and the finished ones.

    Attributes:
        round: which round, from 1.
        first_seat: who started it.
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


# --- Cards at taps ----------------------------------------------------------------------------------------------------

# Every card that can lie at a tap, made once: by position - 1 and packed byte, and, hidden, by position - 1 and seat.
_SHOWN: Final = tuple(tuple(unpack(packed, at + 1) for packed in range(2 * FACE_UP)) for at in range(MOST_AT_TAPS))


def _hide(placed: PlacedCard) -> PlacedCard:
    return PlacedCard(placed.position, placed.seat, placed.face_up, None)


_HIDDEN: Final = tuple(tuple(_hide(placed) for placed in row[:: 1 << SEAT_SHIFT]) for row in _SHOWN)


def _cards(pile: bytes, viewer: Viewer) -> tuple[PlacedCard, ...]:
    """SJ-T5: a face-down card shows only to the seat that placed it; who placed what where is public."""
    return tuple(
        [
            shown[packed] if packed >= FACE_UP or packed >> SEAT_SHIFT == viewer else hidden[packed >> SEAT_SHIFT]
            for packed, shown, hidden in zip(pile, _SHOWN, _HIDDEN, strict=False)
        ]
    )


def _tap(flavor: Flavor, effects: tuple[Flavor, ...], advanced: bool, cards: tuple[PlacedCard, ...]) -> Tap:
    return Tap(flavor, flavor in effects, B_SIDES[flavor].text if advanced else "", cards)


def _hand(seat: int, hand: bytes) -> Hand:
    return Hand(seat, len(hand), tuple([CARDS[code] for code in hand]))


# --- The projection ---------------------------------------------------------------------------------------------------


def view(state: State, viewer: Viewer) -> View:
    """Tells what the viewer may know of the state."""
    over = len(state.finished) == ROUNDS
    effects, advanced = state.effects, state.options.advanced
    return View(
        round=state.round,
        first_seat=state.first_seat,
        flips_in_a_row=state.flips_in_a_row,
        taps=tuple(
            [
                _tap(flavor, effects, advanced, _cards(pile, viewer))
                for flavor, pile in zip(state.taps, state.piles, strict=True)
            ]
        ),
        hands=tuple(
            [
                # SJ-T5, and SJ-P1 for the last round's.
                _hand(seat, hand) if over or seat == viewer else Hand(seat, len(hand), ())
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


@lru_cache(maxsize=4096)
def round_result(number: int, taps: tuple[Flavor, ...], advanced: bool, finished: FinishedRound) -> RoundResult:
    """Tells a finished round. It is the same for every viewer and from then on, so results are kept for a while."""
    return RoundResult(
        round=number,
        taps=tuple(
            _tap(flavor, finished.effects, advanced, _cards(pile, SPECTATOR))
            for flavor, pile in zip(taps, finished.piles, strict=True)
        ),
        tap_values=finished.tap_values,
        hands=tuple(_hand(seat, hand) for seat, hand in enumerate(finished.hands)),
        points=finished.points,
    )


def view_event(event: Event, viewer: Viewer) -> Event:
    """Takes out of an event what the viewer may not know: the identity of a card that another seat placed face down."""
    if isinstance(event, Placed) and not event.card.face_up and event.seat != viewer:
        return Placed(event.seat, event.tap, _hide(event.card))
    return event


# --- Texts ------------------------------------------------------------------------------------------------------------


def prompt(state: State, seat: int) -> str:
    """Says what the seat is asked, by what everybody sees: sizes of hands, and which cards lie face down."""
    if seat != state.seat or len(state.finished) == ROUNDS:
        return ""
    seat_count = len(state.hands)
    if len(state.hands[seat]) == FULL_HAND[seat_count]:
        return "Place a card at a tap without cards."
    face_down = sum([packed < FACE_UP for pile in state.piles for packed in pile])
    if face_down == 0:
        return "Place a card."
    if face_down == 1 or state.flips_in_a_row + 1 == seat_count:
        return "Place a card or flip a face-down card; a flip ends the round."
    return "Place a card or flip a face-down card."


def label(move: Move) -> str:
    """Names a move."""
    if isinstance(move, Place):
        return f"Place {move.card.title} at {move.tap.title}"
    return f"Flip card {move.position} at {move.tap.title}"


def describe(event: Event) -> str:
    """Tells an event in a sentence."""
    match event:
        case RoundStarted(number, first_seat, effects):
            active = f" House effects apply at {listed([tap.title for tap in effects])}." if effects else ""
            return f"Round {number} starts with seat {first_seat}.{active}"
        case Placed(seat, tap, card):
            return f"Seat {seat} places {_phrase(card.card)} face {'up' if card.face_up else 'down'} at {tap.title}."
        case Flipped(seat, tap, card):
            whose = "its own" if card.seat == seat else f"seat {card.seat}'s"
            return f"Seat {seat} flips {whose} card {card.position} at {tap.title}: {_phrase(card.card)}."
        case RoundEnded(result):
            points = [f"seat {seat} scores {signed(points)}" for seat, points in enumerate(result.points)]
            return f"Round {result.round} ends: {listed(points)}."


def _phrase(card: Card | None) -> str:
    return "a card" if card is None else card.phrase
