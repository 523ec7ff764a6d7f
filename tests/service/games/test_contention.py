"""Concurrent calls at two processes: one of N moves for a decision wins, and a repeated request is executed once."""

import random
import threading
import uuid
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TypeVar

import grpc
import pytest

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import Game, GameClient, expect_error, new_game, play
from tests.support.service import Service, two_services
from tests.support.transports import stub_over

pytestmark = pytest.mark.every_store

T = TypeVar("T")

Stubs = tuple[GameServiceStub, GameServiceStub]


@pytest.fixture(scope="session")
def services(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Service, Service]]:
    folder: Path = tmp_path_factory.mktemp("two")
    with two_services(folder, store_url) as services:
        yield services


@pytest.fixture(scope="module")
def stubs(services: tuple[Service, Service], transport: str, gateway_of: Callable[[str], str]) -> Iterator[Stubs]:
    one, two = services
    with stub_over(transport, one.target, gateway_of) as first, stub_over(transport, two.target, gateway_of) as second:
        yield first, second


def concurrently(calls: list[Callable[[], T]]) -> list[T]:
    """Make all calls at the same moment; return their results in order."""
    barrier = threading.Barrier(len(calls))

    def make(call: Callable[[], T]) -> T:
        barrier.wait()
        return call()

    with ThreadPoolExecutor(len(calls)) as threads:
        return list(threads.map(make, calls))


def outcome(call: Callable[[], pb.ApplyMoveResponse]) -> str:
    """Make a move; return `made` or the reason of the error."""
    try:
        call()
    except grpc.RpcError as error:
        return expect_error(_raising(error)).reason
    return "made"


def _raising(error: grpc.RpcError) -> Callable[[], None]:
    def call() -> None:
        raise error

    return call


def contenders(game: Game, stubs: Stubs, *, number: int, with_etag: bool) -> list[Callable[[], str]]:
    """Return moves for one decision, half of them at each process."""
    seat = game.seats[game.spectator.state().awaiting_seats[0]]
    legal = seat.legal()
    callers = [seat.at(stub) for stub in stubs]

    def mover(index: int) -> Callable[[], str]:
        move = legal.moves[index % len(legal.moves)].move
        etag = legal.etag if with_etag else ""
        return lambda: outcome(lambda: callers[index % 2].apply(move, etag=etag, request_id=str(uuid.uuid4())))

    return [mover(index) for index in range(number)]


@pytest.mark.parametrize("with_etag", [True, False], ids=["etags", "no etags"])
def test_exactly_one_of_fifty_concurrent_moves_for_a_decision_wins(stubs: Stubs, with_etag: bool) -> None:
    game = new_game(stubs[0], 3)

    for version in range(2, 5):
        outcomes = Counter(concurrently(contenders(game, stubs, number=50, with_etag=with_etag)))

        assert outcomes["made"] == 1
        assert outcomes.keys() <= ({"made", "STALE_ETAG"} if with_etag else {"made", "NOT_YOUR_TURN", "ILLEGAL_MOVE"})
        assert game.spectator.state().version == version


@pytest.mark.transports("grpc", "rest")
def test_ten_concurrent_repeats_of_a_move_are_one_commit_with_equal_results(stubs: Stubs) -> None:
    game = new_game(stubs[0], 3)

    for version in range(2, 5):
        seat = game.seats[game.spectator.state().awaiting_seats[0]]
        offered, request_id = seat.legal(), str(uuid.uuid4())
        callers = [seat.at(stub) for stub in stubs]
        move = offered.moves[-1].move

        retry = partial(GameClient.apply, move=move, etag=offered.etag, request_id=request_id)

        answers = concurrently([partial(retry, caller) for caller in callers * 5])

        assert {answer.committed_version for answer in answers} == {version}
        assert sum(not answer.repeated_request for answer in answers) == 1
        assert all(answer.events == answers[0].events for answer in answers)
        assert all(answer.state.view == answers[0].state.view for answer in answers)
        assert game.spectator.state().version == version


@pytest.mark.transports("grpc", "rest")
def test_ten_concurrent_repeats_of_a_new_game_create_one_game(stubs: Stubs) -> None:
    request_id = str(uuid.uuid4())

    games = concurrently([partial(new_game, stub, 3, request_id=request_id) for stub in stubs * 5])

    assert all(game.created == games[0].created for game in games)


def test_a_read_after_a_write_sees_it_at_either_process(stubs: Stubs) -> None:
    game = new_game(stubs[0], 4)
    rng = random.Random(8)

    for version in range(2, 30):
        seat = game.seats[game.spectator.state().awaiting_seats[0]]
        writer, reader = stubs if version % 2 else reversed(stubs)
        legal = seat.at(reader).legal()
        answer = seat.at(writer).apply(rng.choice(legal.moves).move, etag=legal.etag)
        assert answer.committed_version == version
        assert seat.at(reader).state() == answer.state


def test_concurrent_games_are_independent(stubs: Stubs) -> None:
    def whole(number: int) -> tuple[Game, int]:
        game = new_game(stubs[number % 2], 2 + number % 3)
        return game, len(play(game, random.Random(number)))

    for game, moves in concurrently([partial(whole, number) for number in range(8)]):
        versions = [entry.version for entry in game.spectator.history(page_size=1000).entries]
        assert versions == list(range(1, moves + 2))
