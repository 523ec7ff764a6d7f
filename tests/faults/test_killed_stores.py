"""SIGKILL of the store: when it is back, everything that was acknowledged is, and the service has not moved."""

import os
import random
import signal
from pathlib import Path

import pytest
from redis import Redis

from service.tokens import new_key
from tests.service.store.servers import Server
from tests.support.crowd import playing
from tests.support.ledger import Ledger, prove, whole_history
from tests.support.long import thoroughly
from tests.support.players import new_game
from tests.support.service import running
from tests.support.steadfast import Steadfast

GAMES = 4


@pytest.mark.parametrize("kills", [2, thoroughly(40)])
def test_games_outlive_the_killing_of_a_store_that_writes_before_it_answers(
    kills: int, store: Server, tmp_path: Path
) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_key()}
    with running(tmp_path / "service", "--store-url", store.url, env=env) as service:
        with playing(service.target, players=GAMES) as crowd:
            for _ in range(kills):
                crowd.play_on(50)
                store.kill()
                store.start()
                crowd.play_on(50)
        events = [line["event"] for line in service.logs()]

    assert crowd.games >= GAMES
    assert crowd.refusals.keys() <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert crowd.refusals, "nobody noticed"
    assert events.count("serving") == 1


@pytest.mark.parametrize("kills", [2, thoroughly(20)])
def test_games_outlive_the_killing_of_the_embedded_store_once_they_are_on_the_disk(kills: int, tmp_path: Path) -> None:
    data, chance = tmp_path / "data", random.Random(7)
    with (
        running(tmp_path / "service", f"--data-dir={data}") as service,
        Steadfast([service.target]) as steadfast,
    ):
        for _ in range(kills):
            games = [(new_game(steadfast.stub, 2), Ledger()) for _ in range(GAMES)]
            for game, ledger in games:
                ledger.play(steadfast, game, chance, moves=10)
            wait_for_the_disk(data)
            killed = pid_of_the_store(data)
            os.kill(killed, signal.SIGKILL)
            for game, ledger in games:
                ledger.play(steadfast, game, chance)
                prove(whole_history(steadfast, game.spectator), ledger.moves)
            assert pid_of_the_store(data) != killed
        events = [line["event"] for line in service.logs()]

    assert events.count("serving") == 1


def pid_of_the_store(data: Path) -> int:
    """The process id of the embedded store."""
    return int((data / "valkey" / "valkey.pid").read_text())


def wait_for_the_disk(data: Path) -> None:
    """Waits until the embedded store, which writes its log once a second, has everything on the disk."""
    with Redis(unix_socket_path=str(data / "valkey" / "valkey.sock")) as raw:
        raw.set("mark", 1)
        assert raw.execute_command("WAITAOF", 1, 0, 10_000)[0] == 1
