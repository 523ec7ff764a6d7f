"""A store that hangs: an answer within every deadline, a clear word on what to do, and recovery by itself."""

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

from service.tokens import new_key
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.store.servers import Server, eventually
from tests.support.crowd import playing
from tests.support.long import thoroughly
from tests.support.players import Caller, Game, Refused, new_game, refusal
from tests.support.service import Service, channel_to, health, running
from tests.support.steadfast import Steadfast, reason_of

DEADLINE = 2.0
RECOVERY = 2.0
"""Seconds after which a store that is back must be in use again: far more than it takes."""
CALLERS = 40
"""Many more than the service has threads."""


class Scene(NamedTuple):
    """A service with a store of its own, and a game that has just begun."""

    store: Server
    service: Service
    channel: grpc.Channel
    game: Game

    @property
    def stub(self) -> GameServiceStub:
        """The service."""
        return GameServiceStub(self.channel)

    @property
    def mover(self) -> Caller:
        """The seat that is to act."""
        return self.game.seats[self.game.made.state.awaiting_seats[0]]


@pytest.fixture
def scene(store: Server, tmp_path: Path) -> Iterator[Scene]:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_key()}
    with (
        running(tmp_path / "service", "--store-url", store.url, env=env) as service,
        channel_to(service.target) as channel,
    ):
        yield Scene(store, service, channel, new_game(GameServiceStub(channel), 2))


def calls_to(scene: Scene, doomed: Game) -> list[Callable[[], Any]]:
    """A call of each RPC that needs the store."""
    stub, game_id, host = scene.stub, scene.game.game_id, scene.game.host.metadata
    new = pb.NewGameRequest(options=scene.game.made.state.options, seat_count=2)
    return [
        partial(stub.NewGame, new, timeout=DEADLINE),
        partial(stub.GetGame, pb.GetGameRequest(game_id=game_id), timeout=DEADLINE),
        partial(stub.LegalMoves, pb.LegalMovesRequest(game_id=game_id, seat=0), metadata=host, timeout=DEADLINE),
        partial(stub.Score, pb.ScoreRequest(game_id=game_id), timeout=DEADLINE),
        partial(stub.GetHistory, pb.GetHistoryRequest(game_id=game_id), timeout=DEADLINE),
        partial(
            stub.DeleteGame,
            pb.DeleteGameRequest(game_id=doomed.game_id),
            metadata=doomed.host.metadata,
            timeout=DEADLINE,
        ),
    ]


def at_once(calls: list[Callable[[], Any]]) -> list[Refused]:
    """Makes calls that must be refused, all at the same moment."""
    barrier = threading.Barrier(len(calls))

    def make(call: Callable[[], Any]) -> Refused:
        barrier.wait()
        return refusal(call)  # fails where gRPC itself had to say that the time was up

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(make, calls))


# --- The store stands still -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seconds", [3.0, thoroughly(10.0)])
def test_every_call_to_a_store_that_stands_still_is_unavailable_within_its_deadline(
    seconds: float, scene: Scene
) -> None:
    calls = calls_to(scene, doomed=new_game(scene.stub, 2))
    offered = scene.mover.legal()
    make = partial(Caller.apply, move=offered.moves[0].move, etag=offered.etag, request_id=str(uuid.uuid4()))
    calls.append(partial(make, scene.mover, timeout=DEADLINE))
    refusals: list[Refused] = []

    with scene.store.frozen():
        began = time.monotonic()
        while time.monotonic() < began + seconds:
            refusals += at_once(calls * (CALLERS // len(calls)))
        assert health(scene.channel, "store") == "NOT_SERVING"
        for name in ("", "sodafountain.v1.GameService", "liveness"):
            assert health(scene.channel, name) == "SERVING"
        assert scene.stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=DEADLINE).game_kinds

    assert {refused.code for refused in refusals} == {grpc.StatusCode.UNAVAILABLE}
    assert {refused.reason for refused in refusals} <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert all(refused.retry for refused in refusals)
    with Steadfast([scene.service.target], patience=RECOVERY) as steadfast:
        assert steadfast.make(make, scene.mover).committed_version == 2
    eventually(lambda: health(scene.channel, "store") == "SERVING", within=RECOVERY)
    assert scene.game.spectator.state().version == 2


def test_games_go_on_after_a_store_stood_still(scene: Scene) -> None:
    with playing(scene.service.target, players=4) as crowd:
        for _ in range(2):
            crowd.play_on(50)
            with scene.store.frozen():
                eventually(lambda: health(scene.channel, "store") == "NOT_SERVING")
            crowd.play_on(50)

    assert crowd.refusals, "nobody noticed"
    assert crowd.refusals.keys() <= {"STORE_UNAVAILABLE", "UNCONFIRMED"}


@pytest.mark.parametrize("deadline", [0.5, DEADLINE])
def test_fourteen_moves_of_one_game_at_a_store_that_stands_still_hear_of_the_store_and_not_of_each_other(
    deadline: float, scene: Scene
) -> None:
    offered = scene.mover.legal()
    barrier = threading.Barrier(14)

    def told(_: int) -> str:
        barrier.wait()
        with pytest.raises(grpc.RpcError) as caught:
            scene.mover.apply(offered.moves[0].move, etag=offered.etag, timeout=deadline)
        return reason_of(caught.value)

    with scene.store.frozen(), ThreadPoolExecutor(14) as threads:
        reasons = set(threads.map(told, range(14)))

    in_time = {"STORE_UNAVAILABLE", "UNCONFIRMED"}
    assert reasons & in_time
    # Half a second may be over before those who wait for a thread get one.
    assert reasons <= (in_time if deadline == DEADLINE else {*in_time, "DEADLINE_EXCEEDED: Deadline Exceeded"})


# --- The store is slow ------------------------------------------------------------------------------------------------


@contextmanager
def writes_paused(store: Server) -> Iterator[None]:
    """Makes the store answer no write for the length of the block; reads go on."""
    with store.client() as raw:
        raw.client_pause(60_000, all=False)
        try:
            yield
        finally:
            raw.client_unpause()


@pytest.mark.parametrize("deadline", [0.01, 0.1, 1.0])
def test_a_deadline_shorter_than_the_stores_answer_leaves_a_move_that_a_retry_makes_once(
    deadline: float, scene: Scene
) -> None:
    offered = scene.mover.legal()
    make = partial(scene.mover.apply, offered.moves[0].move, etag=offered.etag, request_id=str(uuid.uuid4()))

    with writes_paused(scene.store):
        with pytest.raises(grpc.RpcError) as caught:
            make(timeout=deadline)
        assert scene.game.spectator.state().version == 1

    assert reason_of(caught.value) in {"UNCONFIRMED", "DEADLINE_EXCEEDED: Deadline Exceeded"}
    assert make().committed_version == 2
    assert make().repeated_request
    assert scene.game.spectator.state().version == 2


def test_a_caller_with_a_second_hears_that_the_outcome_is_not_known_before_it_is_over(scene: Scene) -> None:
    offered = scene.mover.legal()

    def told() -> str:
        with pytest.raises(grpc.RpcError) as caught:
            scene.mover.apply(offered.moves[0].move, etag=offered.etag, timeout=1.0)
        return reason_of(caught.value)

    with writes_paused(scene.store):
        assert "UNCONFIRMED" in (told() for _ in range(5))  # a tenth of a second may not do on a machine that is busy


# --- The store forgets ------------------------------------------------------------------------------------------------


def test_no_player_notices_that_a_store_forgets_its_scripts(scene: Scene) -> None:
    with scene.store.client() as raw, playing(scene.service.target, players=4) as crowd:
        for _ in range(10):
            crowd.play_on(20)
            raw.script_flush()

    assert not crowd.refusals
