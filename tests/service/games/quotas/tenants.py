"""Tenants: apps with an API key of their own."""

import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import grpc

from service.store.keys import game_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.forging import KEYS
from tests.support.game_clients import CallError, Game, expect_error, new_game
from tests.support.in_process import in_process_stub
from tests.support.quotas import new_owner
from tests.support.store_servers import eventually

DAY: Final = 86_400_000
TOGETHER: Final = 16
ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": KEYS}


class Tenant(NamedTuple):
    """A tenant that creates games of Soda Jerk with its API key."""

    stub: GameServiceStub
    owner: str
    key: str

    def new_game(self, **fields: Any) -> Game:
        return new_game(self.stub, 2, metadata=(("x-api-key", self.key),), **fields)

    def at(self, stub: GameServiceStub) -> "Tenant":
        """Return the same tenant at another service."""
        return Tenant(stub, self.owner, self.key)


def new_tenants(number: int) -> list[tuple[str, str]]:
    return [(new_owner(), str(uuid.uuid4())) for _ in range(number)]


@contextmanager
def tenants(store_url: str, number: int = 1, **settings: Any) -> Iterator[list[Tenant]]:
    """Run a service during the block; yield tenants that may create games there."""
    keys = new_tenants(number)
    with in_process_stub(store_url, api_keys=dict(keys), **settings) as stub:
        yield [Tenant(stub, *key) for key in keys]


def expect_full(call: Callable[[], object]) -> CallError:
    """Make a call that must fail because the quota of live games is reached."""
    error = expect_error(call)
    assert (error.code, error.reason) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT")
    assert "try again when one is finished, deleted or expired" in error.message
    assert error.retry is None
    return error


def expire(raw: Any, game: Game) -> None:
    """Let a game expire."""
    key = game_keys(game.game_id).game
    raw.pexpire(key, 1)
    eventually(lambda: not raw.exists(key))
