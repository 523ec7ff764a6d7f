"""`sodafountain inspect`: what an operator sees of a game, and what stays secret."""

import json
from pathlib import Path

import pytest
from redis import Redis

from service.store.keys import game_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.command import error_line_in_process, run_in_process
from tests.support.game_clients import new_game
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
        name: output[name] for name in ("game", "kind", "seats", "version", "finished", "log_entries", "request_ids")
    }
    assert known == {
        "game": game.game_id,
        "kind": "soda_jerk",
        "seats": 3,
        "version": 2,
        "finished": False,
        "log_entries": 2,
        "request_ids": 1,
    }
    assert output["awaiting"] == [{"seat": before.awaiting_seats[0], "since_version": 2}]
    assert output["head"].startswith("2-")
    assert output["expires"][:16] == before.expire_time.ToDatetime().isoformat()[:16]
    assert 0 < output["snapshot_bytes"] < output["store_bytes"]
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


def test_a_game_in_a_later_format_is_reported(store_url: str, stub: GameServiceStub, raw: Redis) -> None:
    game = new_game(stub)
    raw.hset(game_keys(game.game_id).game, "v", "2")

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error == "the game is stored in format 2; this release supports format 1"


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("meta", b"s3cret"),
        ("meta", b""),
        ("meta", None),
        ("head", b"s3cret"),
        ("head", b"\xff"),
        ("decisions", b"\xff"),
        ("decisions", b"\x81\x00\xa6s3cret"),
        ("snapshot", b"\xc1"),
        ("snapshot", b"\x92\xcd\x03\xe7\x00"),
        ("snapshot", None),
        ("expires_at", b"s3cret"),
        ("expires_at", b"9" * 30),
        ("expires_at", None),
    ],
)
def test_an_unreadable_game_is_reported_without_its_content(
    store_url: str, stub: GameServiceStub, raw: Redis, field: str, value: bytes | None
) -> None:
    game = new_game(stub)
    key = game_keys(game.game_id).game
    if value is None:
        raw.hdel(key, field)
    else:
        raw.hset(key, field, value)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error.startswith(f"game {game.game_id} is stored in a form that this release does not know: ")
    assert "s3cret" not in error


@pytest.mark.parametrize("written", ["s3cret", None])
def test_an_invalid_format_version_is_reported_and_not_shown(
    store_url: str, stub: GameServiceStub, raw: Redis, written: str | None
) -> None:
    game = new_game(stub)
    key = game_keys(game.game_id).game
    if written is None:
        raw.hdel(key, "v")
    else:
        raw.hset(key, "v", written)

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, code=1)

    assert error == "the game is stored in format unknown; this release supports format 1"


@pytest.mark.parametrize("key", [1, 2], ids=["log", "requests"])
def test_a_key_of_another_type_is_reported(store_url: str, stub: GameServiceStub, raw: Redis, key: int) -> None:
    game = new_game(stub)
    raw.delete(game_keys(game.game_id)[key])
    raw.set(game_keys(game.game_id)[key], "s3cret")

    error = error_line_in_process("inspect", game.game_id, "--store-url", store_url, "--json", code=1)

    assert "WRONGTYPE" in error
    assert "s3cret" not in error
