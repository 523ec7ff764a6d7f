"""Apps with API keys of their own, and what quotas tell them."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import grpc

from service.store.keys import game_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.store.servers import eventually
from tests.support.forging import KEYS
from tests.support.here import stub_of_service
from tests.support.players import Game, Refused, new_game, refusal
from tests.support.quotas import new_owner

DAY: Final = 86_400_000
TOGETHER: Final = 16
ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": KEYS}


class App(NamedTuple):
    """An app with an API key of its own that makes games of Soda Jerk."""

    stub: GameServiceStub
    owner: str
    key: str

    def new_game(self, **fields: Any) -> Game:
        return new_game(self.stub, 2, metadata=(("x-api-key", self.key),), **fields)

    def at(self, stub: GameServiceStub) -> "App":
        """The same app at another service."""
        return App(stub, self.owner, self.key)


def new_apps(number: int) -> list[tuple[str, str]]:
    return [(new_owner(), str(uuid.uuid4())) for _ in range(number)]


@contextmanager
def apps(store_url: str, number: int = 1, **settings: Any) -> Iterator[list[App]]:
    """Runs a service for the length of the block; provides apps that may make games there."""
    keys = new_apps(number)
    with stub_of_service(store_url, api_keys=dict(keys), **settings) as stub:
        yield [App(stub, *key) for key in keys]


def full(call: Callable[[], object]) -> Refused:
    """Makes a call that is refused since there is no room for another game."""
    refused = refusal(call)
    assert (refused.code, refused.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert "try again when one is finished, deleted or expired" in refused.sentence
    assert refused.retry is None
    return refused


def expire(raw: Any, game: Game) -> None:
    """Lets a game expire."""
    keys = game_keys(game.game_id)
    for key in (keys.game, keys.log, keys.requests):
        raw.pexpire(key, 1)
    eventually(lambda: not raw.exists(keys.game))
