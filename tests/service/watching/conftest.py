"""Fixtures for tests of WatchGame: two services on one store with frequent heartbeats."""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from service.access import new_token_key
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.in_process import in_process_service
from tests.support.service import Service, channel_to, running, two_services
from tests.support.store_servers import Server

HEARTBEAT = "--heartbeat=300ms"


class TwoServices(NamedTuple):
    """Two services on one store, with a stub of each."""

    one: Service
    two: Service
    first: GameServiceStub
    second: GameServiceStub


@pytest.fixture(scope="session")
def pair(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TwoServices]:
    """Two services on a store of each available kind. Tests share them and must not stop them."""
    folder: Path = tmp_path_factory.mktemp("watched")
    with (
        two_services(folder, store_url, HEARTBEAT, "--allow-fixed-seed") as (one, two),
        channel_to(one.target) as first,
        channel_to(two.target) as second,
    ):
        yield TwoServices(one, two, GameServiceStub(first), GameServiceStub(second))


class Own(NamedTuple):
    """A store of the test's own, which it may break, and two services on it in this process."""

    store: Server
    target: str
    first: GameServiceStub
    second: GameServiceStub


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Own]:
    """A store and two services of the test's own. The second has a heartbeat of one hour."""
    with (
        Server(tmp_path / "store", "--appendfsync", "always") as store,
        in_process_service(store.url, heartbeat_seconds=0.3) as one,
        in_process_service(store.url, heartbeat_seconds=3600) as two,
        channel_to(one) as first,
        channel_to(two) as second,
    ):
        yield Own(store, one, GameServiceStub(first), GameServiceStub(second))


class Processes(NamedTuple):
    """The same with service processes, which a test may kill and whose logs it can read."""

    store: Server
    one: Service
    two: Service
    first: GameServiceStub
    second: GameServiceStub


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    """A store and two services of the test's own. The second has a heartbeat of one hour."""
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        Server(tmp_path / "store", "--appendfsync", "always") as store,
        running(tmp_path / "one", "--store-url", store.url, HEARTBEAT, env=env) as one,
        running(tmp_path / "two", "--store-url", store.url, "--heartbeat=1h", env=env) as two,
        channel_to(one.target) as first,
        channel_to(two.target) as second,
    ):
        yield Processes(store, one, two, GameServiceStub(first), GameServiceStub(second))
