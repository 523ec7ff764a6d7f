"""SIGKILL of the store: after its restart all acknowledged moves are there, and the service did not restart."""

import os
import random
import signal
from pathlib import Path

import pytest
from redis import Redis

from service.access import new_token_key
from tests.support.background_load import background_load
from tests.support.game_clients import new_game
from tests.support.long_cases import long_case
from tests.support.move_log import MoveLog, check_history, full_history
from tests.support.retrying_client import RetryingClient
from tests.support.service import running
from tests.support.store_servers import Server

GAMES = 4


@pytest.mark.parametrize("kills", [2, long_case(40)])
def test_games_survive_a_killed_store_that_writes_before_it_answers(kills: int, store: Server, tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with running(tmp_path / "service", "--store-url", store.url, env=env) as service:
        with background_load(service.target, players=GAMES) as load:
            for _ in range(kills):
                load.wait_for_moves(50)
                store.kill()
                store.start()
                load.wait_for_moves(50)
        events = [line["event"] for line in service.logs()]

    assert load.games >= GAMES
    assert load.errors.keys() <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert load.errors, "no client was affected"
    assert events.count("serving") == 1


@pytest.mark.parametrize("kills", [2, long_case(20)])
def test_games_on_disk_survive_the_killing_of_the_embedded_store(kills: int, tmp_path: Path) -> None:
    data, rng = tmp_path / "data", random.Random(7)
    with (
        running(tmp_path / "service", f"--data-dir={data}") as service,
        RetryingClient([service.target]) as client,
    ):
        for _ in range(kills):
            games = [(new_game(client.stub, 2), MoveLog()) for _ in range(GAMES)]
            for game, move_log in games:
                move_log.play(client, game, rng, moves=10)
            wait_for_the_disk(data)
            killed = pid_of_the_store(data)
            os.kill(killed, signal.SIGKILL)
            for game, move_log in games:
                move_log.play(client, game, rng)
                check_history(full_history(client, game.spectator), move_log.moves)
            assert pid_of_the_store(data) != killed
        events = [line["event"] for line in service.logs()]

    assert events.count("serving") == 1


def pid_of_the_store(data: Path) -> int:
    """Return the process id of the embedded store."""
    return int((data / "valkey" / "valkey.pid").read_text())


def wait_for_the_disk(data: Path) -> None:
    """Wait until the embedded store has everything on disk. It writes its log once a second."""
    with Redis(unix_socket_path=str(data / "valkey" / "valkey.sock")) as raw:
        raw.set("mark", 1)
        assert raw.execute_command("WAITAOF", 1, 0, 10_000)[0] == 1
