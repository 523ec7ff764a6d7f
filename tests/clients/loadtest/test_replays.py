"""A game is verified if its history belongs to the first commitment and yields the score of the service."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeAlias

import pytest

import sodafountain
from clients.loadtest.replay_process import replay_games
from clients.loadtest.replays import replay_problem
from sodafountain.v1.game_service_pb2 import GetHistoryResponse, ScoreResponse
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

# The id, the commitment, the history and the score of a game.
FinishedGame: TypeAlias = tuple[str, bytes, GetHistoryResponse, ScoreResponse]


@pytest.fixture(scope="module")
def game(target: str) -> FinishedGame:
    """A finished game."""
    with sodafountain.connect(target) as client:
        game = client.new_game(SodaSmugglersOptions(), seats=3)
        awaited = game.state.awaiting_seats
        while awaited:
            seat = game.seats[awaited[0]]
            awaited = seat.apply(seat.legal_moves().moves[-1]).state.awaiting_seats
        return game.id, game.commitment, game.host.history(), game.host.score()


def fake_client(history: GetHistoryResponse, score: ScoreResponse) -> Any:
    """Create a client that returns this history and score for every game."""
    viewer = SimpleNamespace(history=lambda: history, score=lambda: score)
    return SimpleNamespace(spectator=lambda *_, **__: viewer)


def test_only_unfinished_and_unknown_games_have_a_problem(target: str, game: FinishedGame) -> None:
    game_id, commitment, *_ = game
    with sodafountain.connect(target) as client:
        unfinished = client.new_game(SodaSmugglersOptions(), seats=3)
    games = {game_id: commitment.hex(), unfinished.id: unfinished.commitment.hex(), "a" * 26: bytes(32).hex()}
    found = replay_games(target, games, secure=False, allow_insecure=False)
    assert found.keys() == {unfinished.id, "a" * 26}


def test_a_game_with_another_commitment_than_at_its_creation_has_a_problem(target: str, game: FinishedGame) -> None:
    game_id, commitment, *_ = game
    assert commitment != bytes(32)
    problem = f"The seed commitment of game {game_id} has changed."
    assert replay_games(target, {game_id: bytes(32).hex()}, secure=False, allow_insecure=False) == {game_id: problem}


def test_a_history_with_a_missing_move_has_a_problem(game: FinishedGame) -> None:
    game_id, commitment, history, score = game
    short = GetHistoryResponse()
    short.CopyFrom(history)
    del short.entries[5]
    assert replay_problem(fake_client(short, score), game_id, commitment) == "verification failed: version 6 is missing"
    assert replay_problem(fake_client(history, score), game_id, commitment) is None


def change_a_total(score: ScoreResponse) -> None:
    score.scores[0].total += 1


def change_a_line(score: ScoreResponse) -> None:
    score.scores[0].lines[0].points += 1


def change_a_tie_breaker(score: ScoreResponse) -> None:
    score.scores[0].tie_breakers.append(1)


def change_the_winners(score: ScoreResponse) -> None:
    score.winners[0].seat = (score.winners[0].seat + 1) % 3


def change_the_note(score: ScoreResponse) -> None:
    score.note += "!"


def make_it_preliminary(score: ScoreResponse) -> None:
    score.finished = False


@pytest.mark.parametrize(
    "change",
    [change_a_total, change_a_line, change_a_tie_breaker, change_the_winners, change_the_note, make_it_preliminary],
)
def test_a_score_that_does_not_follow_from_the_history_is_a_problem(
    change: Callable[[ScoreResponse], None], game: FinishedGame
) -> None:
    game_id, commitment, history, score = game
    other = ScoreResponse()
    other.CopyFrom(score)
    change(other)
    problem = "verification failed: the service's score differs from the score of the history"
    assert replay_problem(fake_client(history, other), game_id, commitment) == problem


def test_score_fields_of_a_later_release_are_ignored(game: FinishedGame) -> None:
    game_id, commitment, history, score = game
    later = ScoreResponse.FromString(score.SerializeToString() + b"\xf8\x07\x01")  # a field 127
    assert replay_problem(fake_client(history, later), game_id, commitment) is None
