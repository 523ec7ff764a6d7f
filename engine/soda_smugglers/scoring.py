"""The standings of Soda Smugglers: caps held, and where they came from."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from engine.game import Score, ScoreLine, SeatScore
from engine.soda_smugglers.components import STARTING_CAPS
from engine.soda_smugglers.rounds import round_count
from engine.soda_smugglers.state import RECORDS, Departure, Stage, State
from engine.words import victory

_LABELS: Final = {
    "event": "Event",
    "luggage": "Bottles brought across",
    "bribe_paid": "Bribe paid",
    "apology": "Apology received",
    "bribes_taken": "Bribes taken",
    "confiscated": "Bottles confiscated",
    "apologies": "Apologies paid",
}
"""What caps came from or went to, in the order in which it is told."""


def score(state: State) -> Score:
    """Tells the standings by what everybody holds (SS-G1)."""
    final = state.stage is Stage.OVER
    winners = tuple(seat for seat, caps in enumerate(state.caps) if caps == max(state.caps)) if final else ()
    seats = tuple(
        SeatScore(seat, caps, 1 + sum(other > caps for other in state.caps), tuple(_lines(state, seat)))
        for seat, caps in enumerate(state.caps)
    )
    return Score(final, seats, winners, _note(state, winners))


def _lines(state: State, seat: int) -> Iterator[ScoreLine]:
    """One line for what the seat started with, and for each round and cause one."""
    yield ScoreLine("start", "Starting caps", STARTING_CAPS)
    first_guard = state.guard - state.round + 1
    for number, records in enumerate((*state.finished, state.records), start=1):
        yield from _round_lines(records, (first_guard + number - 1) % len(state.caps), seat, number)


@lru_cache(maxsize=16_384)  # a round that is over stays as it is
def _round_lines(records: bytes, guard: int, seat: int, number: int) -> tuple[ScoreLine, ...]:
    changes = _as_guard(records, guard) if seat == guard else _as_traveler(records, seat)
    return tuple(ScoreLine(code, label, changes[code], number) for code, label in _LABELS.items() if changes[code])


def _as_traveler(records: bytes, seat: int) -> Counter[str]:
    record = RECORDS[records[seat]]
    changes: Counter[str] = Counter()
    if record.how not in {None, Departure.CAUGHT}:
        changes["luggage"] = record.bottles
    if record.how is Departure.BRIBED:
        changes["bribe_paid"] = -record.paid
    elif record.how is Departure.UNDULY_ARRESTED:
        changes["apology"] = record.paid
    return changes


def _as_guard(records: bytes, guard: int) -> Counter[str]:
    changes: Counter[str] = Counter(event=RECORDS[records[guard]].paid)
    for code in records:
        record = RECORDS[code]
        if record.how is Departure.BRIBED:
            changes["bribes_taken"] += record.paid
        elif record.how is Departure.CAUGHT:
            changes["confiscated"] += record.bottles
        elif record.how is Departure.UNDULY_ARRESTED:
            changes["apologies"] -= record.paid
    return changes


def _note(state: State, winners: tuple[int, ...]) -> str:
    if winners:
        return victory(winners)
    return f"The standings in round {state.round} of {round_count(len(state.caps))}."
