"""Replays: a game holds if its history follows from its seed and its moves, and gives the score that is told."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

import sodafountain
from clients.loadtest.replays import wrong, wrong_with
from clients.loadtest.replay_process import replayed
from sodafountain.v1.game_service_pb2 import GetHistoryResponse, ScoreResponse
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions


@pytest.fixture(scope="module")
def game(target: str) -> tuple[str, GetHistoryResponse, ScoreResponse]:
    """A game that was played to its end: its id, history and score."""
    with sodafountain.connect(target) as client:
        game = client.new_game(SodaSmugglersOptions(), seats=3)
        awaited = game.state.awaiting_seats
        while awaited:
            seat = game.seats[awaited[0]]
            awaited = seat.apply(seat.legal_moves().moves[-1]).state.awaiting_seats
        return game.id, game.host.history(), game.host.score()


def teller(history: GetHistoryResponse, score: ScoreResponse) -> Any:
    """A client of a service that tells such a history and score of every game."""
    viewer = SimpleNamespace(history=lambda: history, score=lambda: score)
    return SimpleNamespace(spectator=lambda _: viewer)


def test_a_game_that_was_played_by_the_rules_holds(target: str, game: tuple[str, Any, Any]) -> None:
    assert replayed(target, [game[0]], secure=False) == {}


def test_games_that_are_not_over_or_not_there_do_not_hold(target: str) -> None:
    with sodafountain.connect(target) as client:
        begun = client.new_game(SodaSmugglersOptions(), seats=3).id
    found = wrong([begun, "a" * 26], target=target, secure=False)
    assert found.keys() == {begun, "a" * 26}


def test_a_history_that_lacks_a_move_does_not_hold(game: tuple[str, GetHistoryResponse, ScoreResponse]) -> None:
    _, history, score = game
    short = GetHistoryResponse()
    short.CopyFrom(history)
    del short.entries[5]
    assert wrong_with(teller(short, score), "any") == "the history does not hold: version 6 is missing"
    assert wrong_with(teller(history, score), "any") is None


def change_a_total(score: ScoreResponse) -> None:
    score.seats[0].total += 1


def change_a_line(score: ScoreResponse) -> None:
    score.seats[0].lines[0].points += 1


def change_a_tie_breaker(score: ScoreResponse) -> None:
    score.seats[0].tie_breakers.append(1)


def change_the_winners(score: ScoreResponse) -> None:
    score.winning_seats[:] = [(score.winning_seats[0] + 1) % 3]


def change_the_note(score: ScoreResponse) -> None:
    score.note += "!"


def say_it_is_not_over(score: ScoreResponse) -> None:
    score.final = False


@pytest.mark.parametrize(
    "change",
    [change_a_total, change_a_line, change_a_tie_breaker, change_the_winners, change_the_note, say_it_is_not_over],
)
def test_a_score_that_does_not_follow_from_the_history_does_not_hold(
    change: Callable[[ScoreResponse], None], game: tuple[str, GetHistoryResponse, ScoreResponse]
) -> None:
    _, history, score = game
    other = ScoreResponse()
    other.CopyFrom(score)
    change(other)
    problem = "the history does not hold: the service tells another score than follows from it"
    assert wrong_with(teller(history, other), "any") == problem


def test_what_a_later_release_tells_beside_the_score_is_left_alone(
    game: tuple[str, GetHistoryResponse, ScoreResponse],
) -> None:
    _, history, score = game
    later = ScoreResponse.FromString(score.SerializeToString() + b"\xf8\x07\x01")  # a field 127
    assert wrong_with(teller(history, later), "any") is None
