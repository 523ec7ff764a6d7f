"""The commands of docs/rest.md do what the page says, as they are printed there, in one shell."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from sodafountain.v1.errors_pb2 import ErrorReason
from tests.support.rest import running_with_rest

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
MARK = "=== the next command ==="


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """What each of the page's commands prints."""
    assert shutil.which("curl"), "install curl: the page uses it"
    assert shutil.which("jq"), "install jq: the page uses it"
    folder = tmp_path_factory.mktemp("rest")
    script = f"\necho '{MARK}'\n".join(COMMANDS)
    with running_with_rest(folder, f"--data-dir={folder / 'data'}") as url:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={"SODA": url, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert done.returncode == 0, done
    assert not done.stderr
    return done.stdout.split(f"{MARK}\n")


def answer(answers: list[str], words: str) -> list[str]:
    """The lines that the one command with these words printed."""
    (at,) = (at for at, command in enumerate(COMMANDS) if words in command)
    return answers[at].splitlines()


def test_the_first_command_lists_the_games(answers: list[str]) -> None:
    assert answer(answers, "gameKinds") == [
        "Soda Jerk: 2 to 4 seats",
        "Soda Smugglers: 3 to 8 seats",
        "Juices: 1 to 14 seats",
    ]


def test_the_first_move_is_made_from_the_legal_ones(answers: list[str]) -> None:
    prompt, *labels = answer(answers, "legal=")
    version, *events = answer(answers, "move=")

    assert prompt.startswith("Place a card")
    assert all(label.startswith(("Place ", "Flip ")) for label in labels)
    assert version == "2"
    assert events


def test_score_and_state_are_read(answers: list[str]) -> None:
    note, seats, spectators, own = map(json.loads, answer(answers, "'.note, .seats'"))

    assert note
    assert [seat["seat"] for seat in seats] == [0, 1]
    assert spectators["version"] == "2"
    assert own["viewerSeat"] in {0, 1}


def test_two_seats_play_a_whole_game(answers: list[str]) -> None:
    *told, result = answer(answers, "until ")

    assert len(told) > 20
    assert re.search(r"wins|share the victory", json.loads(result)["note"])
    assert json.loads(result)["winningSeats"]


def test_the_history_reveals_the_seed(answers: list[str]) -> None:
    head, *entries = map(json.loads, answer(answers, ":history"))

    assert len(head["seed"]) == 44
    assert head["nextPageToken"]
    assert [entry["version"] for entry in entries] == ["1", "2", "3"]


def test_the_stream_is_followed_to_its_end_in_both_forms(answers: list[str]) -> None:
    snapshot, end = map(json.loads, answer(answers, "text/event-stream"))

    assert int(snapshot["version"]) > 20
    assert end["reason"] == "WATCH_END_REASON_FINISHED"
    assert answer(answers, "del(.resumeToken)") == ['["snapshot"]', '["end"]']


def test_the_error_is_printed_as_it_is_shown(answers: list[str]) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    assert json.loads("\n".join(answer(answers, '"seatCount": 99'))) == json.loads(shown)


def test_errors_carry_their_status_and_reason(answers: list[str]) -> None:
    status, repeated, unknown = answer(answers, "http_code")

    assert status == "401"
    assert json.loads(repeated) == {"committedVersion": "2", "repeatedRequest": True}
    assert unknown == "There is no field seats in sodafountain.v1.NewGameRequest."


def test_query_parameters_are_taken_in_either_spelling(answers: list[str]) -> None:
    state, refused = answer(answers, "include_legal_moves")

    assert json.loads(state)["viewerSeat"] == 0
    assert 'field "moves"' in refused


def test_pages_of_other_origins_may_call(answers: list[str]) -> None:
    assert answer(answers, "Origin") == ["access-control-allow-origin: https://app.example"]


def test_the_host_deletes_the_game(answers: list[str]) -> None:
    assert answer(answers, "DELETE") == ["{}", "GAME_NOT_FOUND"]


def test_the_table_of_errors_has_every_reason() -> None:
    table = PAGE[PAGE.index("| HTTP | reason") : PAGE.index("```sh\ncurl -s -o /dev/null -w")]

    assert set(re.findall(r"`([A-Z_]+)`", table)) == {
        name.removeprefix("ERROR_REASON_")
        for name in ErrorReason.keys()  # noqa: SIM118 - no dict
        if not name.endswith("UNSPECIFIED")
    }
