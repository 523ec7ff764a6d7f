"""Logs: one line per call, one JSON object per line, and no text from callers or libraries."""

import json
import re
import subprocess
import sys
import uuid
from pathlib import Path
from typing import Any

import pytest

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import GameClient, expect_error, new_game
from tests.support.service import Service, channel_to, running

OK_LINE = {"event", "level", "timestamp", "method", "code", "game_id", "call_id", "ms"}


def lines_of(service: Service, game_id: str) -> list[dict[str, Any]]:
    """Return the log lines of a game."""
    return [line for line in service.logs() if line.get("game_id") == game_id]


# --- A running service ------------------------------------------------------------------------------------------------


def test_every_call_is_one_line(service: Service, stub: GameServiceStub) -> None:
    game = new_game(stub)
    game.spectator.state()
    game.spectator.score()
    game.seats[0].legal()
    game.spectator.history()
    expect_error(game.invited.legal)
    game.host.delete()

    lines = lines_of(service, game.game_id)

    assert [(line["event"], line["method"], line["code"], line.get("reason")) for line in lines] == [
        ("rpc", "NewGame", "OK", None),
        ("rpc", "GetGame", "OK", None),
        ("rpc", "Score", "OK", None),
        ("rpc", "LegalMoves", "OK", None),
        ("rpc", "GetHistory", "OK", None),
        ("rpc", "LegalMoves", "PERMISSION_DENIED", "WRONG_SEAT"),
        ("rpc", "DeleteGame", "OK", None),
    ]
    assert {frozenset(line) for line in lines} == {frozenset(OK_LINE), frozenset(OK_LINE | {"reason"})}


def test_the_line_of_a_failed_repeat_of_newgame_has_the_id_of_the_game(service: Service, stub: GameServiceStub) -> None:
    request_id = str(uuid.uuid4())
    game = new_game(stub, request_id=request_id)
    expect_error(lambda: new_game(stub, 2, request_id=request_id))
    game.host.delete()
    expect_error(lambda: new_game(stub, request_id=request_id))

    lines = [line for line in lines_of(service, game.game_id) if line["method"] == "NewGame"]

    assert [line.get("reason") for line in lines] == [None, "REQUEST_ID_REUSED", "GAME_NOT_FOUND"]


def test_every_line_has_its_own_call_id(service: Service, stub: GameServiceStub) -> None:
    game = new_game(stub)
    for _ in range(20):
        game.spectator.state()

    call_ids = [line["call_id"] for line in lines_of(service, game.game_id)]

    assert len(set(call_ids)) == 21


def test_an_invalid_game_id_is_not_logged(service: Service, stub: GameServiceStub) -> None:
    game_id = f"not an id {uuid.uuid4()}\n"

    expect_error(GameClient(stub, game_id).state)

    assert game_id.strip() not in service.log_file.read_text()


def test_lines_are_ordered_by_time(service: Service, stub: GameServiceStub) -> None:
    game = new_game(stub)
    game.spectator.state()

    stamps = [line["timestamp"] for line in lines_of(service, game.game_id)]

    assert stamps == sorted(stamps)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?Z", stamp) for stamp in stamps)


def test_a_service_logs_its_start_and_its_end(store_url: str, tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": "only:" + "A" * 44}
    with running(tmp_path, "--store-url", store_url, "--drain=2s", env=env) as service:
        process = service.process.pid
        service.stop()

    store, serving, draining, drained = (line for line in service.logs() if line["event"] != "store_warning")

    assert (store["event"], serving["event"]) == ("store", "serving")
    assert store["server"].startswith(("Valkey ", "Redis "))
    assert service.target == f"{serving['host']}:{serving['port']}"
    assert serving["pid"] == process
    assert (draining["event"], draining["seconds"], drained["event"]) == ("draining", 2.0, "drained")


@pytest.mark.one_store
def test_the_log_level_can_be_raised(store_url: str, tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": "only:" + "A" * 44}
    flags = ("--store-url", store_url, "--log-level=warning")
    with running(tmp_path, *flags, env=env) as service, channel_to(service.target) as channel:
        stub = GameServiceStub(channel)
        new_game(stub)
        expect_error(lambda: stub.NewGame(pb.NewGameRequest()))

    assert service.log_file.read_text() == ""


# --- The logging setup ------------------------------------------------------------------------------------------------


def logged(script: str, *, level: str = "info", fmt: str = "json") -> str:
    """Run a script with our logging setup; return its standard error."""
    prelude = (
        "import logging, structlog\n"
        "from service.observability import logs\n"
        f"logs.configure(level={level!r}, fmt={fmt!r})\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", prelude + script], capture_output=True, text=True, check=True, timeout=30
    )
    assert not result.stdout
    return result.stderr


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error"])
def test_lines_below_the_level_are_not_logged(level: str) -> None:
    levels = ["debug", "info", "warning", "error"]
    script = "".join(f"structlog.get_logger().{name}('at_{name}')\n" for name in levels)

    events = [json.loads(line)["event"] for line in logged(script, level=level).splitlines()]

    assert events == [f"at_{name}" for name in levels[levels.index(level) :]]


@pytest.mark.parametrize("level", ["debug", "info", "error"])
def test_a_log_line_of_a_library_contains_only_its_source_location(level: str) -> None:
    script = """
try:
    raise ValueError("the secret card")
except ValueError:
    logging.getLogger("grpc._server").exception("Exception calling application: %s", "the secret card")
"""
    (line,) = map(json.loads, logged(script, level=level).splitlines())

    assert (line["event"], line["logger"], line["level"]) == ("library", "grpc._server", "error")
    assert re.fullmatch(r"<string>:\d+", line["place"])
    assert "secret" not in str(line)


@pytest.mark.parametrize("level", ["debug", "info"])
def test_details_of_libraries_are_never_logged(level: str) -> None:
    assert not logged("logging.getLogger('redis').debug('SET secret')\nlogging.getLogger('x').info('y')", level=level)


def test_the_console_format_is_not_json() -> None:
    text = logged("structlog.get_logger().info('serving', port=50051)", fmt="console")

    assert not text.startswith("{")
    assert "serving" in text
    assert "port=50051" in text


def test_without_a_terminal_lines_are_json() -> None:
    assert json.loads(logged("structlog.get_logger().info('serving')", fmt="auto"))["event"] == "serving"
