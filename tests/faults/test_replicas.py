"""A replica behind a bad network: what `--durable-replicas` guarantees, and what happens without it."""

import random
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest

from service.access import new_token_key
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.faults.store_state import stored_version
from tests.support.game_clients import Game, GameClient, expect_error, new_game, play
from tests.support.proxy import Proxy
from tests.support.retrying_client import RetryingClient
from tests.support.service import channel_to, running
from tests.support.store_servers import Server, eventually

ENV = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
DEADLINE = 3.0
LAG = 0.2
"""The delay in each direction, in seconds: a distant replica."""


class Pair(NamedTuple):
    """A primary, its replica, and the network between them."""

    primary: Server
    replica: Server
    network: Proxy


@pytest.fixture
def pair(store: Server, tmp_path: Path) -> Iterator[Pair]:
    with (
        Proxy(store.port) as network,
        Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {network.port}") as replica,
        replica.client() as raw,
    ):
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")
        yield Pair(store, replica, network)


class Opening(NamedTuple):
    """A new game and its first move."""

    game: Game
    mover: GameClient
    other: GameClient
    move: partial[pb.ApplyMoveResponse]

    def request(self, timeout: float = DEADLINE) -> pb.ApplyMoveResponse:
        """Send the move, always with the same request id."""
        return self.move(self.mover, timeout=timeout)


def opening(stub: GameServiceStub, pair: Pair) -> Opening:
    game = new_game(stub, 2)
    eventually(lambda: caught_up(pair))
    seat = game.created.state.awaiting_seats[0]
    legal = game.seats[seat].legal()
    move = partial(GameClient.apply, move=legal.moves[0].move, etag=legal.etag, request_id=str(uuid.uuid4()))
    return Opening(game, game.seats[seat], game.seats[1 - seat], move)


# --- Durable: a change counts when the replica has it -----------------------------------------------------------------


@pytest.fixture
def durable(pair: Pair, tmp_path: Path) -> Iterator[GameServiceStub]:
    """A service that waits for the replica."""
    flags = ("--store-url", pair.primary.url, "--durable-replicas=1")
    with running(tmp_path / "durable", *flags, env=ENV) as service, channel_to(service.target) as channel:
        yield GameServiceStub(channel)


def test_a_move_is_acknowledged_when_the_slow_replica_has_it(pair: Pair, durable: GameServiceStub) -> None:
    first = opening(durable, pair)
    with pair.network.slow(LAG):
        began = time.monotonic()
        answer = first.request()
        assert time.monotonic() - began >= LAG
    assert (answer.committed_version, answer.repeated_request) == (2, False)
    assert stored_version(pair.replica, first.game.game_id) == 2


def test_a_move_without_its_replica_is_unconfirmed_and_its_retry_commits_once(
    pair: Pair, durable: GameServiceStub
) -> None:
    first = opening(durable, pair)
    with pair.network.black_hole():
        for _ in range(2):
            error = expect_error(first.request)
            assert (error.code.name, error.reason, error.retry) == ("UNAVAILABLE", "UNCONFIRMED", 0.2)
        assert stored_version(pair.replica, first.game.game_id) == 1

    eventually(lambda: stored_version(pair.replica, first.game.game_id) == 2)
    answer = first.request()

    assert (answer.committed_version, answer.state.version, answer.repeated_request) == (2, 2, True)


def test_a_move_that_reaches_its_replica_too_late_is_unconfirmed_and_committed_once(
    pair: Pair, durable: GameServiceStub
) -> None:
    first = opening(durable, pair)
    with pair.network.slow(3 * LAG):
        error = expect_error(partial(first.request, timeout=2 * LAG))
    assert (error.code.name, error.reason, error.retry) == ("UNAVAILABLE", "UNCONFIRMED", 0.2)

    answer = first.request()

    assert (answer.committed_version, answer.state.version, answer.repeated_request) == (2, 2, True)


def test_a_new_game_without_its_replica_is_unconfirmed_and_its_retry_creates_it_once(
    pair: Pair, durable: GameServiceStub
) -> None:
    make = partial(new_game, durable, 2, request_id=str(uuid.uuid4()))
    with pair.network.black_hole():
        error = expect_error(make)
    assert (error.code.name, error.reason, error.retry) == ("UNAVAILABLE", "UNCONFIRMED", 0.2)

    eventually(lambda: caught_up(pair))

    assert make().created == make().created


def test_acknowledged_moves_survive_the_primary(pair: Pair, durable: GameServiceStub, tmp_path: Path) -> None:
    game = new_game(durable, 2)
    play(game, random.Random(3), moves=20)
    pair.primary.kill()
    promote(pair.replica)

    with caller_on(pair.replica.url, tmp_path / "promoted") as promoted:
        assert promoted.call(GameClient.state, game.spectator).version == 21
        play(game.at(promoted.stub), random.Random(4))


# --- Not durable: a failover may lose moves, and clients that saw them get an error -----------------------------------


@pytest.fixture
def front(pair: Pair) -> Iterator[Proxy]:
    """The address of the current primary."""
    with Proxy(pair.primary.port) as front:
        yield front


@pytest.fixture
def plain(front: Proxy, tmp_path: Path) -> Iterator[RetryingClient]:
    """A client of a service that does not wait for the replica."""
    with caller_on(front.url, tmp_path / "plain") as client:
        yield client


def fail_over(pair: Pair, front: Proxy) -> None:
    """Promote the replica without the changes that it has not received."""
    promote(pair.replica)
    front.turn_to(pair.replica.port)


@pytest.mark.parametrize("at_fresh_service", [False, True], ids=["at the same service", "at a fresh one"])
def test_an_etag_of_a_branch_lost_in_a_failover_is_stale(
    pair: Pair, front: Proxy, plain: RetryingClient, tmp_path: Path, at_fresh_service: bool
) -> None:
    first = opening(plain.stub, pair)
    with pair.network.black_hole():
        assert first.request().committed_version == 2
        legal = first.other.legal()
        assert legal.version == 2
        fail_over(pair, front)

        with caller_on(front.url, tmp_path / "fresh") if at_fresh_service else nullcontext(plain) as caller:
            answer = partial(caller.call, GameClient.apply, first.other, legal.moves[0].move, etag=legal.etag)
            before = expect_error(answer)
            offered = caller.call(GameClient.legal, first.mover)
            assert caller.call(GameClient.apply, first.mover, offered.moves[-1].move).committed_version == 2
            after = expect_error(answer)

    assert (before.code.name, before.reason, before.metadata) == ("ABORTED", "STALE_ETAG", {"version": "1"})
    assert (after.code.name, after.reason, after.metadata) == ("ABORTED", "STALE_ETAG", {"version": "2"})


def test_a_lost_move_is_committed_by_its_retry(pair: Pair, front: Proxy, plain: RetryingClient) -> None:
    first = opening(plain.stub, pair)
    with pair.network.black_hole():
        first.request()
        fail_over(pair, front)

        answers = [plain.call(first.move, first.mover) for _ in range(2)]

    assert [answer.committed_version for answer in answers] == [2, 2]
    assert [answer.repeated_request for answer in answers] == [False, True]


@contextmanager
def caller_on(store_url: str, folder: Path) -> Iterator[RetryingClient]:
    """Run a service that waits for no replica; yield a client of it."""
    with running(folder, "--store-url", store_url, env=ENV) as service, RetryingClient([service.target]) as client:
        yield client


def promote(replica: Server) -> None:
    """Make a replica the primary."""
    with replica.client() as raw:
        raw.replicaof("NO", "ONE")


def caught_up(pair: Pair) -> bool:
    """Return whether the replica has everything."""
    with pair.primary.client() as raw:
        raw.set("mark", 1)
        return bool(raw.wait(1, 1000))
