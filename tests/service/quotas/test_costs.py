"""What quotas ask of the store, and what becomes of games where it does not answer."""

import random
from functools import partial
from typing import Any

import pytest
from redis import Redis

from service.metrics import Metrics
from service.server import bind
from service.settings import Settings
from service.store.layout import keys_of_owner
from service.tokens import parse_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.quotas.apps import App
from tests.service.store.servers import Server, eventually
from tests.support.forging import KEYS
from tests.support.here import stub_of_service
from tests.support.players import new_game, play, refusal
from tests.support.service import channel_to


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
    settings = Settings(port=0, store_url=store.url, token_keys=parse_keys(KEYS), **quota)
    with bind(settings, metrics=metrics) as server, channel_to(f"127.0.0.1:{server.port}") as channel:
        game = new_game(GameServiceStub(channel))
        assert asked(metrics) == {"reserve": 1, "create": 1, **more}

        play(game, random.Random(1), moves=1)

        assert asked(metrics) == {"reserve": 1, "create": 1, "read": 2, "commit": 1, **more}
        with store.client() as raw:
            assert bool(raw.exists(*keys_of_owner(""))) == bool(quota)


def asked(metrics: Metrics) -> dict[str, int]:
    """Tells which questions were asked of the store, and how often."""
    samples = (sample for family in metrics.registry.collect() for sample in family.samples)
    return {
        sample.labels["operation"]: int(sample.value)
        for sample in samples
        if sample.name == "sodafountain_store_seconds_count"
    }


def test_games_end_where_the_count_cannot_be_changed(app: App, raw: Redis) -> None:
    finished, deleted = app.new_game(), app.new_game()
    live = keys_of_owner(app.owner).live
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
