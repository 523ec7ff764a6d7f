"""The options, the moves and the state of Soda Smugglers.

A state stores suitcases as bytes: each byte is the number of bottles. A *hand* is sorted. A *pack* is a traveler's
luggage, slot by slot, followed by the bribe where bribes are offered. Moves, events and views do not contain these
bytes.
"""

from typing import Final

from engine.rng import Rng
from engine.soda_smugglers.components import (
    APOLOGY,
    EFFECTS,
    MAX_BOTTLES,
    MAX_SLOTS,
    NO_EVENT,
    Effect,
    EventCard,
    Tokens,
)
from engine.value import Name, Value


class Stage(Name):
    """The stage of a round. The numbers are those of the API."""

    PACKING = 1
    BRIBES = 2
    INSPECTIONS = 3
    OPENING = 4
    ARRESTS = 5
    OVER = 6


class Departure(Name):
    """How a traveler left the border. The numbers are those of the API."""

    BRIBED = 1
    CAUGHT = 2
    UNDULY_ARRESTED = 3
    WAVED_THROUGH = 4


class Options(Value, frozen=True):
    """The options of a game.

    Attributes:
        events: whether an event card applies in each round (SS-V0).
        first_guard: the guard of round 1; None means a random draw (SS-S2).
    """

    events: bool = False
    first_guard: int | None = None


# --- Moves ------------------------------------------------------------------------------------------------------------


class Pack(Value, frozen=True, tag="pack"):
    """Pack suitcases of the traveler's own hand: luggage by slot, and the bribe where bribes are offered."""

    luggage: tuple[int, ...]
    bribe: int | None = None

    def __str__(self) -> str:
        return f"pack {''.join(map(str, self.luggage))}" + ("" if self.bribe is None else f"+{self.bribe}")


class AcceptBribe(Value, frozen=True, tag="accept_bribe"):
    """Accept the bribe of a seat with a bribe token."""

    seat: int

    def __str__(self) -> str:
        return f"accept_bribe {self.seat}"


class AcceptAll(Value, frozen=True, tag="accept_all"):
    """Accept every bribe, which lets all travelers pass (SS-V4)."""

    def __str__(self) -> str:
        return "accept_all"


class Inspect(Value, frozen=True, tag="inspect"):
    """Open a slot of a seat's luggage, counted from 1, with an inspect token."""

    seat: int
    slot: int

    def __str__(self) -> str:
        return f"inspect {self.seat}.{self.slot}"


class Sniff(Value, frozen=True, tag="sniff"):
    """Send the dog to a seat (SS-V6)."""

    seat: int

    def __str__(self) -> str:
        return f"sniff {self.seat}"


class Open(Value, frozen=True, tag="open"):
    """Open a slot of the traveler's own luggage, counted from 1, for the dog."""

    slot: int

    def __str__(self) -> str:
        return f"open {self.slot}"


class Arrest(Value, frozen=True, tag="arrest"):
    """Arrest a seat: with an arrest token, or with the tip-off (SS-V7)."""

    seat: int
    tip_off: bool = False

    def __str__(self) -> str:
        return f"arrest {self.seat}{' tip_off' * self.tip_off}"


class WaveThrough(Value, frozen=True, tag="wave_through"):
    """Wave the remaining travelers through, which ends the round."""

    def __str__(self) -> str:
        return "wave_through"


Move = Pack | AcceptBribe | AcceptAll | Inspect | Sniff | Open | Arrest | WaveThrough

# --- The record of a round --------------------------------------------------------------------------------------------


class Record(Value, frozen=True):
    """The result of a round for one seat. A state stores its index in `RECORDS`, one byte.

    The index keeps snapshots small. In 30 random games with four seats and events, the average snapshot has 135 bytes
    and the largest 156; with records instead of indices, they would have 185 and 244 bytes.

    Attributes:
        how: how a traveler left the border; None for the guard, and for a traveler who has not left.
        bottles: the bottles in the luggage.
        paid: for a traveler, the caps that passed between traveler and guard, as a positive number; for the guard, the
            caps from the event card.
    """

    how: Departure | None = None
    bottles: int = 0
    paid: int = 0


_PAYABLE: Final = {
    Departure.BRIBED: range(MAX_BOTTLES + 1),
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
        for bottles in range(MAX_SLOTS * MAX_BOTTLES + 1)
        for paid in payable
    ),
)
RECORD_CODES: Final = {record: code for code, record in enumerate(RECORDS)}
AT_BORDER: Final = RECORD_CODES[Record()]
"""The code of a traveler who has not left, and of a guard without caps from an event card."""

# --- The state --------------------------------------------------------------------------------------------------------


class State(Value, frozen=True):
    """The complete information about a game, except for the undealt suitcases: no rule needs them.

    Attributes:
        options: the options of the game.
        rng: the source of every random draw.
        events: the event cards, one for each round in order; empty without events.
        round: the current round, from 1.
        guard: the border guard's seat.
        stage: the stage of the round.
        tokens: the guard's remaining tokens.
        caps: by seat.
        hands: by seat, the suitcases that were dealt and not packed. Once a seat has packed, they count as discarded.
        packs: by seat; empty until the seat has packed.
        opened: by seat, the slots that were opened before it left, as bits: slot 1 is the lowest.
        records: by seat, the code of the round's result.
        finished: the records of the finished rounds.
        sniffed: the seat that must open a suitcase for the dog; None for no seat.
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
    """Return the event card of the round; None without events."""
    return EventCard(state.events[state.round - 1]) if state.events else None


def effect_of(state: State) -> Effect:
    """Return the effect of the round's event card, or `NO_EVENT`."""
    return _EFFECTS[state.events[state.round - 1]] if state.events else NO_EVENT


def at_border(state: State) -> list[int]:
    """Return the travelers who have not left the border, in ascending order."""
    guard = state.guard
    return [seat for seat, code in enumerate(state.records) if code == AT_BORDER and seat != guard]


def with_item(items: bytes, index: int, item: int) -> bytes:
    """Return the bytes with one of them replaced."""
    return items[:index] + bytes((item,)) + items[index + 1 :]
