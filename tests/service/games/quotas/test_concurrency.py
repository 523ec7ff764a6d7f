"""Quotas under concurrent calls at several processes."""

import threading
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import Any

import grpc
import pytest
from redis import Redis

from service.store.keys import owner_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.games.quotas.tenants import ENV, TOGETHER, Tenant, expect_full, expire
from tests.service.store.games import HOUR
from tests.support.game_clients import CallError, Game, expect_error
from tests.support.quotas import age_counts, counted_games, new_owner
from tests.support.service import channel_to, running


@pytest.fixture(scope="module")
def two(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Tenant, ...]]:
    """A tenant with a quota of five live games, at two processes."""
    owner, key = new_owner(), str(uuid.uuid4())
    folder = tmp_path_factory.mktemp("quotas")
    flags = ("--store-url", store_url, "--max-live-games=5")
    env = ENV | {"SODAFOUNTAIN_API_KEYS": f"{owner}:{key}"}
    with ExitStack() as open_:
        targets = [open_.enter_context(running(folder / name, *flags, env=env)).target for name in ("one", "two")]
        channels = [open_.enter_context(channel_to(target)) for target in targets]
        yield tuple(Tenant(GameServiceStub(channel), owner, key) for channel in channels)


@pytest.fixture
def no_games(two: tuple[Tenant, ...], raw: Redis) -> None:
    """Reset the counts of earlier tests."""
    raw.delete(*owner_keys(two[0].owner))


def all_at_once(two: tuple[Tenant, ...], number: int, **fields: Any) -> list[Game | CallError]:
    """Create games at the same moment, alternating between the processes."""
    barrier = threading.Barrier(number, timeout=30.0)

    def one(turn: int) -> Game | CallError:
        barrier.wait()
        try:
            return two[turn % 2].new_game(**fields)
        except grpc.RpcError as error:
            return expect_error(partial(_raise, error))

    with ThreadPoolExecutor(number) as threads:
        return list(threads.map(one, range(number)))


def _raise(error: Exception) -> None:
    raise error


@pytest.mark.usefixtures("no_games")
def test_concurrent_new_games_at_two_processes_fill_the_quota_exactly(two: tuple[Tenant, ...], raw: Redis) -> None:
    created: list[Game] = []
    for room in (5, 1, 2):
        answers = all_at_once(two, TOGETHER)

        games = [answer for answer in answers if isinstance(answer, Game)]
        assert len(games) == room
        assert {answer.reason for answer in answers if isinstance(answer, CallError)} == {"LIMIT"}
        created += games
        for _ in range(1 if room == 5 else 2):
            created.pop().at(two[room % 2].stub).host.delete()


@pytest.mark.usefixtures("no_games")
def test_concurrent_repeats_of_a_request_at_two_processes_count_once(two: tuple[Tenant, ...], raw: Redis) -> None:
    for count in range(1, 6):
        answers = all_at_once(two, TOGETHER, request_id=str(uuid.uuid4()))

        assert len({answer.created.host_token for answer in answers if isinstance(answer, Game)}) == 1
        assert not any(isinstance(answer, CallError) for answer in answers)
        assert counted_games(raw, two[0].owner) == (count, 0)


@pytest.mark.usefixtures("no_games")
def test_concurrent_checks_for_finished_games_never_exceed_the_quota(two: tuple[Tenant, ...], raw: Redis) -> None:
    for game in (games := [two[0].new_game() for _ in range(5)])[:3]:
        expire(raw, game)
    age_counts(raw, two[0].owner, HOUR)

    answers = all_at_once(two, TOGETHER)

    # A call during another's check is rejected and succeeds on retry.
    created = [answer for answer in answers if isinstance(answer, Game)]
    assert 1 <= len(created) <= 3
    created += [two[0].new_game() for _ in range(3 - len(created))]
    expect_full(two[1].new_game)
    assert all(game.spectator.state().version == 1 for game in games[3:])
