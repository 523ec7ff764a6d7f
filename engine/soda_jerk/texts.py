"""The texts of Soda Jerk, for people: prompts, labels, sentences about events, and the standings in words.

Texts of moves and events use nothing but the move or event, and the prompt uses public information only. No text can
therefore reveal more than the view.
"""

from engine.soda_jerk.components import FULL_HAND, ROUNDS, Card, Flavor
from engine.soda_jerk.events import Event, Flipped, Placed, RoundEnded, RoundStarted
from engine.soda_jerk.state import FACE_UP, Move, Place, State
from engine.texts import format_list, format_points, victory_sentence


def prompt(state: State, seat: int) -> str:
    """Return a sentence about the seat's turn; empty when it is not its turn."""
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
    """Return a short name of a move."""
    if isinstance(move, Place):
        return f"Place {move.card.title} at {move.tap.title}"
    return f"Flip card {move.position} at {move.tap.title}"


def describe(event: Event) -> str:
    """Return a sentence about an event."""
    match event:
        case RoundStarted(number, first_seat, effects):
            active = f" House effects apply at {format_list([tap.title for tap in effects])}." if effects else ""
            return f"Round {number} starts with seat {first_seat}.{active}"
        case Placed(seat, tap, card):
            return f"Seat {seat} places {_phrase(card.card)} face {'up' if card.face_up else 'down'} at {tap.title}."
        case Flipped(seat, tap, card):
            whose = "its own" if card.seat == seat else f"seat {card.seat}'s"
            return f"Seat {seat} flips {whose} card {card.position} at {tap.title}: {_phrase(card.card)}."
        case RoundEnded(result):
            points = [f"seat {seat} scores {format_points(points)}" for seat, points in enumerate(result.points)]
            return f"Round {result.round} ends: {format_list(points)}."


def _phrase(card: Card | None) -> str:
    return "a card" if card is None else card.phrase


def score_label(flavor: Flavor, count: int, value: int) -> str:
    """Return the label of a score line: cards of a flavor and the value of its tap."""
    return f"{count} \N{MULTIPLICATION SIGN} {flavor.title} at {format_points(value)}"


def score_note(finished_rounds: int, winners: tuple[int | None, ...]) -> str:
    """Return the sentence about the standings."""
    if winners:
        return victory_sentence(winners)
    return f"The standings after {finished_rounds} of {ROUNDS} rounds." if finished_rounds else "No round is over yet."
