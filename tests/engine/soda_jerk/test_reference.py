"""The engine and the slow reference play the same games and must agree on everything."""

from hypothesis import given

from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.events import RoundEnded, RoundStarted
from engine.soda_jerk.state import State
from tests.engine.plays import Play, plays
from tests.engine.soda_jerk import reference, translate


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
def test_turns_and_cards_go_as_in_the_reference(played: Play) -> None:
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
    assert [seat.total for seat in score.seats] == totals
    assert set(score.winners) == reference.winners(totals)
