"""The Python client and its example bot against a real service."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import sodafountain
from sodafountain.v1.game_pb2 import GAME_STATUS_ACTIVE, GAME_STATUS_FINISHED

BOT = Path(__file__).parents[2] / "clients" / "python" / "examples" / "bot.py"


@pytest.mark.parametrize("options", [[], ["--kind=soda_jerk", '--options={"advanced": true}', "--seats=4", "--seed=1"]])
def test_the_bot_plays_a_game_to_its_end(target: str, options: list[str]) -> None:
    command = [sys.executable, str(BOT), f"--target={target}", *options]
    result = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=60)
    assert (result.stderr, result.returncode) == ("", 0)
    *moves, note = result.stdout.splitlines()
    assert re.fullmatch(r"Seats? .* (wins|share the victory)\.", note)
    assert sum(": Place " in move or ": Flip " in move for move in moves) > 20


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--kind=lemonade"], r"bot: --kind must be one of soda_jerk.*, not lemonade"),
        (["--kind=soda_jerk", "--seats=9"], r"bot: .*2 to 4 seats, not 9\."),
        (["--options={"], r"bot: .*JSON.*"),
    ],
)
def test_the_bot_exits_with_one_sentence_for_an_error(
    target: str,
    arguments: list[str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["bot", f"--target={target}", *arguments])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(BOT), run_name="__main__")
    assert re.fullmatch(problem, str(end.value.code))
    assert capsys.readouterr() == ("", "")


def test_a_player_with_a_token_can_move_from_another_client(target: str) -> None:
    with sodafountain.connect(target) as back_end, sodafountain.connect(target) as player:
        kind = back_end.game_kinds()[0]
        game = back_end.new_game(kind.presets[0], kind.min_seats)
        number = game.state.awaiting_seats[0]
        seat = player.seat(game.id, game.seat_tokens[number])
        answer = seat.apply(seat.legal_moves().moves[0], legal_moves=True)
        assert seat.number == number
        assert player.spectator(game.id).state().version == answer.committed_version == 2


def test_a_repeated_request_id_makes_one_move(target: str) -> None:
    with sodafountain.connect(target) as client:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        seat = game.seats[game.state.awaiting_seats[0]]
        move = seat.legal_moves().moves[0]
        request_id = "0b7c1a52-3d1e-4f06-8c65-2a1f6f2d9b11"
        first = seat.apply(move, request_id=request_id)
        again = seat.apply(move, request_id=request_id)
        assert (first.repeated_request, again.repeated_request) == (False, True)
        assert again.committed_version == first.committed_version == game.host.state().version


def test_a_move_for_an_answered_decision_has_a_stale_etag(target: str) -> None:
    with sodafountain.connect(target) as client:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        number = game.state.awaiting_seats[0]
        first, second = game.seats[number], client.seat(game.id, game.seat_tokens[number])
        moves = first.legal_moves().moves
        second.apply(moves[0])
        with pytest.raises(sodafountain.StaleEtag) as caught:
            first.apply(moves[1])
        assert caught.value.metadata == {"version": "2"}


def test_a_player_finds_the_game_so_far_in_its_history(target: str) -> None:
    with sodafountain.connect(target) as client:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        number = game.state.awaiting_seats[0]
        game.seats[number].apply(game.seats[number].legal_moves().moves[0])
        other = (number + 1) % kind.min_seats
        own, others = game.seats[number].history(), game.seats[other].history()
        assert own.status == others.status == GAME_STATUS_ACTIVE
        assert [entry.HasField("move") for entry in own.entries] == [False, True]
        assert [entry.HasField("move") for entry in others.entries] == [False, False]
        assert (game.host.history(number), game.host.history(other)) == (own, others)
        assert game.host.history() == client.spectator(game.id).history()


def test_a_finished_game_has_a_history_and_can_be_deleted_twice(target: str) -> None:
    with sodafountain.connect(target) as client:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        state = game.state
        while state.awaiting_seats:
            seat = state.awaiting_seats[0]
            state = game.host.apply(seat, game.host.legal_moves(seat).moves[0]).state
        assert state.status == GAME_STATUS_FINISHED
        history = client.spectator(game.id).history()
        assert [entry.version for entry in history.entries] == list(range(1, state.version + 1))
        assert history.seed_commitment == game.state.seed_commitment
        assert client.spectator(game.id).score().finished
        game.host.delete()
        game.host.delete()
        with pytest.raises(sodafountain.GameNotFound):
            client.spectator(game.id).state()


def test_the_message_of_a_service_error_is_a_sentence(target: str) -> None:
    with sodafountain.connect(target) as client:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        seat = game.seats[game.state.awaiting_seats[0]]
        move = seat.legal_moves().moves[0]
        other = next(each for each in game.seats if each is not seat)
        with pytest.raises(sodafountain.NotYourTurn) as caught:
            other.apply(move)
        assert re.fullmatch(r"[A-Z].*\.", str(caught.value))
        with pytest.raises(sodafountain.WrongSeat):
            client.host(game.id, game.seat_tokens[0]).delete()
        with pytest.raises(sodafountain.TokenInvalid):
            client.seat(game.id, "forged").state()
