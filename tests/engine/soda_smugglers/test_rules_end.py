"""The visibility of luggage, and the end of the game: SS-B7, SS-G."""

import pytest
from msgspec.structs import replace

from engine.errors import GameOver
from engine.game import SPECTATOR
from engine.soda_smugglers.state import (
    AcceptBribe,
    Arrest,
    Inspect,
    Stage,
)
from tests.engine.soda_smugglers.positions import (
    GAME,
    WAVE,
    border,
    caps,
    finish,
    happens,
    in_round,
    known,
    new,
    play,
    seen,
)

THREE = ("21+1", "00+2", "10+0")
"""Three travelers, with 3, 0 and 1 bottles in their luggage."""

# --- Visibility -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B7")
def test_suitcases_discarded_are_never_revealed() -> None:
    """Every traveler discards 0 and 0 in one game and 3 and 3 in the other: all viewers receive identical values."""
    state = border(*THREE)
    other = replace(state, hands=tuple(b"\x03\x03" if hand else b"" for hand in state.hands))
    for move in (AcceptBribe(1), Inspect(2, 1), Arrest(2), WAVE):
        for viewer in (0, 1, 2, 3, SPECTATOR):
            assert GAME.view(state, viewer) == GAME.view(other, viewer)
        assert happens(state, move) == happens(other, move)
        state, other = play(state, move), play(other, move)


@pytest.mark.rule("SS-B7")
def test_undealt_suitcases_are_not_in_the_state() -> None:
    state = new(3)
    assert sum(len(hand) for hand in state.hands) == 10
    shown = [bottles for seat in GAME.view(finish(state), SPECTATOR).seats for bottles in seat.hand]
    assert shown == []


@pytest.mark.rule("SS-B7")
def test_revealed_luggage_stays_visible_until_the_round_ends() -> None:
    state = play(border(*THREE, "00+0"), AcceptBribe(1), Inspect(2, 1), Arrest(3))
    for viewer in (0, 4, SPECTATOR):
        assert [known(state, seat, viewer) for seat in (1, 2, 3)] == [[2, 1], [0, None], [1, 0]]
        assert [seen(state, seat, viewer).bribe for seat in (1, 2, 3)] == [1, 2, 0]
    state = play(state, WAVE)
    assert [known(state, seat) for seat in range(5)] == [[]] * 5
    assert [seen(state, seat).bribe for seat in range(5)] == [None] * 5


# --- The end of the game, and the rulebook's examples -----------------------------------------------------------------


@pytest.mark.rule("SS-G1")
def test_the_most_caps_win_after_the_last_round() -> None:
    state = play(in_round(border("21+1", "00+2", caps=(11, 10, 12)), 6), WAVE)
    score = GAME.score(state)
    assert (score.finished, score.winners, score.note) == (True, (1,), "Seat 1 wins.")
    assert [(seat.total, seat.rank) for seat in score.scores] == [(11, 3), (13, 1), (12, 2)]
    assert GAME.to_act(state) == ()
    with pytest.raises(GameOver):
        GAME.apply(state, 0, WAVE)


@pytest.mark.rule("SS-G1")
def test_a_tie_is_a_shared_victory() -> None:
    score = GAME.score(play(in_round(border("21+1", "00+2", caps=(13, 10, 1)), 6), WAVE))
    assert (score.winners, score.note) == ((0, 1), "Seats 0 and 1 share the victory.")
    assert [seat.rank for seat in score.scores] == [1, 1, 3]


@pytest.mark.rule("SS-G1")
def test_there_is_no_winner_before_the_last_round_is_over() -> None:
    state = play(in_round(border("21+1", "00+2"), 5), WAVE)
    assert state.stage is Stage.PACKING
    assert GAME.score(state).winners == ()
    assert GAME.score(state).note == "The standings in round 6 of 6."


@pytest.mark.rule("SS-G1")
def test_the_last_round_stays_visible_after_the_end() -> None:
    view = GAME.view(play(in_round(border("21+1", "00+2"), 6), WAVE), SPECTATOR)
    assert (view.round, view.stage) == (6, Stage.OVER)
    assert [suitcase.bottles for suitcase in view.seats[1].luggage] == [2, 1]


@pytest.mark.rule("SS-G2")
def test_the_example_of_an_accepted_bribe_holds() -> None:
    """With a bribe of 2 and 5 bottles in the luggage, the guard gains 2 caps and the stock pays 5."""
    assert caps(border("32+2", "00+0"), AcceptBribe(1)) == (12, 13, 10)


@pytest.mark.rule("SS-G2")
def test_the_example_of_an_undue_arrest_holds() -> None:
    """An inspection shows 1 bottle and the other suitcase is empty: the guard pays 2 caps and the stock 1."""
    state = play(border("10+0", "00+0"), Inspect(1, 1))
    assert known(state, 1) == [1, None]
    assert caps(state, Arrest(1)) == (8, 13, 10)
