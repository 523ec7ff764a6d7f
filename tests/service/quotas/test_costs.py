"""What quotas ask of the store, and what becomes of games where it does not answer."""

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
from tests.service.quotas.apps import App, apps
from tests.service.store.servers import Server, eventually
from tests.support.here import stub_of_service
from tests.support.players import SECONDS, new_game, play, refusal
from tests.support.proxy import Proxy
from tests.support.quotas import asked


@pytest.mark.parametrize(
    ("quota", "more"),
    [
        ({}, {}),
        ({"max_live_games": 9}, {"claim": 1, "reserve": 2}),
        ({"max_new_games": 9}, {"claim": 1, "reserve": 2}),
    ],
    ids=["none", "live games", "new games"],
)
def test_making_a_game_takes_two_questions_more_where_there_is_a_quota_and_a_move_takes_none(
    store: Server, quota: dict[str, Any], more: dict[str, int]
) -> None:
    metrics = Metrics()
    with stub_of_service(store.url, metrics=metrics, **quota) as stub:
        game = new_game(stub)
        assert asked(metrics) == {"reserve": 1, "create": 1, **more}

        play(game, random.Random(1), moves=1)

        assert asked(metrics) == {"reserve": 1, "create": 1, "read": 2, "commit": 1, **more}
        with store.client() as raw:
            assert bool(raw.exists(*owner_keys(""))) == bool(quota)


@pytest.mark.parametrize(
    ("quota", "more"),
    [({}, {}), ({"max_live_games": 9}, {"release": 1}), ({"max_new_games": 9}, {})],
    ids=["none", "live games", "new games"],
)
def test_finishing_and_deleting_a_game_take_one_question_more_each_where_live_games_are_counted(
    store_url: str, quota: dict[str, Any], more: dict[str, int]
) -> None:
    metrics = Metrics()
    with apps(store_url, metrics=metrics, **quota) as (app,):
        finished, deleted = app.new_game(), app.new_game()
        made = Counter(asked(metrics))

        moves = len(play(finished, random.Random(1)))
        played = Counter(asked(metrics))
        deleted.host.delete()

        assert played - made == {"read": 1 + moves, "commit": moves, **more}
        assert Counter(asked(metrics)) - played == {"delete": 1, **more}


def test_a_last_move_is_answered_soon_where_the_store_does_not_say_that_the_game_counts_no_longer(
    store: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "FIRST_REPLY_SECONDS", SECONDS)  # no other timeout applies then
    with (
        capture_logs() as logs,
        Proxy(store.port) as network,
        stub_of_service(network.url, max_live_games=1) as stub,
        network.losing(b"$4\r\nZREM\r\n"),
    ):
        game = new_game(stub)
        play(game, random.Random(1))

        assert game.spectator.score().final
    assert [line["game_id"] for line in logs if line["event"] == "quota_not_released"] == [game.game_id]
    *_, last = [line["ms"] for line in logs if line.get("method") == "ApplyMove"]
    assert last < 1000 * SECONDS / 2


def test_games_end_where_the_count_cannot_be_changed(app: App, raw: Redis) -> None:
    finished, deleted = app.new_game(), app.new_game()
    live = owner_keys(app.owner).live
    raw.delete(live)
    raw.set(live, "no set")

    play(finished, random.Random(1))
    deleted.host.delete()

    assert finished.spectator.score().final
    assert refusal(deleted.spectator.state).reason == "GAME_NOT_FOUND"


def test_a_store_that_has_gone_makes_no_game_and_counts_on_when_it_is_back(store: Server) -> None:
    with stub_of_service(store.url, max_live_games=1) as stub:
        new_game(stub)
        store.kill()
        assert refusal(partial(new_game, stub)).reason == "STORE_UNAVAILABLE"

        store.start()

        eventually(lambda: refusal(partial(new_game, stub)).reason == "LIMIT")
