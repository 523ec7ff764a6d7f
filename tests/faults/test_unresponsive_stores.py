"""A store that hangs: every call returns within its deadline with a clear error, and the service recovers by itself."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest

from service.access import new_token_key
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.background_load import background_load
from tests.support.game_clients import CallError, Game, GameClient, expect_error, new_game
from tests.support.long_cases import long_case
from tests.support.retrying_client import RetryingClient, reason_of
from tests.support.service import Service, channel_to, health, running
from tests.support.store_servers import Server, eventually

DEADLINE = 2.0
RECOVERY = 2.0
"""The limit for using a store again after it is back, in seconds. It takes far less."""
CALLERS = 40
"""Many more than the service has threads."""


class Setup(NamedTuple):
    """A service with a store of its own, and a new game."""

    store: Server
    service: Service
    channel: grpc.Channel
    game: Game

    @property
    def stub(self) -> GameServiceStub:
        """A stub of the service."""
        return GameServiceStub(self.channel)

    @property
    def mover(self) -> GameClient:
        """The seat that acts next."""
        return self.game.seats[self.game.created.state.awaiting_seats[0]]


@pytest.fixture
def setup(store: Server, tmp_path: Path) -> Iterator[Setup]:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        running(tmp_path / "service", "--store-url", store.url, env=env) as service,
        channel_to(service.target) as channel,
    ):
        yield Setup(store, service, channel, new_game(GameServiceStub(channel), 2))


def calls_to(setup: Setup, deleted: Game) -> list[Callable[[], Any]]:
    """Return a call of each RPC that needs the store."""
    stub, game_id, host = setup.stub, setup.game.game_id, setup.game.host.metadata
    new = pb.NewGameRequest(options=setup.game.created.state.options, seat_count=2)
    return [
        partial(stub.NewGame, new, timeout=DEADLINE),
        partial(stub.GetGame, pb.GetGameRequest(game_id=game_id), timeout=DEADLINE),
        partial(stub.LegalMoves, pb.LegalMovesRequest(game_id=game_id, seat=0), metadata=host, timeout=DEADLINE),
        partial(stub.Score, pb.ScoreRequest(game_id=game_id), timeout=DEADLINE),
        partial(stub.GetHistory, pb.GetHistoryRequest(game_id=game_id), timeout=DEADLINE),
        partial(
            stub.DeleteGame,
            pb.DeleteGameRequest(game_id=deleted.game_id),
            metadata=deleted.host.metadata,
            timeout=DEADLINE,
        ),
    ]


def concurrently(calls: list[Callable[[], Any]]) -> list[CallError]:
    """Make calls that must fail, all at the same moment; return their errors."""
    barrier = threading.Barrier(len(calls))

    def make(call: Callable[[], Any]) -> CallError:
        barrier.wait()
        return expect_error(call)  # fails if gRPC itself reports the deadline

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(make, calls))


# --- The store is frozen ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [3.0, long_case(10.0)])
def test_every_call_to_a_frozen_store_is_unavailable_within_its_deadline(seconds: float, setup: Setup) -> None:
    calls = calls_to(setup, deleted=new_game(setup.stub, 2))
    legal = setup.mover.legal()
    make = partial(GameClient.apply, move=legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))
    calls.append(partial(make, setup.mover, timeout=DEADLINE))
    errors: list[CallError] = []

    with setup.store.frozen():
        started = time.monotonic()
        while time.monotonic() < started + seconds:
            errors += concurrently(calls * (CALLERS // len(calls)))
        assert health(setup.channel, "store") == "NOT_SERVING"
        for name in ("", "sodafountain.v1.GameService", "liveness"):
            assert health(setup.channel, name) == "SERVING"
        assert setup.stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=DEADLINE).game_kinds

    assert {error.code for error in errors} == {grpc.StatusCode.UNAVAILABLE}
    assert {error.reason for error in errors} <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert all(error.retry for error in errors)
    with RetryingClient([setup.service.target], retry_seconds=RECOVERY) as client:
        assert client.call(make, setup.mover).committed_version == 2
    eventually(lambda: health(setup.channel, "store") == "SERVING", within=RECOVERY)
    assert setup.game.spectator.state().version == 2


def test_games_continue_after_the_store_was_frozen(setup: Setup) -> None:
    with background_load(setup.service.target, players=4) as load:
        for _ in range(2):
            load.wait_for_moves(50)
            with setup.store.frozen():
                eventually(lambda: health(setup.channel, "store") == "NOT_SERVING")
            load.wait_for_moves(50)

    assert load.errors, "no client was affected"
    assert load.errors.keys() <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}


@pytest.mark.parametrize("deadline", [0.5, DEADLINE])
def test_simultaneous_moves_at_a_frozen_store_report_the_store_and_not_contention(
    deadline: float, setup: Setup
) -> None:
    legal = setup.mover.legal()
    barrier = threading.Barrier(14)

    def error_reason(_: int) -> str:
        barrier.wait()
        with pytest.raises(grpc.RpcError) as caught:
            setup.mover.apply(legal.moves[0].move, etag=legal.etag, timeout=deadline)
        return reason_of(caught.value)

    with setup.store.frozen(), ThreadPoolExecutor(14) as threads:
        reasons = set(threads.map(error_reason, range(14)))

    in_time = {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert reasons & in_time
    # Half a second may pass before a waiting call gets a thread.
    assert reasons <= (in_time if deadline == DEADLINE else {*in_time, "DEADLINE_EXCEEDED: Deadline Exceeded"})


# --- The store is slow ------------------------------------------------------------------------------------------------


@contextmanager
def writes_paused(store: Server) -> Iterator[None]:
    """Make the store answer no write during the block. Reads continue."""
    with store.client() as raw:
        raw.client_pause(60_000, all=False)
        try:
            yield
        finally:
            raw.client_unpause()


@pytest.mark.parametrize("deadline", [0.01, 0.1, 1.0])
def test_a_move_that_missed_its_deadline_is_committed_once_by_its_retry(deadline: float, setup: Setup) -> None:
    legal = setup.mover.legal()
    make = partial(setup.mover.apply, legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))

    with writes_paused(setup.store):
        with pytest.raises(grpc.RpcError) as caught:
            make(timeout=deadline)
        assert setup.game.spectator.state().version == 1

    assert reason_of(caught.value) in {"UNCONFIRMED", "DEADLINE_EXCEEDED: Deadline Exceeded"}
    assert make().committed_version == 2
    assert make().repeated_request
    assert setup.game.spectator.state().version == 2


def test_a_call_with_a_one_second_deadline_is_unconfirmed_before_it_expires(setup: Setup) -> None:
    legal = setup.mover.legal()

    def error_reason() -> str:
        with pytest.raises(grpc.RpcError) as caught:
            setup.mover.apply(legal.moves[0].move, etag=legal.etag, timeout=1.0)
        return reason_of(caught.value)

    with writes_paused(setup.store):
        assert "UNCONFIRMED" in (
            error_reason() for _ in range(5)
        )  # a busy machine may need more than the last tenth of a second


# --- The store loses its scripts --------------------------------------------------------------------------------------


def test_lost_scripts_are_loaded_again_without_an_error(setup: Setup) -> None:
    with setup.store.client() as raw, background_load(setup.service.target, players=4) as load:
        for _ in range(10):
            load.wait_for_moves(20)
            raw.script_flush()

    assert not load.errors
