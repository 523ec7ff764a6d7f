"""A planned failover by a sentinel, while the former primary lives on: what is lost, and for how long nothing works."""

import threading
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from service.access import new_token_key
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, new_game
from tests.support.service import channel_to, running
from tests.support.store_servers import Server, eventually

ENV = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
PLAYERS = 4
LOSS_SECONDS = 1.0
"""For how long after Sentinel's word a move may still be acknowledged and lost."""
RECOVERY_SECONDS = 2.0


@pytest.fixture
def replica(store: Server, tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {store.port}") as replica, replica.client() as raw:
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")
        yield replica


@pytest.fixture
def sentinel(store: Server, replica: Server, tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "sentinel", sentinel=True) as sentinel, sentinel.client() as raw:
        raw.execute_command("SENTINEL", "MONITOR", "soda", "127.0.0.1", store.port, 1)
        raw.execute_command("SENTINEL", "SET", "soda", "down-after-milliseconds", 1000, "failover-timeout", 5000)
        eventually(lambda: [it["master-link-status"] for it in raw.sentinel_slaves("soda")] == ["ok"])
        yield sentinel


class Move(NamedTuple):
    """An acknowledged move: when the answer came, and the version and the time of its commit."""

    answered: float
    version: int
    committed: str


def play(stub: GameServiceStub, stop: threading.Event) -> list[tuple[Game, list[Move]]]:
    """Play games until the event is set; return the acknowledged moves of each."""
    played = []
    while not stop.is_set():
        try:
            game = new_game(stub, 2)
        except grpc.RpcError:
            continue
        moves: list[Move] = []
        played.append((game, moves))
        while not stop.is_set():
            try:
                [seat] = game.host.state().awaiting_seats
                legal = game.seats[seat].legal()
                answer = game.seats[seat].apply(
                    legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()), timeout=2.0
                )
            except (grpc.RpcError, ValueError, IndexError):  # the game was lost, or is over
                break
            moves.append(Move(time.monotonic(), answer.committed_version, answer.state.update_time.ToJsonString()))
    return played


def lost(game: Game, moves: list[Move]) -> list[Move]:
    """Return the acknowledged moves that are not in the game's history."""
    try:
        entries = {entry.version: entry.commit_time.ToJsonString() for entry in game.host.history().entries}
    except grpc.RpcError:
        entries = {}
    return [move for move in moves if entries.get(move.version) != move.committed]


def test_a_planned_failover_loses_only_what_was_acknowledged_before_sentinels_word(
    store: Server, replica: Server, sentinel: Server, tmp_path: Path
) -> None:
    url = f"redis+sentinel://127.0.0.1:{sentinel.port}/soda"
    stop = threading.Event()
    with (
        running(tmp_path / "service", "--store-url", url, env=ENV) as service,
        channel_to(service.target) as channel,
        sentinel.client() as raw,
        ThreadPoolExecutor(PLAYERS) as threads,
    ):
        stub = GameServiceStub(channel)
        players = [threads.submit(play, stub, stop) for _ in range(PLAYERS)]
        time.sleep(1.0)
        raw.execute_command("SENTINEL", "FAILOVER", "soda")
        eventually(lambda: raw.sentinel_master("soda")["port"] == replica.port)
        named = time.monotonic()
        time.sleep(4.0)
        stop.set()
        played = [game for player in players for game in player.result()]

        losses = [move for game, moves in played for move in lost(game, moves)]
        acknowledged = sorted(move.answered for _, moves in played for move in moves)
        print(f"{len(acknowledged)} moves, {len(losses)} lost, the last {last(losses) - named:+.3f} s after the word")
        assert last(losses) < named + LOSS_SECONDS
        assert any(named < answered < named + RECOVERY_SECONDS for answered in acknowledged)
        assert len([answered for answered in acknowledged if answered > named + LOSS_SECONDS]) > 20


def last(moves: list[Move]) -> float:
    return max((move.answered for move in moves), default=0.0)
