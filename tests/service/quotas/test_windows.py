"""An API key makes no more games in a span of time than its operator allows."""

import random
import uuid
from functools import partial
from pathlib import Path

import grpc
import pytest
from redis import Redis

import sodafountain
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.service.quotas.apps import ENV, apps, full
from tests.service.store.games import HOUR
from tests.service.store.servers import Server
from tests.support.players import play, refusal
from tests.support.quotas import counted, pass_time
from tests.support.service import running


def test_as_many_games_as_the_window_allows_are_made_and_the_next_is_told_when_to_try_again(
    store_url: str, raw: Redis
) -> None:
    with apps(store_url, max_new_games=2, new_games_window_ms=2 * HOUR) as (app,):
        app.new_game().host.delete()
        pass_time(raw, app.owner, HOUR)
        play(app.new_game(), random.Random(1))

        refused = refusal(app.new_game)

        assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
        assert refused.sentence.startswith("This API key may create 2 games in 2h, and has created them: try again in ")
        assert 3500 < (refused.retry or 0) <= 3600
        pass_time(raw, app.owner, HOUR)
        app.new_game()
        assert refusal(app.new_game).reason == "LIMIT"


def test_a_repeated_request_is_answered_and_counts_once_in_the_window(store_url: str, raw: Redis) -> None:
    with apps(store_url, max_new_games=2) as (app,):
        make = partial(app.new_game, request_id=str(uuid.uuid4()))
        made = make().made
        app.new_game()

        assert make().made == made
        assert counted(raw, app.owner) == (0, 2)


def test_both_quotas_hold_beside_each_other(store_url: str) -> None:
    with apps(store_url, max_live_games=1, max_new_games=2) as (app,):
        game = app.new_game()
        full(app.new_game)
        game.host.delete()
        app.new_game()

        assert 3500 < (refusal(app.new_game).retry or 0) <= 3600


def test_a_client_library_asks_once_and_passes_on_when_to_try_again(store: Server, tmp_path: Path) -> None:
    with running(tmp_path / "service", "--store-url", store.url, "--max-new-games=1", env=ENV) as service:
        with sodafountain.connect(service.target) as client:
            client.new_game(SodaJerkOptions(), seats=2)
            with pytest.raises(sodafountain.LimitExceeded) as refused:
                client.new_game(SodaJerkOptions(), seats=2)
        calls = [(line["method"], line.get("reason")) for line in service.logs() if line["event"] == "rpc"]

    assert calls == [("NewGame", None), ("NewGame", "LIMIT")]
    assert refused.value.retry_delay is not None
    assert 3500 < refused.value.retry_delay <= 3600
