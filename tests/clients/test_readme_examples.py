"""The programs in the README and the example player, against a real service."""

import os
import re
import runpy
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

import sodafountain
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED, VISIBILITY_PRIVATE
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions
from tests.support.service import Service

CLIENT = Path(__file__).parents[2] / "clients" / "python"
PLAYER = CLIENT / "examples" / "player.py"
SNIPPETS: list[str] = re.findall(r"```python\n(.*?)```", (CLIENT / "README.md").read_text(), re.DOTALL)
QUIET = {**os.environ, "GRPC_VERBOSITY": "NONE"}


@pytest.fixture
def target(real_service: Service) -> str:
    """The address of a service."""
    return real_service.target


def snippet(text: str) -> str:
    """Return the only code block of the README that contains `text`."""
    (found,) = [each for each in SNIPPETS if text in each]
    return found


def run(*command: str, folder: Path) -> str:
    """Run a command in a folder and return its output; fail if it prints to stderr."""
    result = subprocess.run(command, cwd=folder, env=QUIET, capture_output=True, encoding="utf-8", timeout=90)
    assert (result.stderr, result.returncode) == ("", 0)
    return result.stdout


def test_the_first_example_plays_a_game_whose_history_can_be_verified(target: str, tmp_path: Path) -> None:
    program = snippet("print(game.host.score().note)").replace("localhost:50051", target)
    save = "".join(f"    {line}" for line in snippet("game.json").splitlines(keepends=True) if line.strip())
    note, commitment = run(sys.executable, "-c", program + save, folder=tmp_path).splitlines()
    assert re.search("wins|share the victory", note)
    command = Path(sys.executable).with_name("sodafountain")
    verified = run(str(command), "verify", "game.json", "--commitment", commitment, folder=tmp_path)
    assert verified.startswith("Verified: ")


def test_the_example_of_a_private_game_runs(target: str) -> None:
    with sodafountain.connect(target) as client:
        found: dict[str, Any] = {"client": client, "SodaJerkOptions": SodaJerkOptions}
        exec(snippet("VISIBILITY_PRIVATE"), found)
        assert found["spectator"].state().visibility == VISIBILITY_PRIVATE
        with pytest.raises(sodafountain.GameNotFound):
            client.spectator(found["game"].id).state()


def test_the_example_of_a_saved_commitment_runs(target: str) -> None:
    with sodafountain.connect(target) as client:
        game = client.new_game(SodaJerkOptions(), seats=3)
        found: dict[str, Any] = {"client": client, "seat": game.seats[1], "token": game.seat_tokens[1]}
        exec(snippet("bytes.fromhex"), found)
        assert found["seat"] is not game.seats[1]
        assert found["seat"].commitment == game.commitment
        assert found["seat"].state().viewer_seat == 1


def test_the_asyncio_example_runs(target: str, tmp_path: Path) -> None:
    program = snippet("sodafountain.aio.connect").replace("localhost:50051", target)
    lines = run(sys.executable, "-c", program, folder=tmp_path).splitlines()
    assert [line.split()[0] for line in lines] == ["0", "1"]
    assert [line.endswith("waits") for line in lines].count(True) == 1


def test_the_player_example_plays_a_game_in_which_all_seats_move_concurrently(
    target: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with sodafountain.connect(target) as client, ThreadPoolExecutor(5) as threads:
        game = client.new_game(SodaSmugglersOptions(), seats=5)
        programs = [threads.submit(exec, snippet("seat.watch("), {"seat": seat}) for seat in game.seats]
        for program in programs:
            program.result(90)
        assert game.host.state().status == GAME_STATUS_FINISHED
        last = game.host.history().entries[-1].events[-1].text
    assert capsys.readouterr().out.splitlines().count(last) == 5


def test_player_processes_play_a_game_to_its_end(target: str) -> None:
    with sodafountain.connect(target) as client, ExitStack() as stack:
        kind = client.game_kinds()[0]
        game = client.new_game(kind.presets[0], kind.min_seats)
        command = [sys.executable, str(PLAYER), f"--target={target}", f"--game={game.id}"]
        players = [
            stack.enter_context(
                subprocess.Popen(
                    [*command, f"--token={token}"],
                    env=QUIET,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    encoding="utf-8",
                )
            )
            for token in game.seat_tokens
        ]
        for player in players:
            stack.callback(player.kill)
        outputs = [player.communicate(timeout=90) for player in players]
        moves = client.spectator(game.id).state().version - 1
        note = client.spectator(game.id).score().note
    assert [player.returncode for player in players] == [0] * len(players), outputs
    assert [errors for _, errors in outputs] == [""] * len(players)
    lines = [output.splitlines() for output, _ in outputs]
    assert [line[-1] for line in lines] == [note] * len(players)
    assert [{move.split(":")[0] for move in line[:-1]} for line in lines] == [
        {f"Seat {number}"} for number in range(len(players))
    ]
    assert sum(len(line) - 1 for line in lines) == moves


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--target=localhost", "--token=t"], r"player: target 'localhost' is not host:port .*"),
        (["--token=sécret"], r"player: The token must consist of visible ASCII .*"),
        (["--token=forged"], r"player: .*\."),
    ],
)
def test_the_player_reports_errors_in_one_line(
    target: str,
    arguments: list[str],
    problem: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", [str(PLAYER), f"--target={target}", f"--game={'a' * 26}", *arguments])
    with pytest.raises(SystemExit) as caught:
        runpy.run_path(str(PLAYER), run_name="__main__")
    assert re.fullmatch(problem, str(caught.value.code))
    assert capsys.readouterr() == ("", "")


def test_the_player_is_short() -> None:
    assert len(PLAYER.read_text().splitlines()) < 60
