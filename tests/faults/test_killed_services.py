"""SIGKILL of a service process: nothing is lost, and clients continue with another process."""

import random
import uuid
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

import sodafountain
from service.access import new_token_key
from service.store.scripts import COMMIT
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.faults.store_state import stored_version
from tests.support.background_load import background_load
from tests.support.game_clients import GameClient, new_game, play
from tests.support.long_cases import long_case
from tests.support.proxy import Proxy
from tests.support.service import Service, channel_to, running, two_services
from tests.support.store_servers import Server, eventually

GAMES = 4


@pytest.mark.parametrize("kills", [1, long_case(40)])
def test_games_survive_killed_services(kills: int, store: Server, tmp_path: Path) -> None:
    with (
        two_services(tmp_path, store.url) as services,
        background_load(*(service.target for service in services), players=GAMES) as load,
    ):
        for kill in range(kills):
            load.wait_for_moves(50)
            services[kill % 2].kill()
            load.wait_for_moves(50)
            if kill + 1 < kills:
                services[kill % 2].restart()

    assert load.games >= GAMES
    assert load.errors, "no client was affected"


def test_a_move_committed_before_the_kill_is_there_once(store: Server, tmp_path: Path) -> None:
    with Proxy(store.port) as proxy, in_flight(tmp_path, store, proxy.url) as flight:
        with proxy.answers_held():
            making = flight.begin()
            eventually(lambda: flight.stored_version() == 2)
            flight.kill_service()
        assert isinstance(making.exception(), grpc.RpcError)

        answer = flight.retry()

    assert (answer.committed_version, answer.state.version, answer.repeated_request) == (2, 2, True)


def test_a_move_that_did_not_reach_the_store_is_committed_by_its_retry(store: Server, tmp_path: Path) -> None:
    with Proxy(store.port) as proxy, in_flight(tmp_path, store, proxy.url) as flight:
        with proxy.black_hole():
            making = flight.begin()
            eventually(lambda: proxy.held_requests)
            flight.kill_service()
            proxy.break_connections()
        assert isinstance(making.exception(), grpc.RpcError)

        answer = flight.retry()

    assert (answer.committed_version, answer.state.version, answer.repeated_request) == (2, 2, False)


@pytest.mark.parametrize(
    ("command", "repeated"),
    [(COMMIT.sha.encode(), False), (b"$4\r\nZREM\r\n", True)],
    ids=["before its commit", "after its commit"],
)
def test_the_last_move_of_a_killed_service_is_made_once_by_its_retry(
    command: bytes, repeated: bool, store: Server, tmp_path: Path
) -> None:
    flags, seed = ("--allow-fixed-seed", "--max-live-games=9"), bytes(32)
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        Proxy(store.port) as network,
        running(tmp_path / "killed", "--store-url", network.url, *flags, env=env) as killed,
        running(tmp_path / "other", "--store-url", store.url, *flags, env=env) as other,
        channel_to(killed.target) as first,
        channel_to(other.target) as second,
    ):
        moves = len(play(new_game(GameServiceStub(second), 2, seed=seed), random.Random(6)))
        game, rng = new_game(GameServiceStub(first), 2, seed=seed), random.Random(6)
        play(game, rng, moves=moves - 1)
        seat = game.seats[game.spectator.state().awaiting_seats[0]]
        legal = seat.legal()
        move = rng.choice(legal.moves).move
        last = partial(GameClient.apply, move=move, etag=legal.etag, request_id=str(uuid.uuid4()))
        network.cut_before(command, killed.kill)
        with pytest.raises(grpc.RpcError):
            last(seat)

        answers = [last(seat.at(GameServiceStub(second))) for _ in range(2)]
        entries = game.at(GameServiceStub(second)).spectator.history(page_size=1000).entries

    assert [answer.committed_version for answer in answers] == [moves + 1, moves + 1]
    assert [answer.repeated_request for answer in answers] == [repeated, True]
    assert [entry.version for entry in entries] == list(range(1, moves + 2))
    assert entries[-1].move == move


class Flight(NamedTuple):
    """A move that is in flight through a service that will be killed, and another service on the same store."""

    services: tuple[Service, Service]
    seats: tuple[GameClient, GameClient]
    move: partial[pb.ApplyMoveResponse]
    store: Server
    threads: ThreadPoolExecutor

    def begin(self) -> Future[pb.ApplyMoveResponse]:
        """Send the move to the first service."""
        return self.threads.submit(self.move, self.seats[0])

    def kill_service(self) -> None:
        """Kill the first service."""
        self.services[0].kill()

    def retry(self) -> pb.ApplyMoveResponse:
        """Send the same request to the second service."""
        return self.move(self.seats[1])

    def stored_version(self) -> int:
        """Return the version of the game in the store."""
        return stored_version(self.store, self.seats[0].game_id)


@contextmanager
def in_flight(folder: Path, store: Server, proxied: str) -> Iterator[Flight]:
    """Create a game with two seats at a service that reaches the store through a proxy."""
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        running(folder / "killed", "--store-url", proxied, env=env) as killed,
        running(folder / "other", "--store-url", store.url, env=env) as other,
        channel_to(killed.target) as first,
        channel_to(other.target) as second,
        ThreadPoolExecutor(1) as threads,
    ):
        play(new_game(GameServiceStub(second), 2), random.Random(1), moves=1)  # loads the scripts into the store
        game = new_game(GameServiceStub(first), 2)
        seat = game.seats[game.created.state.awaiting_seats[0]]
        legal = seat.legal()
        move = partial(GameClient.apply, move=legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))
        yield Flight((killed, other), (seat, seat.at(GameServiceStub(second))), move, store, threads)


@pytest.mark.long
def test_a_killed_service_is_invisible_to_an_app_with_the_client_library(store: Server, tmp_path: Path) -> None:
    rng = random.Random(5)
    with two_services(tmp_path, store.url) as services:
        addresses = ",".join(service.target for service in services)
        with sodafountain.connect(f"ipv4:{addresses}") as client:
            game = client.new_game(SodaJerkOptions(), 2)
            awaiting, moves = game.state.awaiting_seats, 0
            while awaiting:
                if moves == 10:
                    services[0].kill()
                seat = game.seats[awaiting[0]]
                awaiting = seat.apply(rng.choice(seat.legal_moves().moves)).state.awaiting_seats
                moves += 1
            history = game.host.history()

    assert [entry.version for entry in history.entries] == list(range(1, moves + 2))
