"""The end of a round, and the three rounds of a game: SJ-E, SJ-G."""

from collections import Counter
from itertools import pairwise

import pytest

from engine.errors import GameOver
from engine.soda_jerk.components import SWITCHEROO
from engine.soda_jerk.events import Event, Flipped, RoundEnded, RoundStarted
from engine.soda_jerk.state import Flip, State
from tests.engine.soda_jerk.positions import BANANA, GAME, KIWI, ORANGE, SIX, ended, new, place, play, position

FOUR = "strawberry1 blueberry1 banana1 kiwi1"
LYING = {KIWI: "kiwi3/0 kiwi2/1"}


def ends(state: State, move: Flip) -> State:
    """Flip, check that the round ends, and return the next state."""
    assert ended(state, move)
    return play(state, move)


# --- The end of a round -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-E1")
def test_the_round_ends_when_the_next_seat_has_three_cards() -> None:
    state = position(SIX, "kiwi1 kiwi2 kiwi3", SIX, taps=LYING)
    end = ended(state, place("kiwi1", KIWI))
    assert end
    assert end.result.hands[1].size == 3


@pytest.mark.rule("SJ-E1")
def test_the_round_ends_after_a_flip_when_the_next_seat_has_three_cards() -> None:
    assert ended(position(SIX, "kiwi1 kiwi2 kiwi3", SIX, taps=LYING), Flip(KIWI, 1))


@pytest.mark.rule("SJ-E1")
def test_a_seat_with_four_cards_has_its_turn() -> None:
    state = position(SIX, FOUR, SIX, taps=LYING)
    assert not ended(state, place("kiwi1", KIWI))
    assert GAME.to_act(play(state, place("kiwi1", KIWI))) == (1,)


@pytest.mark.rule("SJ-E1")
def test_the_round_continues_until_the_turn_of_the_seat_with_three_cards() -> None:
    state = position(FOUR, SIX, SIX, taps=LYING)
    first, second, third = place("kiwi1", KIWI), place("orange1", KIWI), place("orange1", KIWI)
    assert not ended(state, first)
    assert not ended(state, first, second)
    assert ended(state, first, second, third)


@pytest.mark.rule("SJ-E1")
def test_a_switcheroo_in_hand_counts_as_a_card() -> None:
    assert ended(position(FOUR, "kiwi1 kiwi2 switcheroo", taps=LYING), place("kiwi1", KIWI))
    assert not ended(position(FOUR, "kiwi1 kiwi2 kiwi3 switcheroo", taps=LYING), place("kiwi1", KIWI))


@pytest.mark.rule("SJ-E2")
@pytest.mark.parametrize("hands", [(SIX.replace("orange", "kiwi"),) * 2, (SIX,) * 3, (SIX,) * 4])
def test_the_round_ends_after_one_flip_in_a_row_for_each_seat(hands: tuple[str, ...]) -> None:
    state = position(*hands, taps={KIWI: "kiwi1/0 kiwi2/1 kiwi3/0 kiwi3/1 kiwi1/0"})
    flips = [Flip(KIWI, position) for position in range(1, len(hands) + 1)]
    assert not ended(state, *flips[:-1])
    assert ended(state, *flips)


@pytest.mark.rule("SJ-E2")
def test_a_placement_resets_the_flips_in_a_row() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0 kiwi2/1 kiwi3/0 kiwi3/1 kiwi1/0"})
    flips = [Flip(KIWI, position) for position in range(1, 5)]
    assert not ended(state, flips[0], flips[1], place("banana1", KIWI), flips[2], flips[3])
    assert GAME.view(play(state, flips[0], place("banana1", KIWI)), 0).flips_in_a_row == 0


@pytest.mark.rule("SJ-E2")
def test_every_round_starts_with_no_flips_in_a_row() -> None:
    state = ends(position(SIX, SIX, SIX, taps=LYING, flips=2), Flip(KIWI, 1))
    assert (state.round, GAME.view(state, 0).flips_in_a_row) == (2, 0)


@pytest.mark.rule("SJ-E2", "SJ-E3")
@pytest.mark.parametrize(("round_number", "follows"), [(1, [RoundStarted]), (2, [RoundStarted]), (3, [])])
def test_a_round_with_two_reasons_to_end_ends_once(round_number: int, follows: list[type[Event]]) -> None:
    nothing = ((0, 0, 0),) * (round_number - 1)
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, flips=2, round_number=round_number, points=nothing)
    _, events = GAME.apply(state, 0, Flip(KIWI, 1))
    assert [type(event) for event in events] == [Flipped, RoundEnded, *follows]


@pytest.mark.rule("SJ-E3")
def test_the_round_ends_when_the_last_face_down_card_is_flipped() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0^ kiwi2/1", ORANGE: "orange1/1", BANANA: "kiwi2/2^"})
    assert not ended(state, Flip(KIWI, 2))
    assert ended(state, Flip(KIWI, 2), Flip(ORANGE, 1))


@pytest.mark.rule("SJ-E3")
def test_a_placement_with_all_cards_face_up_does_not_end_the_round() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0^ kiwi2/1^"}, effects=(BANANA,))
    assert not ended(state, place("kiwi1", BANANA))


# --- Three rounds -----------------------------------------------------------------------------------------------------


def last_turn(round_number: int = 1, points: tuple[tuple[int, ...], ...] = (), number: int = 0) -> State:
    """Return a turn of three seats; a flip ends the round with 3, 2 and 1 points."""
    return position(
        "kiwi1 kiwi1 kiwi1",
        "kiwi2 kiwi2 banana1",
        "kiwi3 banana2 banana3",
        taps={KIWI: "kiwi1/0"},
        round_number=round_number,
        points=points,
        number=number,
    )


@pytest.mark.rule("SJ-G1")
def test_a_game_has_three_rounds() -> None:
    state = new(3)
    rounds = []
    while GAME.to_act(state):
        state, events = GAME.apply(state, state.seat, GAME.legal_moves(state, state.seat)[-1])
        rounds += [event.result.round for event in events if isinstance(event, RoundEnded)]
    assert rounds == [1, 2, 3]
    with pytest.raises(GameOver):
        GAME.apply(state, state.seat, place("kiwi1", KIWI))


@pytest.mark.rule("SJ-G1")
def test_all_cards_are_shuffled_and_dealt_again_for_each_round() -> None:
    deals = set()
    for number in range(20):
        state = ends(last_turn(number=number), Flip(KIWI, 1))
        assert [len(hand) for hand in state.hands] == [13, 13, 13]
        assert not any(tap.cards for tap in GAME.view(state, None).taps)
        deals.add(state.hands)
    assert len(deals) == 20


@pytest.mark.rule("SJ-G1")
def test_the_rounds_of_a_game_are_dealt_differently() -> None:
    state = new(3)
    deals = [state.hands]
    while len(state.finished) < 2:
        before = state.round
        state = play(state, GAME.legal_moves(state, state.seat)[-1])
        if state.round > before:
            deals.append(state.hands)
    assert all(earlier != later for earlier, later in pairwise(deals))


@pytest.mark.rule("SJ-G1")
def test_a_placed_switcheroo_returns_to_its_owner() -> None:
    state = position("kiwi1 kiwi2 kiwi3 kiwi1", "kiwi1 kiwi2 kiwi3", taps={KIWI: "switcheroo/0 switcheroo/1"})
    state = play(state, place("kiwi1", KIWI))
    assert state.round == 2
    assert [hand.count(SWITCHEROO) for hand in state.hands] == [1, 1]


@pytest.mark.rule("SJ-G2")
def test_the_seat_with_the_lowest_total_starts_the_next_round() -> None:
    """The totals are 13, 2 and 4. Seat 2 had the lowest points of the last round, but not the lowest total."""
    state = ends(last_turn(2, ((10, 0, 3),)), Flip(KIWI, 1))
    assert [seat.total for seat in GAME.score(state).scores] == [13, 2, 4]
    assert GAME.to_act(state) == (1,)
    assert GAME.view(state, None).first_seat == 1


@pytest.mark.rule("SJ-G2")
def test_the_next_first_seat_is_drawn_among_equal_lowest_totals() -> None:
    """The totals are 13, 12 and 12."""
    firsts = Counter(ends(last_turn(2, ((10, 10, 11),), number), Flip(KIWI, 1)).first_seat for number in range(60))
    assert set(firsts) == {1, 2}
    assert min(firsts.values()) > 15


@pytest.mark.rule("SJ-G3")
def test_the_highest_total_wins() -> None:
    state = ends(last_turn(3, ((0, 9, 0), (1, 0, 10))), Flip(KIWI, 1))
    score = GAME.score(state)
    assert [(seat.total, seat.rank) for seat in score.scores] == [(4, 3), (11, 1), (11, 1)]
    assert score.winners == (1, 2)
    assert score.note == "Seats 1 and 2 share the victory."


@pytest.mark.rule("SJ-G3")
def test_the_highest_total_alone_wins() -> None:
    score = GAME.score(ends(last_turn(3, ((0, 0, 0), (1, 0, 10))), Flip(KIWI, 1)))
    assert [(seat.total, seat.rank) for seat in score.scores] == [(4, 2), (2, 3), (11, 1)]
    assert score.winners == (2,)
    assert score.note == "Seat 2 wins."


@pytest.mark.rule("SJ-G3")
def test_all_can_share_the_victory() -> None:
    score = GAME.score(ends(last_turn(3, ((0, 1, 2), (0, 0, 0))), Flip(KIWI, 1)))
    assert [seat.rank for seat in score.scores] == [1, 1, 1]
    assert score.winners == (0, 1, 2)
    assert score.note == "Seats 0, 1 and 2 share the victory."


@pytest.mark.rule("SJ-G3")
def test_there_is_no_winner_before_the_end() -> None:
    score = GAME.score(ends(last_turn(2, ((0, 0, 0),)), Flip(KIWI, 1)))
    assert (score.finished, score.winners) == (False, ())
    assert score.note == "The standings after 2 of 3 rounds."
