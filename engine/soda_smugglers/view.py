"""What a viewer may know of a game of Soda Smugglers, and how it is told.

The one way out of a state: `view` and `view_event` copy what is allowed and nothing else. Every text is made from what
they return, so a text cannot tell more than a view.
"""

from functools import lru_cache
from typing import Final

from engine.game import Viewer
from engine.soda_smugglers.components import EFFECTS, NO_EVENT, EventCard, Tokens
from engine.soda_smugglers.rounds import round_count
from engine.soda_smugglers.rules import legal_moves, to_act
from engine.soda_smugglers.state import (
    RECORDS,
    AcceptAll,
    AcceptBribe,
    Arrest,
    BribesRevealed,
    Departure,
    Event,
    EventRevealed,
    Inspect,
    Inspected,
    LeftBorder,
    Move,
    Open,
    Opened,
    Pack,
    Packed,
    RoundEnded,
    RoundStarted,
    Sniff,
    Sniffed,
    Stage,
    State,
    WaveThrough,
    effect_of,
    event_card,
)
from engine.value import Value
from engine.words import counted, listed


class Suitcase(Value, frozen=True):
    """A suitcase of a luggage, by its slot, counted from 1; `bottles` is None where they are hidden."""

    slot: int
    face_up: bool
    bottles: int | None


class SeatView(Value, frozen=True, cache_hash=True):
    """What a viewer may know of a seat.

    Attributes:
        seat: which.
        caps: how many it holds.
        at_border: whether it is a traveler who has not left the border.
        packed: whether it has packed in this round.
        bribe: its bribe, once all bribes are face up, and to itself before; None also where none is offered.
        luggage: what it has packed, by slot; empty while it has not.
        left: how it left the border in this round.
        hand: its suitcases while it has not packed, sorted; empty where they are hidden.
    """

    seat: int
    caps: int
    at_border: bool
    packed: bool
    bribe: int | None
    luggage: tuple[Suitcase, ...]
    left: Departure | None
    hand: tuple[int, ...]


class View(Value, frozen=True):
    """What a viewer may know: the round being played, the last one when the game is over.

    Attributes:
        round: which round, from 1.
        round_count: how many there are.
        guard_seat: the border guard.
        stage: what the round has come to.
        event: the event card that holds.
        event_text: what it does.
        tokens: what the guard has left.
        seats: by seat.
    """

    round: int
    round_count: int
    guard_seat: int
    stage: Stage
    event: EventCard | None
    event_text: str
    tokens: Tokens
    seats: tuple[SeatView, ...]


# --- The projection ---------------------------------------------------------------------------------------------------

_HIDDEN: Final = 0xFF
"""Stands for the bottles of a suitcase that the viewer may not know."""


def view(state: State, viewer: Viewer) -> View:
    """Tells what the viewer may know of the state."""
    card = event_card(state)
    effect = NO_EVENT if card is None else EFFECTS[card]
    return View(
        round=state.round,
        round_count=round_count(len(state.caps)),
        guard_seat=state.guard,
        stage=state.stage,
        event=card,
        event_text=f"{effect.name}: {effect.text}" if card else "",
        tokens=state.tokens,
        seats=tuple([_seat(state, seat, viewer, effect.slots) for seat in range(len(state.caps))]),
    )


def _seat(state: State, seat: int, viewer: Viewer, slots: int) -> SeatView:
    """Takes of a seat what the viewer may know. The rest of a hand that has been packed is gone, for its owner too."""
    own = seat == viewer
    pack, how = state.packs[seat], RECORDS[state.records[seat]].how
    open_slots = state.opened[seat] if how is None else ~0  # SS-B1, SS-B3, SS-B5: whoever leaves shows everything
    luggage = bytes([bottles if own or open_slots >> at & 1 else _HIDDEN for at, bottles in enumerate(pack[:slots])])
    bribe = pack[slots:] if own or state.stage is not Stage.PACKING else b""  # SS-K3
    hand = state.hands[seat] if own and not pack else b""
    return _seat_view(seat, state.caps[seat], seat == state.guard, bool(pack), bribe, luggage, open_slots, how, hand)


@lru_cache(maxsize=16_384)  # most seats are as they were before the move
def _seat_view(
    seat: int,
    caps: int,
    guard: bool,
    packed: bool,
    bribe: bytes,
    luggage: bytes,
    open_slots: int,
    how: Departure | None,
    hand: bytes,
) -> SeatView:
    return SeatView(
        seat=seat,
        caps=caps,
        at_border=not guard and how is None,
        packed=packed,
        bribe=bribe[0] if bribe else None,
        luggage=tuple(
            Suitcase(at + 1, bool(open_slots >> at & 1), None if bottles == _HIDDEN else bottles)
            for at, bottles in enumerate(luggage)
        ),
        left=how,
        hand=tuple(hand),
    )


def view_event(event: Event, viewer: Viewer) -> Event:
    """Takes out of an event what the viewer may not know: what another seat has packed (SS-K3)."""
    if isinstance(event, Packed) and event.seat != viewer:
        return Packed(event.seat)
    return event


# --- Texts ------------------------------------------------------------------------------------------------------------


def prompt(state: State, seat: int) -> str:
    """Says what the seat is asked, by what everybody sees; empty when it is not awaited."""
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
            return f"You are the guard: {listed([_ASKED[kind] for kind in kinds], 'or')}."


_NUMBERS: Final = {2: "two", 3: "three"}
_ASKED: Final[dict[type[Move], str]] = {
    AcceptBribe: "accept a bribe",
    AcceptAll: "accept every bribe",
    Inspect: "inspect a suitcase",
    Sniff: "send the dog to a traveler",
    Arrest: "arrest a traveler",
    WaveThrough: "wave the rest through",
}


def label(move: Move) -> str:
    """Names a move."""
    match move:
        case Pack(luggage, bribe):
            packed = f"Pack {listed([str(bottles) for bottles in luggage])}"
            return packed if bribe is None else f"{packed}, offer {bribe}"
        case AcceptBribe(seat):
            return f"Accept the bribe of seat {seat}"
        case AcceptAll():
            return "Accept every bribe and let everybody pass"
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
    """Tells an event in a sentence."""
    match event:
        case RoundStarted(number, guard):
            return f"Round {number} starts with seat {guard} as the guard."
        case EventRevealed(card, caps):
            change = ""
            if caps:
                change = f"; the guard {'gains' if caps > 0 else 'loses'} {counted(abs(caps), 'cap')}"
            return f"The event of the round is {EFFECTS[card].name}{change}."
        case Packed(seat, (), _):
            return f"Seat {seat} has packed."
        case Packed(seat, luggage, bribe):
            offer = "" if bribe is None else f" and offers {bribe} as a bribe"
            return f"Seat {seat} packs {listed([str(bottles) for bottles in luggage])}{offer}."
        case BribesRevealed(offers):
            told = [f"seat {offer.seat} offers {_caps(offer.bottles)}" for offer in offers]
            return f"The bribes are turned up: {listed(told)}."
        case Inspected(seat, slot, bottles):
            return f"The guard inspects suitcase {slot} of seat {seat}: {counted(bottles, 'bottle')}."
        case Sniffed(seat):
            return f"The guard sends the dog to seat {seat}."
        case Opened(seat, slot, bottles):
            return f"Seat {seat} opens suitcase {slot} for the dog: {counted(bottles, 'bottle')}."
        case LeftBorder():
            return _left(event)
        case RoundEnded(number, caps_held):
            held = [f"seat {seat} holds {counted(caps, 'cap')}" for seat, caps in enumerate(caps_held)]
            return f"Round {number} ends: {listed(held)}."


def _left(event: LeftBorder) -> str:
    bottles = counted(sum(event.luggage), "bottle")
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
    return counted(number, "cap") if number else "nothing"
