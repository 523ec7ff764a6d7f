"""Store operations per move: as few as possible, and no commit that is certain to fail."""

import uuid
from collections.abc import Iterator
from typing import NamedTuple

import pytest

from service.observability.metrics import Metrics
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import CallError, expect_error, new_game
from tests.support.in_process import in_process_stub


class RecordingMetrics(Metrics):
    """Metrics that record the store operations."""

    def __init__(self) -> None:
        super().__init__()
        self.operations: list[str] = []

    def stored(self, operation: str, outcome: str, seconds: float) -> None:
        self.operations.append(operation)
        super().stored(operation, outcome, seconds)


class Recorded(NamedTuple):
    """A service, and the store operations that it has finished."""

    stub: GameServiceStub
    operations: list[str]


@pytest.fixture
def recorded(store_url: str) -> Iterator[Recorded]:
    """A service that caches games."""
    metrics = RecordingMetrics()
    with in_process_stub(store_url, metrics=metrics) as stub:
        yield Recorded(stub, metrics.operations)


def test_a_move_in_a_cached_game_is_one_commit(recorded: Recorded) -> None:
    game = new_game(recorded.stub, 2)
    seat = game.created.state.awaiting_seats[0]
    move = game.seats[seat].legal().moves[0].move
    recorded.operations.clear()

    game.seats[seat].apply(move, request_id=str(uuid.uuid4()))

    assert recorded.operations == ["commit"]


def test_a_repeated_move_that_a_cached_game_accepts_is_one_commit(store_url: str, recorded: Recorded) -> None:
    game = new_game(recorded.stub, 2)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    move, request_id = seat.legal().moves[0].move, str(uuid.uuid4())
    with in_process_stub(store_url) as other:
        first = seat.at(other).apply(move, request_id=request_id)
    recorded.operations.clear()

    again = seat.apply(move, request_id=request_id)

    assert (again.repeated_request, again.events) == (True, first.events)
    assert recorded.operations == ["commit"]


def test_a_repeated_move_that_a_cached_game_rejects_is_confirmed_without_a_commit(recorded: Recorded) -> None:
    game = new_game(recorded.stub, 2)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    legal, request_id = seat.legal(), str(uuid.uuid4())
    first = seat.apply(legal.moves[0].move, etag=legal.etag, request_id=request_id)
    recorded.operations.clear()

    again = seat.apply(legal.moves[0].move, etag=legal.etag, request_id=request_id)

    assert (again.repeated_request, again.events) == (True, first.events)
    assert recorded.operations == ["read_for_request", "confirm"]


def test_a_rejected_move_is_read_once_without_a_commit(recorded: Recorded) -> None:
    game = new_game(recorded.stub, 2)
    seat = game.seats[game.created.state.awaiting_seats[0]]
    legal = seat.legal()
    seat.apply(legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))
    recorded.operations.clear()

    error: CallError = expect_error(
        lambda: seat.apply(legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))
    )

    assert error.reason == "STALE_ETAG"
    assert recorded.operations == ["read_for_request"]
