"""Services in the process of the test: where it is about what they answer, and not about a command or a process."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from service.access import parse_token_keys
from service.observability.metrics import Metrics
from service.server.composition import bind
from service.server.settings import Settings
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.service import channel_to


@contextmanager
def address_of_service(
    store_url: str, *, keys: str = forging.KEYS, metrics: Metrics | None = None, **settings: Any
) -> Iterator[str]:
    """Runs a service for the length of the block; provides its address.

    Starting one takes milliseconds, where a process loads everything anew.

    Args:
        store_url: where it keeps its games.
        keys: its token keys.
        metrics: where it counts.
        settings: others of its settings.
    """
    chosen = Settings(port=0, store_url=store_url, token_keys=parse_token_keys(keys), **settings)
    with bind(chosen, metrics=metrics) as server:
        yield f"127.0.0.1:{server.port}"


@contextmanager
def stub_of_service(store_url: str, **settings: Any) -> Iterator[GameServiceStub]:
    """Runs a service, as `address_of_service` does, for the length of the block; provides a connection to it."""
    with address_of_service(store_url, **settings) as target, channel_to(target) as channel:
        yield GameServiceStub(channel)
