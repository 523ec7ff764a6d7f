"""Services in the process of the test, for tests that need no process of its own."""

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
def in_process_service(
    store_url: str, *, keys: str = forging.KEYS, metrics: Metrics | None = None, **settings: Any
) -> Iterator[str]:
    """Run a service during the block; yield its address.

    It starts within milliseconds.

    Args:
        store_url: the URL of its store.
        keys: its token keys.
        metrics: where it counts.
        settings: other settings.
    """
    chosen = Settings(port=0, store_url=store_url, token_keys=parse_token_keys(keys), **settings)
    with bind(chosen, metrics=metrics) as server:
        yield f"127.0.0.1:{server.port}"


@contextmanager
def in_process_stub(store_url: str, **settings: Any) -> Iterator[GameServiceStub]:
    """Run a service as `in_process_service` does; yield a stub that is connected to it."""
    with in_process_service(store_url, **settings) as target, channel_to(target) as channel:
        yield GameServiceStub(channel)
