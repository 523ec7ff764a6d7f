"""The values of Soda Smugglers: options, moves, the border as people see it, events, and the state.

A state keeps suitcases as bytes, each the number of its bottles. A *hand* is sorted. A *pack* is a traveler's luggage,
slot by slot, and then the bribe where bribes are offered. Nothing of this packing shows outside the state.
"""

from enum import IntEnum
from typing import Final

from engine.rng import Rng
from engine.soda_smugglers.components import (
    APOLOGY,
    EFFECTS,
    MOST_BOTTLES,
    MOST_SLOTS,
    NO_EVENT,
    Effect,
    EventCard,
    Tokens,
)
from engine.value import Value


class Stage(IntEnum):
    """What a round has come to. The numbers are the contract's."""

    PACKING = 1
    BRIBES = 2
    INSPECTIONS = 3
    OPENING = 4
    ARRESTS = 5
    OVER = 6


class Departure(IntEnum):
    """How a traveler left the border. The numbers are the contract's."""

    BRIBED = 1
    CAUGHT = 2
    UNDULY_ARRESTED = 3
    WAVED_THROUGH = 4


class Options(Value, frozen=True):
    """How a game is to be played.

    Attributes:
        events: whether an event card applies in each round (SS-V0).
        first_guard: who is guard in round 1; None means a random draw (SS-S2).
    """

    events: bool = False
    first_guard: int | None = None


# --- Moves ------------------------------------------------------------------------------------------------------------


class Pack(Value, frozen=True, tag="pack"):
    """Pack suitcases of the own hand: luggage by slot, and a bribe where one is offered."""

    luggage: tuple[int, ...]
    bribe: int | None = None


class AcceptBribe(Value, frozen=True, tag="accept_bribe"):
    """Accept the bribe of a seat with a bribe token."""

    seat: int


class AcceptAll(Value, frozen=True, tag="accept_all"):
    """Accept every bribe and wave everybody through (SS-V4)."""


class Inspect(Value, frozen=True, tag="inspect"):
    """Open a slot of a seat's luggage, counted from 1, with an inspect token."""

    seat: int
    slot: int


class Sniff(Value, frozen=True, tag="sniff"):
    """Send the dog to a seat (SS-V6)."""

    seat: int


class Open(Value, frozen=True, tag="open"):
    """Open a slot of the own luggage, counted from 1, for the dog."""

    slot: int


class Arrest(Value, frozen=True, tag="arrest"):
    """Arrest a seat: with an arrest token, or with the tip-off (SS-V7)."""

    seat: int
    tip_off: bool = False


class WaveThrough(Value, frozen=True, tag="wave_through"):
    """Wave the travelers that are left through, which ends the round."""


Move = Pack | AcceptBribe | AcceptAll | Inspect | Sniff | Open | Arrest | WaveThrough

# --- Events -----------------------------------------------------------------------------------------------------------


class Offer(Value, frozen=True):
    """A seat's bribe, face up."""

    seat: int
    bottles: int


class RoundStarted(Value, frozen=True, tag="round_started"):
    """A round began; every traveler is dealt suitcases, after the event card is revealed where there is one."""

    round: int
    guard_seat: int


class EventRevealed(Value, frozen=True, tag="event_revealed"):
    """An event card was revealed for the round; `guard_caps` is by how many caps it changed what the guard holds."""

    card: EventCard
    guard_caps: int


class Packed(Value, frozen=True, tag="packed"):
    """`seat` has packed; what, is empty and None where it is hidden."""

    seat: int
    luggage: tuple[int, ...] = ()
    bribe: int | None = None


class BribesRevealed(Value, frozen=True, tag="bribes_revealed"):
    """All travelers turned their bribes face up."""

    offers: tuple[Offer, ...]


class Inspected(Value, frozen=True, tag="inspected"):
    """The guard had a slot of `seat` opened."""

    seat: int
    slot: int
    bottles: int


class Sniffed(Value, frozen=True, tag="sniffed"):
    """The guard sent the dog to `seat`, which must open a suitcase now."""

    seat: int


class Opened(Value, frozen=True, tag="opened"):
    """`seat` opened a slot for the dog."""

    seat: int
    slot: int
    bottles: int


class LeftBorder(Value, frozen=True, tag="left_border"):
    """`seat` left the border; by how many caps that changed what it and the guard hold."""

    seat: int
    how: Departure
    luggage: tuple[int, ...]
    caps: int
    guard_caps: int


class RoundEnded(Value, frozen=True, tag="round_ended"):
    """A round ended; what every seat holds then."""

    round: int
    caps: tuple[int, ...]


Event = RoundStarted | EventRevealed | Packed | BribesRevealed | Inspected | Sniffed | Opened | LeftBorder | RoundEnded

# --- The record of a round --------------------------------------------------------------------------------------------


class Record(Value, frozen=True):
    """What a round brought a seat, as the state keeps it: one byte, its index in `RECORDS`.

    Attributes:
        how: how a traveler left the border; None for the guard, and for a traveler who has not left.
        bottles: how many were in the luggage.
        paid: caps that the traveler and the guard handed over, whoever owed them; for the guard, what the event gave.
    """

    how: Departure | None = None
    bottles: int = 0
    paid: int = 0


_PAYABLE: Final = {
    Departure.BRIBED: range(MOST_BOTTLES + 1),
    Departure.CAUGHT: range(1),
    Departure.UNDULY_ARRESTED: range(APOLOGY + 1),
    Departure.WAVED_THROUGH: range(1),
}

RECORDS: Final = (
    Record(),
    *(Record(None, 0, paid) for paid in (-3, -2, -1, 1, 2, 3)),
    *(
        Record(how, bottles, paid)
        for how, payable in _PAYABLE.items()
        for bottles in range(MOST_SLOTS * MOST_BOTTLES + 1)
        for paid in payable
    ),
)
RECORD_CODES: Final = {record: code for code, record in enumerate(RECORDS)}
AT_BORDER: Final = RECORD_CODES[Record()]
"""The code of a traveler who has not left, and of a guard to whom nothing was given."""

# --- The state --------------------------------------------------------------------------------------------------------


class State(Value, frozen=True):
    """Everything there is to know about a game. The undealt suitcases are not kept: nothing ever needs them.

    Attributes:
        options: how the game is played.
        rng: where every random draw comes from.
        events: the event cards, one for each round in order; empty without events.
        round: which round is played, from 1.
        guard: the border guard's seat.
        stage: what the round has come to.
        tokens: what the guard has left.
        caps: by seat.
        hands: by seat: what was dealt and not packed. Once a seat has packed, that is discarded.
        packs: by seat; empty while a seat has not packed.
        opened: by seat, the slots that were opened before it left, as bits.
        records: by seat, what the round brought it.
        finished: the records of the rounds that are over.
        sniffed: the seat that must open a suitcase for the dog; None when no opening is due.
    """

    options: Options
    rng: Rng
    events: bytes
    round: int
    guard: int
    stage: Stage
    tokens: Tokens
    caps: tuple[int, ...]
    hands: tuple[bytes, ...]
    packs: tuple[bytes, ...]
    opened: bytes
    records: bytes
    finished: tuple[bytes, ...] = ()
    sniffed: int | None = None


_EFFECTS: Final = (NO_EVENT, *EFFECTS.values())


def event_card(state: State) -> EventCard | None:
    """Tells which event card holds."""
    return EventCard(state.events[state.round - 1]) if state.events else None


def effect_of(state: State) -> Effect:
    """Tells what holds in the round: the event card's effect, or none."""
    return _EFFECTS[state.events[state.round - 1]] if state.events else NO_EVENT


def at_border(state: State) -> list[int]:
    """Lists the travelers who have not left the border, in ascending order."""
    guard = state.guard
    return [seat for seat, code in enumerate(state.records) if code == AT_BORDER and seat != guard]


def with_item(items: bytes, index: int, item: int) -> bytes:
    """Puts a byte in the place of another."""
    return items[:index] + bytes((item,)) + items[index + 1 :]
