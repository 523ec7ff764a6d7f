"""The quota of new games of an API key within a window of time."""

import random
import uuid
from functools import partial
from pathlib import Path

import grpc
import pytest
from redis import Redis

import sodafountain
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.service.games.quotas.tenants import ENV, expect_full, tenants
from tests.service.store.games import HOUR
from tests.support.game_clients import expect_error, play
from tests.support.quotas import age_counts, counted_games
from tests.support.service import running
from tests.support.store_servers import Server


def test_a_game_above_the_window_quota_is_rejected_with_the_retry_time(store_url: str, raw: Redis) -> None:
    with tenants(store_url, max_new_games=2, new_games_window_ms=2 * HOUR) as (tenant,):
        tenant.new_game().host.delete()
        age_counts(raw, tenant.owner, HOUR)
        play(tenant.new_game(), random.Random(1))

        error = expect_error(tenant.new_game)

        assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
        assert error.message.startswith("This API key may create 2 games in 2h, and has created them: try again in ")
        assert 3500 < (error.retry or 0) <= 3600
        age_counts(raw, tenant.owner, HOUR)
        tenant.new_game()
        assert expect_error(tenant.new_game).reason == "LIMIT"


def test_a_repeated_request_counts_once_in_the_window(store_url: str, raw: Redis) -> None:
    with tenants(store_url, max_new_games=2) as (tenant,):
        make = partial(tenant.new_game, request_id=str(uuid.uuid4()))
        created = make().created
        tenant.new_game()

        assert make().created == created
        assert counted_games(raw, tenant.owner) == (0, 2)


def test_both_quotas_apply_together(store_url: str) -> None:
    with tenants(store_url, max_live_games=1, max_new_games=2) as (tenant,):
        game = tenant.new_game()
        expect_full(tenant.new_game)
        game.host.delete()
        tenant.new_game()

        assert 3500 < (expect_error(tenant.new_game).retry or 0) <= 3600


def test_a_client_library_does_not_retry_and_reports_the_retry_time(store: Server, tmp_path: Path) -> None:
    with running(tmp_path / "service", "--store-url", store.url, "--max-new-games=1", env=ENV) as service:
        with sodafountain.connect(service.target) as client:
            client.new_game(SodaJerkOptions(), seats=2)
            with pytest.raises(sodafountain.LimitExceeded) as error:
                client.new_game(SodaJerkOptions(), seats=2)
        calls = [(line["method"], line.get("reason")) for line in service.logs() if line["event"] == "rpc"]

    assert calls == [("NewGame", None), ("NewGame", "LIMIT")]
    assert error.value.retry_delay is not None
    assert 3500 < error.value.retry_delay <= 3600


@pytest.mark.parametrize("flag", ["--max-live-games=5", "--max-new-games=5"])
@pytest.mark.parametrize("keys", ["", "friends:" + "k" * 32])
def test_a_quota_that_all_callers_share_is_logged_at_the_start(tmp_path: Path, flag: str, keys: str) -> None:
    env = {"SODAFOUNTAIN_API_KEYS": keys} if keys else {}
    with running(tmp_path, f"--data-dir={tmp_path / 'data'}", flag, env=env) as service:
        warned = [line["level"] for line in service.logs() if line["event"] == "quota_shared"]
    assert warned == ([] if keys else ["warning"])
