"""Scoring: SJ-P."""

from collections import Counter

import pytest

from engine.game import SPECTATOR, ScoreLine
from engine.soda_jerk.components import Flavor
from engine.soda_jerk.events import RoundResult
from engine.soda_jerk.state import Flip
from tests.engine.soda_jerk.positions import (
    BANANA,
    BLUEBERRY,
    GAME,
    KIWI,
    ORANGE,
    SIX,
    STRAWBERRY,
    card,
    ended,
    place,
    play,
    position,
    value,
)

MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"

EXAMPLE_HAND = "strawberry2 strawberry1 banana1 banana1 kiwi2 orange3 orange1"
EXAMPLE_TAPS = {
    STRAWBERRY: "kiwi2/1",
    BLUEBERRY: "blueberry1/1 strawberry1/2",
    BANANA: "banana3/2 orange1/1",
    KIWI: "kiwi1/0 blueberry1/1",
    ORANGE: "orange3/0",
}
"""Taps with the values -2, 0, 2, 0 and 3."""


def example() -> RoundResult:
    """Return the result of the rulebook's example, which a third flip in a row ends."""
    state = position(EXAMPLE_HAND, SIX, "kiwi1 kiwi1 kiwi1 kiwi1", taps=EXAMPLE_TAPS, flips=2)
    end = ended(state, Flip(ORANGE, 1))
    assert end
    return end.result


# --- Taps -------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-P1")
@pytest.mark.parametrize(
    ("cards", "worth"),
    [
        ("", 0),
        ("kiwi3/0", 3),
        ("kiwi3/0 kiwi1/1^", 4),
        ("banana2/0", -2),
        ("kiwi3/0 banana2/1 orange2/1^", -1),
        ("kiwi1/0 banana1/1", 0),
    ],
)
def test_a_tap_is_worth_its_own_flavor_less_the_others(cards: str, worth: int) -> None:
    assert value(KIWI, cards) == worth


@pytest.mark.rule("SJ-P1")
def test_all_cards_are_revealed_when_the_round_ends() -> None:
    result = example()
    assert [tap.flavor for tap in result.taps] == list(Flavor)
    shown = [[placed.card for placed in tap.cards] for tap in result.taps]
    assert shown == [
        [card("kiwi2")],
        [card("blueberry1"), card("strawberry1")],
        [card("banana3"), card("orange1")],
        [card("kiwi1"), card("blueberry1")],
        [card("orange3")],
    ]
    assert all(placed.face_up for tap in result.taps for placed in tap.cards)
    assert Counter(result.hands[0].cards) == Counter(map(card, EXAMPLE_HAND.split()))
    assert [hand.size for hand in result.hands] == [7, 6, 4]


@pytest.mark.rule("SJ-P1")
def test_a_finished_round_stays_visible_to_all_viewers() -> None:
    state = position(EXAMPLE_HAND, SIX, "kiwi1 kiwi1 kiwi1 kiwi1", taps=EXAMPLE_TAPS, flips=2)
    state = play(state, Flip(ORANGE, 1))
    for viewer in (0, 1, 2, SPECTATOR):
        assert GAME.view(state, viewer).finished_rounds == (example(),)


@pytest.mark.rule("SJ-P1")
def test_the_last_round_is_revealed_when_the_game_is_over() -> None:
    nothing = ((0, 0, 0), (0, 0, 0))
    state = position(
        EXAMPLE_HAND, SIX, "kiwi1 kiwi1 kiwi1 kiwi1", taps=EXAMPLE_TAPS, flips=2, round_number=3, points=nothing
    )
    state = play(state, Flip(ORANGE, 1))
    for viewer in (0, 1, 2, SPECTATOR):
        view = GAME.view(state, viewer)
        assert view.round == 3
        assert view.taps == view.finished_rounds[-1].taps
        assert view.hands == view.finished_rounds[-1].hands


@pytest.mark.rule("SJ-P1")
def test_cards_that_were_set_aside_are_never_revealed() -> None:
    """A finished round shows dealt cards only: 10 of 45 for each of 4 seats."""
    start, _ = GAME.new_game(GAME.presets[0].options, 4, position(SIX, SIX, SIX).rng)
    state = start
    while state.round == 1:
        state = play(state, GAME.legal_moves(state, state.seat)[0])
    (result,) = GAME.view(state, SPECTATOR).finished_rounds
    shown = Counter(placed.card for tap in result.taps for placed in tap.cards)
    shown += Counter(card for hand in result.hands for card in hand.cards)
    assert shown == Counter(card for seat in range(4) for card in GAME.view(start, seat).hands[seat].cards)


@pytest.mark.rule("SJ-P2")
@pytest.mark.parametrize(
    ("cards", "worth"),
    [
        ("kiwi3/0 banana1/1", 2),
        ("kiwi3/0 switcheroo/1 banana1/1", -2),
        ("switcheroo/0 kiwi3/0 switcheroo/1^ banana1/1", 2),
        ("banana3/0 switcheroo/0", 3),
        ("switcheroo/0", 0),
    ],
)
def test_an_odd_number_of_switcheroos_negates_a_tap(cards: str, worth: int) -> None:
    assert value(KIWI, cards) == worth


# --- Hands ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-P3")
def test_a_card_in_hand_scores_its_flavors_tap_not_its_printed_value() -> None:
    state = position("kiwi1 kiwi2 kiwi3 orange1", SIX, SIX, taps={KIWI: "kiwi2/0", ORANGE: "orange3/1"}, flips=2)
    end = ended(state, Flip(KIWI, 1))
    assert end
    assert end.result.points[0] == 3 * 2 + 3


@pytest.mark.rule("SJ-P3")
def test_a_rounds_score_can_be_negative() -> None:
    state = position("kiwi1 kiwi2 kiwi3 orange1", SIX, SIX, taps={KIWI: "orange2/0"}, flips=2)
    end = ended(state, Flip(KIWI, 1))
    assert end
    assert end.result.points[0] == -6
    points = f"seat 0 scores {MINUS}6, seat 1 scores {MINUS}2 and seat 2 scores {MINUS}2"
    assert GAME.describe(end) == f"Round 1 ends: {points}."


@pytest.mark.rule("SJ-P3")
def test_a_switcheroo_in_hand_scores_nothing() -> None:
    hand = "kiwi1 kiwi1 banana1 switcheroo"
    end = ended(position(hand, hand, taps={KIWI: "kiwi3/0"}, flips=1), Flip(KIWI, 1))
    assert end
    assert end.result.points == (6, 6)


@pytest.mark.rule("SJ-P3")
def test_a_score_has_a_line_for_each_flavor_and_round() -> None:
    taps = {KIWI: "kiwi3/0", ORANGE: "kiwi1/0"}
    state = position("kiwi1 kiwi2 banana1 orange2 orange3", SIX, SIX, taps=taps, flips=2)
    lines = GAME.score(play(state, Flip(KIWI, 1))).scores[0].lines
    assert lines == (
        ScoreLine("banana", f"1 {TIMES} Banana at 0", 0, 1),
        ScoreLine("kiwi", f"2 {TIMES} Kiwi at 3", 6, 1),
        ScoreLine("orange", f"2 {TIMES} Orange at {MINUS}1", -2, 1),
    )


@pytest.mark.rule("SJ-P4")
def test_the_rulebooks_example_scores_six() -> None:
    result = example()
    assert result.tap_values == (-2, 0, 2, 0, 3)
    assert result.points[0] == 6


@pytest.mark.rule("SJ-P4")
def test_the_rulebooks_example_has_its_score_lines() -> None:
    state = position(EXAMPLE_HAND, SIX, "kiwi1 kiwi1 kiwi1 kiwi1", taps=EXAMPLE_TAPS, flips=2)
    lines = GAME.score(play(state, Flip(ORANGE, 1))).scores[0].lines
    assert [(line.code, line.points) for line in lines] == [
        ("strawberry", -4),
        ("banana", 4),
        ("kiwi", 0),
        ("orange", 6),
    ]


@pytest.mark.rule("SJ-P1")
def test_face_down_cards_count() -> None:
    state = position(SIX, SIX, "kiwi1 kiwi1 kiwi1", taps={KIWI: "kiwi3/0 kiwi2/1 banana1/2"}, seat=1)
    end = ended(state, place("orange1", KIWI))
    assert end
    assert end.result.tap_values[KIWI - 1] == 3 + 2 - 1 - 1
