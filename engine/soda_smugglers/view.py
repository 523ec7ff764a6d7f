"""What a viewer may know of a game of Soda Smugglers.

Only `view` and `view_event` turn a state or an event into something for a viewer. They copy what the viewer may know,
and nothing else (SS-K3).
"""

from functools import lru_cache
from typing import Final

from engine.game import Viewer
from engine.soda_smugglers.components import EFFECTS, NO_EVENT, EventCard, Tokens, round_count
from engine.soda_smugglers.events import Event, Packed
from engine.soda_smugglers.state import RECORDS, Departure, Stage, State, event_card
from engine.value import Value


class Suitcase(Value, frozen=True):
    """A suitcase of a luggage. Slots count from 1; `bottles` is None where they are hidden."""

    slot: int
    face_up: bool
    bottles: int | None


class SeatView(Value, frozen=True, cache_hash=True):
    """What a viewer may know of a seat.

    Attributes:
        seat: the seat's number.
        caps: the seat's caps.
        at_border: whether it is a traveler who has not left the border.
        packed: whether it has packed in this round.
        bribe: its bribe, once all bribes are face up; the seat itself sees it before. None where no bribe is offered.
        luggage: the packed suitcases by slot; empty before it has packed.
        left: how it left the border in this round.
        hand: its suitcases before it has packed, sorted; empty where they are hidden.
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
    """What a viewer may know: the current round, or the last one when the game is over.

    Attributes:
        round: the current round, from 1.
        round_count: the number of rounds in the game.
        guard_seat: the border guard.
        stage: the stage of the round.
        event: the event card of the round.
        event_text: the event card's effect in words.
        tokens: the guard's remaining tokens.
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
"""The placeholder for the bottles of a suitcase that the viewer may not know."""


def view(state: State, viewer: Viewer) -> View:
    """Return what the viewer may know of the state."""
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
    """Return what the viewer may know of a seat. After packing, the rest of the hand is hidden from its owner too."""
    own = seat == viewer
    pack, how = state.packs[seat], RECORDS[state.records[seat]].how
    open_slots = state.opened[seat] if how is None else ~0  # SS-B1, SS-B3, SS-B5: all luggage is revealed
    luggage = bytes([bottles if own or open_slots >> at & 1 else _HIDDEN for at, bottles in enumerate(pack[:slots])])
    bribe = pack[slots:] if own or state.stage is not Stage.PACKING else b""  # SS-K3
    hand = state.hands[seat] if own and not pack else b""
    return _seat_view(seat, state.caps[seat], seat == state.guard, bool(pack), bribe, luggage, open_slots, how, hand)


@lru_cache(maxsize=16_384)  # a move changes few seats
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
    """Return an event without the pack of another seat (SS-K3)."""
    if isinstance(event, Packed) and event.seat != viewer:
        return Packed(event.seat)
    return event
