"""The engine and the independent reference play the same games and agree on everything."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Self

import pytest
from hypothesis import given

from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.events import RoundEnded, RoundStarted
from engine.soda_jerk.state import State
from tests.engine.plays import Play, plays
from tests.engine.soda_jerk import reference, translate
from tests.engine.trees import TREES, count_reference_leaves, trees_of


@given(plays("soda_jerk"))
def test_legal_moves_are_those_of_the_reference(played: Play) -> None:
    round_played = translate.started(played.start)
    for step in played.steps:
        moves = SODA_JERK.legal_moves(step.before, step.seat)
        assert {translate.move(move) for move in moves} == round_played.legal()
        round_played.play(translate.move(step.move))
        if round_played.over:
            round_played = translate.started(step.after)


@given(plays("soda_jerk"))
def test_turns_and_cards_are_those_of_the_reference(played: Play) -> None:
    round_played = translate.started(played.start)
    for step in played.steps:
        assert (step.seat,) == (round_played.turn,) == SODA_JERK.to_act(step.before)
        round_played.play(translate.move(step.move))
        if round_played.over:
            round_played = translate.started(step.after)
        else:
            after: State = step.after
            assert [[translate.coded(code) for code in hand] for hand in after.hands] == round_played.hands
            assert translate.piles(after) == round_played.laid
            assert after.flips_in_a_row == round_played.flips_in_a_row


@given(plays("soda_jerk"))
def test_rounds_end_and_score_as_in_the_reference(played: Play) -> None:
    round_played = translate.started(played.start)
    for step in played.steps:
        round_played.play(translate.move(step.move))
        results = [event.result for event in step.events if isinstance(event, RoundEnded)]
        assert len(results) == round_played.over
        if results:
            assert list(results[0].tap_values) == [round_played.value(tap) for tap in round_played.taps]
            assert list(results[0].points) == [round_played.points(seat) for seat in range(played.seat_count)]
            round_played = translate.started(step.after)


@given(plays("soda_jerk"))
def test_the_next_round_and_the_winners_are_those_of_the_reference(played: Play) -> None:
    totals = [0] * played.seat_count
    round_played = translate.started(played.start)
    for step in played.steps:
        round_played.play(translate.move(step.move))
        if round_played.over:
            totals = [total + round_played.points(seat) for seat, total in enumerate(totals)]
            starts = [event.first_seat for event in step.events if isinstance(event, RoundStarted)]
            assert set(starts) <= reference.starters(totals)
            round_played = translate.started(step.after)
    score = SODA_JERK.score(played.end)
    assert [seat.total for seat in score.scores] == totals
    assert set(score.winners) == reference.winners(totals)


@dataclass
class Position:
    """A state, and the reference's round at the same point."""

    state: State
    round: reference.Round

    def moves(self) -> Iterator[tuple[int, Any]]:
        return ((self.round.turn, move) for move in self.round.legal())

    def after(self, seat: int, move: Any) -> Self:
        engine_move = next(each for each in SODA_JERK.legal_moves(self.state, seat) if translate.move(each) == move)
        state, _ = SODA_JERK.apply(self.state, seat, engine_move)
        played = deepcopy(self.round)
        played.play(move)
        return type(self)(state, translate.started(state) if played.over else played)


@pytest.mark.parametrize("name", trees_of("soda_jerk"))
def test_a_tree_has_the_counts_of_the_reference(name: str) -> None:
    tree = TREES[name]
    position = Position(tree.start(), translate.started(tree.start()))
    for seat, move in tree.path():
        position = position.after(seat, translate.move(move))
    depth = tree.reference_depth
    assert count_reference_leaves(position, depth) == tree.counts[depth - 1]
