"""How many ways a game can go: node counts, which no small slip in the moves leaves alone."""

import pytest

from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.state import Options, State
from tests.engine.soda_jerk.tables import BANANA, KIWI, ORANGE, STRAWBERRY, new, table


def count(state: State, depth: int) -> int:
    """Counts the sequences of so many moves; a game that is over has none."""
    awaited = SODA_JERK.to_act(state)
    if not awaited:
        return 0
    moves = SODA_JERK.legal_moves(state, awaited[0])
    if depth == 1:
        return len(moves)
    return sum(count(SODA_JERK.apply(state, awaited[0], move)[0], depth - 1) for move in moves)


OPENINGS = {2: [40, 1320, 52272], 3: [50, 1600, 43200], 4: [40, 1120, 23520]}


@pytest.mark.parametrize("seat_count", OPENINGS)
def test_the_opening_goes_so_many_ways(seat_count: int) -> None:
    state = new(seat_count, Options(first_seat=0), number=7)
    counts = [count(state, depth) for depth in (1, 2, 3)]
    assert counts == OPENINGS[seat_count], f"sequences of 1, 2 and 3 moves: {counts}"


def test_the_end_of_a_round_goes_so_many_ways() -> None:
    """Four kinds of cards for four taps and three flips; then three kinds, and flips by where a card went."""
    state = table(
        "kiwi1 kiwi2 kiwi2 banana1 switcheroo",
        "strawberry1 strawberry1 banana2 switcheroo",
        taps={KIWI: "kiwi3/0 kiwi1/1^ banana1/1", STRAWBERRY: "banana3/1"},
        effects=(BANANA,),
        removed=ORANGE,
    )
    counts = [count(state, depth) for depth in (1, 2, 3)]
    assert counts == [19, 294, 5247], f"sequences of 1, 2 and 3 moves: {counts}"
