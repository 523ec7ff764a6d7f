"""Counts of quotas are corrected after a crash."""

import random
import signal
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest
from redis import Redis

from service.store import Quota, Store, connect
from service.store.keys import owner_keys
from service.store.scripts import CREATE
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.games.quotas.tenants import ENV, Tenant, expect_full
from tests.service.store.games import HOUR
from tests.support.forging import KEYS
from tests.support.game_clients import new_game, play
from tests.support.in_process import in_process_stub
from tests.support.proxy import Proxy
from tests.support.quotas import age_counts, counted_games
from tests.support.service import channel_to, running
from tests.support.store_servers import Server


def test_an_unfinished_creation_counts_only_until_its_deadline(tenant: Tenant, raw: Redis, direct_store: Store) -> None:
    direct_store.quotas.claim(tenant.owner, "a" * 26, Quota(2, None, HOUR), hold_ms=10_000, timeout=10.0)
    tenant.new_game()
    expect_full(tenant.new_game)

    age_counts(raw, tenant.owner, 10_000)

    tenant.new_game()
    expect_full(tenant.new_game)


def test_a_game_whose_end_was_not_counted_is_released_within_a_minute(tenant: Tenant, raw: Redis) -> None:
    finished, deleted = tenant.new_game(), tenant.new_game()
    live = owner_keys(tenant.owner).live
    before: Any = raw.zrange(live, 0, -1, withscores=True)
    play(finished, random.Random(1))
    deleted.host.delete()
    raw.zadd(live, dict(before))
    expect_full(tenant.new_game)

    age_counts(raw, tenant.owner, 60_000)

    tenant.new_game(), tenant.new_game()
    expect_full(tenant.new_game)


@pytest.fixture
def direct_store(store_url: str) -> Iterator[Store]:
    """The store of a process that crashes before it has finished."""
    store = connect(store_url)
    yield store
    store.close()


@contextmanager
def killed_before(command: bytes, store: Server, folder: Path) -> Iterator[GameServiceStub]:
    """Run a service with a quota of one game, which is killed before the first such command reaches the store."""
    with (
        Proxy(store.port) as network,
        running(folder, "--store-url", network.url, "--max-live-games=1", env=ENV) as service,
        channel_to(service.target) as channel,
    ):
        network.cut_before(command, service.kill)
        yield GameServiceStub(channel)
        assert service.process.wait(10.0) == -signal.SIGKILL


def test_a_creation_interrupted_by_a_kill_is_completed_by_its_retry_and_counts_once(
    store: Server, tmp_path: Path
) -> None:
    request_id = str(uuid.uuid4())
    with killed_before(CREATE.sha.encode(), store, tmp_path / "killed") as stub, pytest.raises(grpc.RpcError):
        new_game(stub, request_id=request_id)
    with store.client() as raw, in_process_stub(store.url, max_live_games=1) as other:
        assert counted_games(raw, "") == (1, 0)
        expect_full(partial(new_game, other))

        new_game(other, request_id=request_id)

        assert counted_games(raw, "") == (1, 0)
        age_counts(raw, "", HOUR)
        expect_full(partial(new_game, other))


def test_a_creation_interrupted_by_a_kill_is_released(store: Server, tmp_path: Path) -> None:
    with killed_before(CREATE.sha.encode(), store, tmp_path / "killed") as stub, pytest.raises(grpc.RpcError):
        new_game(stub)
    with store.client() as raw, in_process_stub(store.url, max_live_games=1) as other:
        age_counts(raw, "", 12_000)  # the deadline of its call was ten seconds

        new_game(other)


def test_a_game_is_released_if_its_process_was_killed_after_the_last_move(store: Server, tmp_path: Path) -> None:
    with killed_before(b"$4\r\nZREM\r\n", store, tmp_path / "killed") as stub:
        game = new_game(stub)
        with pytest.raises(grpc.RpcError):
            play(game, random.Random(1))
    with store.client() as raw, in_process_stub(store.url, max_live_games=1, keys=KEYS) as other:
        assert game.at(other).spectator.score().finished
        expect_full(partial(new_game, other))

        age_counts(raw, "", 60_000)

        new_game(other)
