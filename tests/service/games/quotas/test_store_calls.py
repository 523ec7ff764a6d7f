"""The store calls of quotas, and their behavior when the store does not answer."""

import random
from collections import Counter
from functools import partial
from typing import Any

import pytest
from redis import Redis
from structlog.testing import capture_logs

from service.observability.metrics import Metrics
from service.store import client
from service.store.keys import owner_keys
from tests.service.games.quotas.tenants import Tenant, tenants
from tests.support.game_clients import SECONDS, expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.proxy import Proxy
from tests.support.quotas import store_calls
from tests.support.store_servers import Server, eventually


@pytest.mark.parametrize(
    ("quota", "more"),
    [
        ({}, {}),
        ({"max_live_games": 9}, {"claim": 1, "reserve": 2}),
        ({"max_new_games": 9}, {"claim": 1, "reserve": 2}),
    ],
    ids=["none", "live games", "new games"],
)
def test_a_new_game_needs_two_more_store_calls_with_a_quota_and_a_move_none(
    store: Server, quota: dict[str, Any], more: dict[str, int]
) -> None:
    metrics = Metrics()
    with in_process_stub(store.url, metrics=metrics, **quota) as stub:
        game = new_game(stub)
        assert store_calls(metrics) == {"reserve": 1, "create": 1, **more}

        play(game, random.Random(1), moves=1)

        assert store_calls(metrics) == {"reserve": 1, "create": 1, "read": 2, "commit": 1, **more}
        with store.client() as raw:
            assert bool(raw.exists(*owner_keys(""))) == bool(quota)


@pytest.mark.parametrize(
    ("quota", "more"),
    [({}, {}), ({"max_live_games": 9}, {"release": 1}), ({"max_new_games": 9}, {})],
    ids=["none", "live games", "new games"],
)
def test_the_end_of_a_game_reads_it_once_and_with_a_live_quota_releases_it(
    store_url: str, quota: dict[str, Any], more: dict[str, int]
) -> None:
    metrics = Metrics()
    with tenants(store_url, metrics=metrics, **quota) as (tenant,):
        finished, deleted = tenant.new_game(), tenant.new_game()
        created = Counter(store_calls(metrics))

        moves = len(play(finished, random.Random(1)))
        played = Counter(store_calls(metrics))
        deleted.host.delete()

        assert played - created == {"read": 1 + moves, "commit": moves, "read_all": 1, **more}
        assert Counter(store_calls(metrics)) - played == {"delete": 1, **more}


def test_a_last_move_is_answered_soon_if_its_release_hangs(store: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "FIRST_REPLY_SECONDS", SECONDS)  # only the timeout of a call bounds it
    with (
        capture_logs() as logs,
        Proxy(store.port) as network,
        in_process_stub(network.url, max_live_games=1) as stub,
        network.losing(b"$4\r\nZREM\r\n"),
    ):
        game = new_game(stub)
        play(game, random.Random(1))

        assert game.spectator.score().finished
    assert [line["game_id"] for line in logs if line["event"] == "quota_not_released"] == [game.game_id]
    *_, last = [line["ms"] for line in logs if line.get("method") == "ApplyMove"]
    assert last < 1000 * SECONDS / 2


def test_games_end_even_if_the_count_cannot_be_changed(tenant: Tenant, raw: Redis) -> None:
    finished, deleted = tenant.new_game(), tenant.new_game()
    live = owner_keys(tenant.owner).live
    raw.delete(live)
    raw.set(live, "no set")

    play(finished, random.Random(1))
    deleted.host.delete()

    assert finished.spectator.score().finished
    assert expect_error(deleted.spectator.state).reason == "GAME_NOT_FOUND"


def test_no_game_is_created_without_the_store_and_counts_survive_its_restart(store: Server) -> None:
    with in_process_stub(store.url, max_live_games=1) as stub:
        new_game(stub)
        store.kill()
        # If the connection broke just before a write was sent, it is unknown whether it arrived.
        assert expect_error(partial(new_game, stub)).reason in {"STORE_UNAVAILABLE", "UNCONFIRMED"}

        store.start()

        eventually(lambda: expect_error(partial(new_game, stub)).reason == "LIMIT")
