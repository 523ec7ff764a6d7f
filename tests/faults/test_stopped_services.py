"""SIGTERM under load: no acknowledged move is lost, every call succeeds on retry, and the process ends in time."""

import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import grpc
import pytest

from service.access import new_token_key
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.faults.store_state import stored_version
from tests.support.background_load import background_load
from tests.support.game_clients import new_game, play
from tests.support.long_cases import long_case
from tests.support.ports import is_listening
from tests.support.proxy import Proxy
from tests.support.retrying_client import reason_of
from tests.support.service import channel_to, running
from tests.support.store_servers import Server, eventually

DRAIN_SECONDS = 5.0
"""Longer than the pending calls take, and shorter than the drain limit of the service."""


@pytest.mark.parametrize(
    ("workers", "stops", "players"), [(2, 1, 4), long_case(1, 2, 8), long_case(1, 60, 16), long_case(2, 60, 16)]
)
def test_stopped_services_lose_no_move_under_load(
    workers: int, stops: int, players: int, store: Server, tmp_path: Path
) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    flags = ("--store-url", store.url, f"--workers={workers}")
    with (
        running(tmp_path / "one", *flags, env=env) as one,
        running(tmp_path / "two", *flags, env=env) as two,
        background_load(one.target, two.target, players=players) as load,
    ):
        for stop in range(stops):
            service = (one, two)[stop % 2]
            load.wait_for_moves(50)
            started = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - started < DRAIN_SECONDS
            assert "Traceback" not in service.log_file.read_text()
            if stop + 1 < stops:
                service.restart()

    assert load.games >= players
    assert load.errors["DRAINING"], "no call was rejected: there was no load"


def test_a_pending_move_of_a_stopped_service_is_answered(store: Server, tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        Proxy(store.port) as proxy,
        running(tmp_path / "service", "--store-url", proxy.url, env=env) as service,
        channel_to(service.target) as channel,
        ThreadPoolExecutor(1) as threads,
    ):
        stub = GameServiceStub(channel)
        play(new_game(stub, 2), random.Random(1), moves=1)  # loads the scripts into the store
        game = new_game(stub, 2)
        seat = game.seats[game.created.state.awaiting_seats[0]]
        legal = seat.legal()
        with proxy.answers_held():
            making = threads.submit(seat.apply, legal.moves[0].move, etag=legal.etag)
            eventually(lambda: stored_version(store, game.game_id) == 2)
            service.process.terminate()
            eventually(lambda: not is_listening(service.target))

        assert outcome(making) in {"made", "UNCONFIRMED"}  # UNCONFIRMED if this machine was too slow for the store
        assert service.stop() == 0


def outcome(making: Future[pb.ApplyMoveResponse]) -> str:
    """Wait for a move; return `made` or the reason of the error."""
    try:
        making.result()
    except grpc.RpcError as error:
        return reason_of(error)
    return "made"
