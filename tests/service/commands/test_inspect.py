"""`sodafountain inspect`: what an operator sees of a game, and what stays secret."""

import json
from pathlib import Path
from typing import cast

import pytest
from redis import Redis

from service.store.keys import game_keys
from sodafountain.v1 import game_pb2
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.command import error_line_in_process, run_in_process
from tests.support.game_clients import Game, new_game
from tests.support.service import Service, channel_to, running


def test_a_game_is_shown_without_its_secrets(service: Service, store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub, 3)
    (seat,) = game.created.state.awaiting_seats
    move = game.seats[seat].legal().moves[0]
    game.seats[seat].apply(move.move)
    before = game.spectator.state()

    result = run_in_process("inspect", game.game_id, "--store-url", store_url, "--json")

    assert (result.code, result.err) == (0, "")
    output = json.loads(result.out)
    known = {
        "game": game.game_id,
        "kind": "soda_jerk",
        "seats": 3,
        "sealed": False,
        "private": False,
        "version": 2,
        "finished": False,
    }
    assert {name: output[name] for name in known} == known
    assert output["awaiting"] == [{"seat": before.awaiting_seats[0], "since_version": 2}]
    assert output["head"].startswith("2-")
    times = {"created": before.create_time, "updated": before.update_time, "expires": before.expire_time}
    for name, expected in times.items():
        assert output[name][:19] == expected.ToDatetime().isoformat()[:19]
    assert 0 < output["state_bytes"] < output["store_bytes"]
    assert 0 < output["log_bytes"] < output["store_bytes"]
    assert {"seed", "commitment", "state", "options", "events", "move"}.isdisjoint(output)
    secrets = (game.created.host_token, *game.created.seat_tokens, move.label)
    assert [secret for secret in secrets if secret in result.out] == []
    assert game.spectator.state() == before, "the command changed the game"


def test_the_text_output_has_one_fact_per_line(store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub, 2)

    result = run_in_process("inspect", game.game_id, "--store-url", store_url)

    lines = dict(line.split("  ", 1) for line in result.out.splitlines())
    assert lines["game"].strip() == game.game_id
    awaited = game.created.state.awaiting_seats[0]
    assert lines["awaiting"].strip() == f"seat {awaited} since version 1"
    assert lines["created with api key"].strip() == "-"


def test_the_view_is_that_of_a_spectator_in_game_notation(store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub, 2)
    (seat,) = game.created.state.awaiting_seats
    move = game.seats[seat].legal().moves[0]
    game.seats[seat].apply(move.move)

    result = run_in_process("inspect", game.game_id, "--store-url", store_url, "--view")
    as_json = run_in_process("inspect", game.game_id, "--store-url", store_url, "--view", "--json")

    view = result.out.split("\n\n", 1)[1].strip()
    assert json.loads(as_json.out)["view"] == view
    placed = [line for line in view.splitlines() if line.startswith("tap") and line.endswith(f"?/{seat}")]
    assert len(placed) == 1, "a spectator sees where a card lies, but not its face"
    assert all(line.endswith("*?") for line in view.splitlines() if line.startswith("hand"))


def test_the_embedded_store_is_found_by_its_data_directory(tmp_path: Path) -> None:
    with (
        running(tmp_path / "service", f"--data-dir={tmp_path / 'data'}") as service,
        channel_to(service.target) as channel,
    ):
        game = new_game(GameServiceStub(channel), 2)

        result = run_in_process("inspect", game.game_id, f"--data-dir={tmp_path / 'data'}", "--json")

        assert json.loads(result.out)["game"] == game.game_id


@pytest.mark.parametrize("game", ["a" * 26, "A" * 26, "short", "*"])
def test_an_unknown_game_is_rejected_in_one_line(store_url: str, game: str) -> None:
    assert game in error_line_in_process("inspect", game, "--store-url", store_url, code=1)


def test_an_unavailable_store_is_reported_with_the_flag_for_another(tmp_path: Path) -> None:
    error = error_line_in_process("inspect", "a" * 26, f"--data-dir={tmp_path}", code=1)

    assert error.startswith("the store is unavailable: ")
    assert "set --store-url" in error


def test_the_facts_of_a_private_and_sealed_game_say_so(store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub, 2, sealed=True, visibility=game_pb2.VISIBILITY_PRIVATE)

    output = json.loads(run_in_process("inspect", game.game_id, "--store-url", store_url, "--json").out)

    assert (output["sealed"], output["private"]) == (True, True)


def test_a_deleted_game_does_not_exist(store_url: str, stub: GameServiceStub) -> None:
    game = new_game(stub)
    game.host.delete()

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error == f"game {game.game_id} does not exist: it was never created, has expired or was deleted"


@pytest.mark.parametrize(
    ("head", "layout"), [(b"2 1-aa 1 1 1 0", "2"), (b"s3cret", "unknown"), (b"\xff", "unknown"), (b"", "unknown")]
)
def test_an_unknown_layout_is_reported_by_its_number_only(
    store_url: str, stub: GameServiceStub, raw: Redis, head: bytes, layout: str
) -> None:
    game = new_game(stub)
    replace(raw, game, 0, head)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error == f"the game is stored in layout {layout}; this release supports layout 1"


META, STATE = 1, 2


def replace(raw: Redis, game: Game, element: int, value: bytes) -> None:
    """Replace an element of a stored game."""
    raw.lset(game_keys(game.game_id).game, element, cast("str", value))


@pytest.mark.parametrize(
    ("element", "value", "problem"),
    [
        (META, b"s3cret", "a value has format [115]; this release reads formats 1 to 1"),
        (META, b"", "a value has format []; this release reads formats 1 to 1"),
        (STATE, b"\x02s3cret", "a value has format [2]; this release reads formats 1 to 1"),
        (STATE, b"\x00s3cret", "a value is encrypted, and this server has no encryption keys"),
    ],
)
def test_a_value_of_another_release_is_reported_without_its_content(
    store_url: str, stub: GameServiceStub, raw: Redis, element: int, value: bytes, problem: str
) -> None:
    game = new_game(stub)
    replace(raw, game, element, value)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error == f"game {game.game_id} cannot be read: {problem}"


@pytest.mark.parametrize(
    ("element", "value"),
    [
        (0, b"1"),
        (0, b"1 s3cret"),
        (0, b"1 1-0123456789abcdef 1 1 s3cret 0"),
        (0, b"1 1-0123456789abcdef 1 1 999999999999999999999999999999 0"),
        (META, b"\x01s3cret"),
        (META, b"\x01"),
        (STATE, b"\x01\xff"),
        (STATE, b"\x01\x92\x90\xa6s3cret"),
        (STATE, b"\x01\x92\x93\xa6s3cret\x00\x00"),
    ],
)
def test_a_damaged_game_is_reported_without_its_content(
    store_url: str, stub: GameServiceStub, raw: Redis, element: int, value: bytes
) -> None:
    game = new_game(stub)
    replace(raw, game, element, value)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error.startswith(f"game {game.game_id} is stored in a form that this release does not know: ")
    assert "s3cret" not in error


def test_a_game_without_its_state_is_reported(store_url: str, stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    raw.ltrim(game_keys(game.game_id).game, 0, 1)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error.startswith(f"game {game.game_id} is stored in a form that this release does not know: ")


def test_a_key_of_another_type_is_reported(store_url: str, stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    raw.set(game_keys(game.game_id).game, "s3cret")

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, "--json", code=1)

    assert "WRONGTYPE" in error
    assert "s3cret" not in error
