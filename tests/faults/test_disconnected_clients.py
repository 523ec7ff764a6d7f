"""Clients that disconnect during a commit: the move is committed once or not at all, and no thread is lost."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple

import grpc
import pytest

from service.access import new_token_key
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.faults.store_state import stored_version
from tests.support.game_clients import SECONDS, GameClient, new_game
from tests.support.proxy import Proxy
from tests.support.retrying_client import RetryingClient
from tests.support.service import channel_to, running
from tests.support.store_servers import Server, eventually

THREADS = 2
"""The number of concurrent calls of the service. It is so small that a lost thread shows."""
CALLERS = 3 * THREADS

Call = Any
"""A pending call. gRPC's stubs have no such type at run time."""


def cancel(_: grpc.Channel, call: Call) -> None:
    call.cancel()


def close(channel: grpc.Channel, _: Call) -> None:
    channel.close()


class Setup(NamedTuple):
    """A service with few threads that reaches its store through a proxy."""

    store: Server
    proxy: Proxy
    target: str


@pytest.fixture
def setup(store: Server, tmp_path: Path) -> Iterator[Setup]:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        Proxy(store.port) as proxy,
        running(tmp_path, "--store-url", proxy.url, f"--threads={THREADS}", env=env) as service,
    ):
        yield Setup(store, proxy, service.target)


class PendingMove(NamedTuple):
    """The seat that acts next, and its move."""

    seat: GameClient
    request: pb.ApplyMoveRequest

    def send(self, channel: grpc.Channel) -> Call:
        """Send the move and do not wait."""
        return GameServiceStub(channel).ApplyMove.future(self.request, metadata=self.seat.metadata, timeout=SECONDS)

    def retry(self, client: RetryingClient) -> pb.ApplyMoveResponse:
        """Send the move again and wait."""
        return client.call(self._again, self.seat)

    def _again(self, caller: GameClient) -> pb.ApplyMoveResponse:
        return caller.stub.ApplyMove(self.request, metadata=caller.metadata, timeout=SECONDS)


def prepare_move(stub: GameServiceStub) -> PendingMove:
    """Create a game and choose its first move."""
    game = new_game(stub, 2)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    legal = seat.legal()
    request = pb.ApplyMoveRequest(
        game_id=game.game_id, move=legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4())
    )
    return PendingMove(seat, request)


@pytest.mark.parametrize("disconnect", [cancel, close])
@pytest.mark.parametrize("committed_first", [True, False], ids=["after the commit", "before the commit"])
def test_a_move_of_a_disconnected_client_is_committed_at_most_once(
    setup: Setup, disconnect: Callable[[grpc.Channel, Call], None], committed_first: bool
) -> None:
    with RetryingClient([setup.target]) as client:
        prepare_move(client.stub).retry(client)  # loads the scripts into the store
        moves = [prepare_move(client.stub) for _ in range(CALLERS)]
        with setup.proxy.answers_held() if committed_first else setup.proxy.black_hole(), ExitStack() as channels:
            leaving = [channels.enter_context(channel_to(setup.target)) for _ in moves]
            calls = [move.send(theirs) for move, theirs in zip(moves, leaving, strict=True)]
            if committed_first:
                eventually(lambda: committed(setup.store, moves) >= THREADS)
            else:
                eventually(lambda: setup.proxy.held_requests >= THREADS)
            for theirs, call in zip(leaving, calls, strict=True):
                disconnect(theirs, call)

        answers = [move.retry(client) for move in moves]

        assert [(answer.committed_version, answer.state.version) for answer in answers] == [(2, 2)] * CALLERS
        assert sum(answer.repeated_request for answer in answers) >= (THREADS if committed_first else 0)
    assert_no_thread_is_lost(setup)


def assert_no_thread_is_lost(setup: Setup) -> None:
    """Check that all threads of the service are still available for calls."""
    with channel_to(setup.target) as channel:
        moves = [prepare_move(GameServiceStub(channel)) for _ in range(THREADS)]
        with setup.proxy.answers_held():
            calls = [move.send(channel) for move in moves]
            eventually(lambda: committed(setup.store, moves) >= THREADS)
        assert [call.result().committed_version for call in calls] == [2] * THREADS


def committed(store: Server, moves: Sequence[PendingMove]) -> int:
    """Return the number of moves that the store has."""
    return sum(stored_version(store, move.seat.game_id) == 2 for move in moves)
