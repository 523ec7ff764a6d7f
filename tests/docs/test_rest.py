"""The commands of docs/rest.md, run as printed in one shell, have the documented results."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from service.gateway.statuses import http_status
from service.transport.errors import CODES
from sodafountain.v1.errors_pb2 import ErrorReason
from tests.support.rest import running_with_rest

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text()
COMMANDS = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
MARK = "=== the next command ==="


@pytest.fixture(scope="module")
def outputs(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The output of each command of the page."""
    assert shutil.which("curl"), "curl is missing: install it, because the page uses it"
    assert shutil.which("jq"), "jq is missing: install it, because the page uses it"
    folder = tmp_path_factory.mktemp("rest")
    script = f"\necho '{MARK}'\n".join(COMMANDS)
    with running_with_rest(folder, f"--data-dir={folder / 'data'}") as url:
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            env={"SODA": url, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
    assert result.returncode == 0, result
    assert not result.stderr
    return result.stdout.split(f"{MARK}\n")


def output(outputs: list[str], part: str) -> list[str]:
    """Return the output lines of the only command that contains `part`."""
    (index,) = (index for index, command in enumerate(COMMANDS) if part in command)
    return outputs[index].splitlines()


def test_the_first_command_lists_the_games(outputs: list[str]) -> None:
    assert output(outputs, "gameKinds") == [
        "Soda Jerk: 2 to 4 seats",
        "Soda Smugglers: 3 to 8 seats",
        "Juices: 1 to 14 seats",
    ]


def test_the_first_move_is_one_of_the_legal_moves(outputs: list[str]) -> None:
    prompt, *labels = output(outputs, "legal=")
    version, *events = output(outputs, "move=")

    assert prompt.startswith("Place a card")
    assert all(label.startswith(("Place ", "Flip ")) for label in labels)
    assert version == "2"
    assert events


def test_the_score_and_the_state_are_shown(outputs: list[str]) -> None:
    standings, *scores, spectator_state, seat_state = map(json.loads, output(outputs, "{note, finished}"))

    assert standings["note"]
    assert standings["finished"] is False
    assert [score["player"] for score in scores] == [{"seat": 0}, {"seat": 1}]
    assert spectator_state["version"] == "2"
    assert spectator_state["updateTime"].endswith("Z")
    assert seat_state["viewerSeat"] in {0, 1}


def test_the_history_during_the_game_contains_the_own_move_and_no_seed(outputs: list[str]) -> None:
    head, creation, move = map(json.loads, output(outputs, "ownMove"))

    assert head == {"status": "GAME_STATUS_ACTIVE", "seed": ""}
    assert (creation["version"], creation["ownMove"]) == ("1", False)
    assert (move["version"], move["ownMove"], move["events"]) == ("2", True, 1)


def test_two_seats_play_a_whole_game(outputs: list[str]) -> None:
    *events, result = output(outputs, "until ")

    assert len(events) > 20
    assert re.search(r"wins|share the victory", json.loads(result)["note"])
    assert json.loads(result)["finished"] is True
    assert json.loads(result)["winners"]


def test_the_history_reveals_the_seed(outputs: list[str]) -> None:
    head, *entries = map(json.loads, output(outputs, "pageSize=3"))

    assert len(head["seed"]) == 44
    assert head["nextPageToken"]
    assert [entry["version"] for entry in entries] == ["1", "2", "3"]


def test_the_text_of_the_commitment_matches_the_commitment_of_the_first_look(outputs: list[str]) -> None:
    first, game, seats, _, seed, result = output(outputs, "sha256sum")

    assert (first, seats, result) == ("sodafountain.v1", "seats 2", "-: OK")
    assert re.fullmatch("game [a-z0-9]{26}", game)
    assert re.fullmatch("seed [a-f0-9]{64}", seed)


def test_a_private_game_needs_the_spectator_token(outputs: list[str]) -> None:
    reason, state = output(outputs, "private=")

    assert reason == "GAME_NOT_FOUND"
    assert json.loads(state) == {"visibility": "VISIBILITY_PRIVATE", "version": "1"}


def test_the_stream_is_read_to_its_end_in_both_formats(outputs: list[str]) -> None:
    snapshot, end = map(json.loads, output(outputs, "text/event-stream"))

    assert int(snapshot["version"]) > 20
    assert end["reason"] == "WATCH_END_REASON_FINISHED"
    assert output(outputs, "del(.resumeToken)") == ['["snapshot"]', '["end"]']


def test_the_error_is_the_one_that_the_page_shows(outputs: list[str]) -> None:
    (shown,) = re.findall(r"```json\n(.*?)```", PAGE, re.DOTALL)

    assert json.loads("\n".join(output(outputs, '"seatCount": 99'))) == json.loads(shown)


def test_errors_have_the_status_and_the_message_of_the_page(outputs: list[str]) -> None:
    unauthenticated, finished, repeated, unknown = output(outputs, "http_code")

    assert (unauthenticated, finished) == ("401", "410")
    assert json.loads(repeated) == {"committedVersion": "2", "repeatedRequest": True}
    assert unknown == "There is no field seats in sodafountain.v1.NewGameRequest."


def test_query_parameters_are_accepted_in_both_forms(outputs: list[str]) -> None:
    state, error = output(outputs, "include_legal_moves")

    assert json.loads(state)["viewerSeat"] == 0
    assert 'field "moves"' in error


def test_pages_of_other_origins_may_call_the_service(outputs: list[str]) -> None:
    assert output(outputs, "Origin") == ["access-control-allow-origin: https://app.example"]


def test_the_host_deletes_the_game(outputs: list[str]) -> None:
    assert output(outputs, "DELETE") == ["{}", "{}", "GAME_NOT_FOUND"]


def test_the_table_of_errors_contains_every_reason_with_its_status() -> None:
    rows = re.findall(r"^\| ([0-9, ]+) \| (`[A-Z_`, ]+) \|", PAGE, re.MULTILINE)
    statuses = {
        (reason, int(status))
        for listed, reasons in rows
        for status in listed.split(", ")
        for reason in re.findall("[A-Z_]+", reasons)
    }

    of_calls = {(_name(reason), http_status(_name(reason), code)) for reason, code in CODES.items()}
    limits = {("LIMIT", status) for status in (408, 413, 414, 431)}
    of_the_gateway = {("UNIMPLEMENTED", 404), ("UNIMPLEMENTED", 405), ("MALFORMED", 415), ("UNCONFIRMED", 504)} | limits
    assert statuses == of_calls | of_the_gateway


def _name(reason: ErrorReason.ValueType) -> str:
    return ErrorReason.Name(reason).removeprefix("ERROR_REASON_")
