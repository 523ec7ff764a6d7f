"""The guard's turn: bribes, inspections and arrests, and the suitcase that a traveler opens for the dog (SS-B, SS-V).

Each act has two functions: one returns the moves of its kind, the other applies one. The table in `rules` defines the
stages of each act and the stage that follows it.
"""

from typing import Final

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.soda_smugglers.components import APOLOGY, MAX_SLOTS, SEATS
from engine.soda_smugglers.events import Event, Inspected, LeftBorder, Opened, Sniffed
from engine.soda_smugglers.state import (
    RECORD_CODES,
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Open,
    Record,
    Sniff,
    State,
    WaveThrough,
    at_border,
    effect_of,
    with_item,
)

# Every possible move at the border, created once: by seat, inspections by seat and slot - 1.
_SEATS: Final = range(SEATS[-1])
ACCEPT_BRIBE: Final = tuple(AcceptBribe(seat) for seat in _SEATS)
INSPECT: Final = tuple(tuple(Inspect(seat, slot) for slot in range(1, MAX_SLOTS + 1)) for seat in _SEATS)
SNIFF: Final = tuple(Sniff(seat) for seat in _SEATS)
OPEN: Final = tuple(Open(slot) for slot in range(1, MAX_SLOTS + 1))
ARREST: Final = tuple(Arrest(seat) for seat in _SEATS)
ARREST_ON_TIP_OFF: Final = tuple(Arrest(seat, tip_off=True) for seat in _SEATS)
ACCEPT_ALL: Final = (AcceptAll(),)
WAVE_THROUGH: Final = (WaveThrough(),)

Result = tuple[State, tuple[Event, ...]]


def _check_at_border(state: State, seat: int) -> None:
    if seat not in at_border(state):
        raise IllegalMove(f"Seat {seat} is not a traveler at the border.")


def _check_not_inspected(state: State, seat: int) -> None:
    if state.opened[seat]:  # SS-B2
        raise IllegalMove(f"A suitcase of seat {seat} was opened already; only one can be opened in a round.")


# --- Bribes -----------------------------------------------------------------------------------------------------------


def accept_bribe_moves(state: State, _: int) -> list[AcceptBribe]:
    """Return a move for each bribe that can be accepted."""
    return [ACCEPT_BRIBE[seat] for seat in at_border(state)] if state.tokens.bribe else []


def accept_bribe(state: State, _: int, move: AcceptBribe) -> Result:
    """Accept a bribe (SS-B1)."""
    if not state.tokens.bribe:
        raise IllegalMove("You have no bribe token left.")
    _check_at_border(state, move.seat)
    bribed, event = _leave_bribed(state, move.seat)
    return replace(bribed, tokens=replace(state.tokens, bribe=state.tokens.bribe - 1)), (event,)


def accept_all_moves(state: State, _: int) -> tuple[AcceptAll, ...]:
    """Return the move if the event card allows it and the guard has not acted yet (SS-V4)."""
    return ACCEPT_ALL if _may_accept_all(state) else ()


def accept_all(state: State, _: int, __: AcceptAll) -> Result:
    """Accept every bribe (SS-V4)."""
    if not _may_accept_all(state):
        raise IllegalMove("Only Temptation lets you accept all bribes, and only as your first act of the turn.")
    events = []
    for seat in at_border(state):
        state, event = _leave_bribed(state, seat)
        events.append(event)
    return state, tuple(events)


def _may_accept_all(state: State) -> bool:
    return effect_of(state).accept_all and len(at_border(state)) == len(state.caps) - 1


def _leave_bribed(state: State, seat: int) -> tuple[State, LeftBorder]:
    pack, slots = state.packs[seat], effect_of(state).slots
    paid = min(pack[slots], state.caps[seat])  # from the caps held before the gain (SS-B1, SS-B6)
    return _leave(state, seat, Departure.BRIBED, paid=paid)


# --- Inspections ------------------------------------------------------------------------------------------------------


def inspect_moves(state: State, _: int) -> list[Inspect]:
    """Return a move for each slot of the travelers without an opened slot, by seat (SS-B2)."""
    if not state.tokens.inspect:
        return []
    slots, opened = effect_of(state).slots, state.opened
    return [move for seat in at_border(state) if not opened[seat] for move in INSPECT[seat][:slots]]


def inspect(state: State, _: int, move: Inspect) -> Result:
    """Inspect a slot (SS-B2)."""
    if not state.tokens.inspect:
        raise IllegalMove("You have no inspect token left.")
    _check_at_border(state, move.seat)
    _check_not_inspected(state, move.seat)
    slots = effect_of(state).slots
    if not 1 <= move.slot <= slots:
        raise IllegalMove(f"There is no suitcase {move.slot}; luggage has {slots} suitcases this round.")
    tokens = replace(state.tokens, inspect=state.tokens.inspect - 1)
    inspected = replace(_opened(state, move.seat, move.slot), tokens=tokens)
    return inspected, (Inspected(move.seat, move.slot, state.packs[move.seat][move.slot - 1]),)


def sniff_moves(state: State, _: int) -> list[Sniff]:
    """Return a move for each traveler without an opened slot."""
    if not state.tokens.sniff:
        return []
    return [SNIFF[seat] for seat in at_border(state) if not state.opened[seat]]


def sniff(state: State, _: int, move: Sniff) -> Result:
    """Send the dog. The traveler must open a slot even without a choice, so that a tie stays secret (SS-V6)."""
    if not state.tokens.sniff:
        raise IllegalMove("You have no dog to send.")
    _check_at_border(state, move.seat)
    _check_not_inspected(state, move.seat)
    tokens = replace(state.tokens, sniff=state.tokens.sniff - 1)
    return replace(state, sniffed=move.seat, tokens=tokens), (Sniffed(move.seat),)


def open_moves(state: State, seat: int) -> list[Open]:
    """Return a move for each of the fullest slots."""
    luggage = _luggage(state, seat)
    fullest = max(luggage)
    return [move for move, bottles in zip(OPEN, luggage, strict=False) if bottles == fullest]


def open_slot(state: State, seat: int, move: Open) -> Result:
    """Open a slot for the dog (SS-V6)."""
    luggage = _luggage(state, seat)
    if not 1 <= move.slot <= len(luggage):
        raise IllegalMove(f"You have no suitcase {move.slot}.")
    bottles = luggage[move.slot - 1]
    if bottles != max(luggage):
        raise IllegalMove("Open your fullest suitcase, or one of the fullest.")
    return replace(_opened(state, seat, move.slot), sniffed=None), (Opened(seat, move.slot, bottles),)


def _opened(state: State, seat: int, slot: int) -> State:
    return replace(state, opened=with_item(state.opened, seat, state.opened[seat] | 1 << (slot - 1)))


# --- Arrests ----------------------------------------------------------------------------------------------------------


def arrest_moves(state: State, _: int) -> list[Arrest]:
    """Return a move for each traveler, with an arrest token and with the tip-off."""
    travelers = at_border(state)
    moves = [ARREST[seat] for seat in travelers] if state.tokens.arrest else []
    if state.tokens.tip_off:
        moves += [ARREST_ON_TIP_OFF[seat] for seat in travelers]
    return moves


def arrest(state: State, _: int, move: Arrest) -> Result:
    """Arrest a traveler (SS-B3, SS-V7)."""
    left = state.tokens.tip_off if move.tip_off else state.tokens.arrest
    if not left:
        raise IllegalMove("You have no tip-off." if move.tip_off else "You have no arrest token left.")
    _check_at_border(state, move.seat)
    if sum(_luggage(state, move.seat)) > effect_of(state).allowed:  # bribes never count (SS-B4)
        arrested, event = _leave(state, move.seat, Departure.CAUGHT)
    else:
        owed = 0 if move.tip_off else APOLOGY
        paid = min(owed, state.caps[state.guard])  # SS-B6
        arrested, event = _leave(state, move.seat, Departure.UNDULY_ARRESTED, paid=paid)
    kind = "tip_off" if move.tip_off else "arrest"
    return replace(arrested, tokens=replace(state.tokens, **{kind: left - 1})), (event,)


# --- The end of the turn ----------------------------------------------------------------------------------------------


def wave_through_moves(_: State, __: int) -> tuple[WaveThrough, ...]:
    """Return the move, which is always legal in the guard's turn."""
    return WAVE_THROUGH


def wave_through(state: State, _: int, __: WaveThrough) -> Result:
    """Wave the remaining travelers through (SS-B5)."""
    events = []
    for seat in at_border(state):
        state, event = _leave(state, seat, Departure.WAVED_THROUGH)
        events.append(event)
    return state, tuple(events)


def _luggage(state: State, seat: int) -> bytes:
    return state.packs[seat][: effect_of(state).slots]


# For each departure: whether the traveler, and whether the guard, gains a cap from the stock for each bottle; and the
# direction of the payment: 1 to the guard, -1 from the guard.
_GAINS: Final = {
    Departure.BRIBED: (True, False, 1),  # SS-B1
    Departure.CAUGHT: (False, True, 0),  # SS-B3
    Departure.UNDULY_ARRESTED: (True, False, -1),  # SS-B3
    Departure.WAVED_THROUGH: (True, False, 0),  # SS-B5
}


def _leave(state: State, seat: int, how: Departure, *, paid: int = 0) -> tuple[State, LeftBorder]:
    """Let a traveler leave the border, with the luggage revealed."""
    luggage = _luggage(state, seat)
    bottles = sum(luggage)
    traveler_gains, guard_gains, direction = _GAINS[how]
    change = traveler_gains * bottles - direction * paid
    guard_change = guard_gains * bottles + direction * paid
    caps = list(state.caps)
    caps[seat] += change
    caps[state.guard] += guard_change
    records = with_item(state.records, seat, RECORD_CODES[Record(how, bottles, paid)])
    return replace(state, caps=tuple(caps), records=records), LeftBorder(
        seat, how, tuple(luggage), change, guard_change
    )
