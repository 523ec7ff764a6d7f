"""The texts of Soda Smugglers, for people: prompts, labels, sentences about events, and the standings in words.

Texts of moves and events use nothing but the move or event, and the prompt uses public information only. No text can
therefore reveal more than the view.
"""

from typing import Final

from engine.soda_smugglers.components import EFFECTS
from engine.soda_smugglers.events import (
    BribesRevealed,
    Event,
    EventRevealed,
    Inspected,
    LeftBorder,
    Opened,
    Packed,
    RoundEnded,
    RoundStarted,
    Sniffed,
)
from engine.soda_smugglers.rules import legal_moves, to_act
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Move,
    Open,
    Pack,
    Sniff,
    Stage,
    State,
    WaveThrough,
    effect_of,
)
from engine.texts import format_count, format_list, victory_sentence


def prompt(state: State, seat: int) -> str:
    """Return a sentence about the seat's decision, from public information; empty when it is not awaited."""
    if seat not in to_act(state):
        return ""
    match state.stage:
        case Stage.PACKING:
            effect = effect_of(state)
            bribe = "offer one as a bribe" if effect.bribes else "offer no bribe this round"
            return f"Pack {_NUMBERS[effect.slots]} suitcases as luggage and {bribe}."
        case Stage.OPENING:
            return "The dog has come to you. Open your fullest suitcase, or any of the fullest."
        case _:
            kinds = dict.fromkeys(type(move) for move in legal_moves(state, seat))
            return f"You are the guard: {format_list([_ACTIONS[kind] for kind in kinds], 'or')}."


_NUMBERS: Final = {2: "two", 3: "three"}
_ACTIONS: Final[dict[type[Move], str]] = {
    AcceptBribe: "accept a bribe",
    AcceptAll: "accept every bribe",
    Inspect: "inspect a suitcase",
    Sniff: "send the dog to a traveler",
    Arrest: "arrest a traveler",
    WaveThrough: "wave the rest through",
}


def label(move: Move) -> str:
    """Return a short name of a move."""
    match move:
        case Pack(luggage, bribe):
            packed = f"Pack {format_list([str(bottles) for bottles in luggage])}"
            return packed if bribe is None else f"{packed}, offer {bribe}"
        case AcceptBribe(seat):
            return f"Accept the bribe of seat {seat}"
        case AcceptAll():
            return "Accept every bribe and let all travelers pass"
        case Inspect(seat, slot):
            return f"Inspect suitcase {slot} of seat {seat}"
        case Sniff(seat):
            return f"Send the dog to seat {seat}"
        case Open(slot):
            return f"Open suitcase {slot}"
        case Arrest(seat, tip_off):
            return f"Arrest seat {seat} on the tip-off" if tip_off else f"Arrest seat {seat}"
        case WaveThrough():
            return "Wave the rest through"


def describe(event: Event) -> str:
    """Return a sentence about an event."""
    match event:
        case RoundStarted(number, guard):
            return f"Round {number} starts with seat {guard} as the guard."
        case EventRevealed(card, caps):
            change = ""
            if caps:
                change = f"; the guard {'gains' if caps > 0 else 'loses'} {format_count(abs(caps), 'cap')}"
            return f"The event of the round is {EFFECTS[card].name}{change}."
        case Packed(seat, (), _):
            return f"Seat {seat} has packed."
        case Packed(seat, luggage, bribe):
            offer = "" if bribe is None else f" and offers {bribe} as a bribe"
            return f"Seat {seat} packs {format_list([str(bottles) for bottles in luggage])}{offer}."
        case BribesRevealed(offers):
            offered = [f"seat {offer.seat} offers {_caps(offer.bottles)}" for offer in offers]
            return f"The bribes are turned up: {format_list(offered)}."
        case Inspected(seat, slot, bottles):
            return f"The guard inspects suitcase {slot} of seat {seat}: {format_count(bottles, 'bottle')}."
        case Sniffed(seat):
            return f"The guard sends the dog to seat {seat}."
        case Opened(seat, slot, bottles):
            return f"Seat {seat} opens suitcase {slot} for the dog: {format_count(bottles, 'bottle')}."
        case LeftBorder():
            return _left(event)
        case RoundEnded(number, caps_held):
            held = [f"seat {seat} holds {format_count(caps, 'cap')}" for seat, caps in enumerate(caps_held)]
            return f"Round {number} ends: {format_list(held)}."


def _left(event: LeftBorder) -> str:
    bottles = format_count(sum(event.luggage), "bottle")
    match event.how:
        case Departure.BRIBED:
            return f"Seat {event.seat} pays {_caps(event.guard_caps)} and passes with {bottles}."
        case Departure.CAUGHT:
            them = "it" if sum(event.luggage) == 1 else "them"
            return f"Seat {event.seat} is caught with {bottles}; the guard confiscates {them}."
        case Departure.UNDULY_ARRESTED:
            paid = _caps(-event.guard_caps)
            return f"Seat {event.seat} is arrested unduly with {bottles}; the guard apologizes and pays {paid}."
        case Departure.WAVED_THROUGH:
            return f"Seat {event.seat} is waved through with {bottles}."


def _caps(number: int) -> str:
    return format_count(number, "cap") if number else "nothing"


# --- The standings ----------------------------------------------------------------------------------------------------

SCORE_LABELS: Final = {
    "event": "Event",
    "luggage": "Bottles brought across",
    "bribe_paid": "Bribe paid",
    "apology": "Apology received",
    "bribes_taken": "Bribes taken",
    "confiscated": "Bottles confiscated",
    "apologies": "Apologies paid",
}
"""The causes of score lines, in the order of the lines of a round."""


def score_note(round_number: int, round_count: int, winners: tuple[int | None, ...]) -> str:
    """Return the sentence about the standings."""
    if winners:
        return victory_sentence(winners)
    return f"The standings in round {round_number} of {round_count}."
