"""The scoring of Soda Smugglers: the caps of each seat and where they come from (SS-G1)."""

from collections import Counter
from collections.abc import Iterator
from functools import lru_cache

from engine.game import Score, ScoreLine
from engine.scoring import leaders, rank_players
from engine.soda_smugglers.components import STARTING_CAPS, round_count
from engine.soda_smugglers.state import RECORDS, Departure, Stage, State
from engine.soda_smugglers.texts import SCORE_LABELS, score_note


def score(state: State) -> Score:
    """Return the standings by the caps of all seats (SS-G1)."""
    finished = state.stage is Stage.OVER
    scores = rank_players(state.caps, [tuple(_lines(state, seat)) for seat in range(len(state.caps))])
    winners = leaders(scores) if finished else ()
    return Score(finished, scores, winners, score_note(state.round, round_count(len(state.caps)), winners))


def _lines(state: State, seat: int) -> Iterator[ScoreLine]:
    """Yield a line for the starting caps, and one for each round and cause."""
    yield ScoreLine("start", "Starting caps", STARTING_CAPS)
    first_guard = state.guard - state.round + 1
    for number, records in enumerate((*state.finished, state.records), start=1):
        yield from _round_lines(records, (first_guard + number - 1) % len(state.caps), seat, number)


@lru_cache(maxsize=16_384)  # a finished round does not change
def _round_lines(records: bytes, guard: int, seat: int, number: int) -> tuple[ScoreLine, ...]:
    changes = _as_guard(records, guard) if seat == guard else _as_traveler(records, seat)
    return tuple(ScoreLine(code, label, changes[code], number) for code, label in SCORE_LABELS.items() if changes[code])


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
