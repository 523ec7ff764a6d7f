"""The guide's programs and the example player, against a real service."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path

import pytest

import sodafountain
from clients.own_service import own_service
from sodafountain.v1.game_pb2 import GAME_STATUS_FINISHED
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

CLIENT = Path(__file__).parents[2] / "clients" / "python"
PLAYER = CLIENT / "examples" / "player.py"
SNIPPETS: list[str] = re.findall(r"```python\n(.*?)```", (CLIENT / "README.md").read_text(), re.DOTALL)
QUIET = {**os.environ, "GRPC_VERBOSITY": "NONE"}


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    """The address of a service."""
    with own_service() as address:
        yield address


def snippet(sign: str) -> str:
    """The guide's only snippet that has a sign in it."""
    (found,) = [each for each in SNIPPETS if sign in each]
    return found


def run(*command: str, folder: Path) -> str:
    """Runs a command in a folder and returns what it prints, where it prints no errors."""
    done = subprocess.run(command, cwd=folder, env=QUIET, capture_output=True, encoding="utf-8", timeout=90)
    assert (done.stderr, done.returncode) == ("", 0)
    return done.stdout


def test_the_guide_s_first_game_is_played_kept_and_verified(target: str, tmp_path: Path) -> None:
    program = snippet("print(game.host.score().note)").replace("localhost:50051", target)
    keep = "".join(f"    {line}" for line in snippet("game.json").splitlines(keepends=True) if line.strip())
    note = run(sys.executable, "-c", program + keep, folder=tmp_path)
    assert re.search("wins|share the victory", note)
    command = Path(sys.executable).with_name("sodafountain")
    assert run(str(command), "verify", "game.json", folder=tmp_path).startswith("Verified: ")


def test_the_guide_s_asyncio_program_runs_as_it_stands(target: str, tmp_path: Path) -> None:
    program = snippet("sodafountain.aio.connect").replace("localhost:50051", target)
    told = run(sys.executable, "-c", program, folder=tmp_path).splitlines()
    assert [line.split()[0] for line in told] == ["0", "1"]
    assert [line.endswith("waits") for line in told].count(True) == 1


def test_the_guide_s_way_to_play_plays_a_game_in_which_all_move_at_once(
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


def test_players_in_processes_of_their_own_play_a_game_to_its_end(target: str) -> None:
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
        told = [player.communicate(timeout=90) for player in players]
        moves = client.spectator(game.id).state().version - 1
        note = client.spectator(game.id).score().note
    assert [player.returncode for player in players] == [0] * len(players), told
    assert [errors for _, errors in told] == [""] * len(players)
    lines = [output.splitlines() for output, _ in told]
    assert [line[-1] for line in lines] == [note] * len(players)
    assert [{move.split(":")[0] for move in line[:-1]} for line in lines] == [
        {f"Seat {number}"} for number in range(len(players))
    ]
    assert sum(len(line) - 1 for line in lines) == moves


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--target=localhost", "--token=t"], r"player: target 'localhost' is not host:port .*\n"),
        (["--token=sécret"], r"player: The token must consist of visible ASCII .*\n"),
        (["--token=forged"], r"player: .*\.\n"),
    ],
)
def test_the_player_says_in_a_sentence_what_is_wrong(target: str, arguments: list[str], problem: str) -> None:
    command = [sys.executable, str(PLAYER), f"--target={target}", f"--game={'a' * 26}", *arguments]
    done = subprocess.run(command, env=QUIET, capture_output=True, encoding="utf-8", timeout=90)
    assert (done.stdout, done.returncode) == ("", 1)
    assert re.fullmatch(problem, done.stderr)


def test_the_player_is_short_enough_to_read() -> None:
    assert len(PLAYER.read_text().splitlines()) < 60
