"""Fixtures for tests of the service: real stores, a real process, real sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.tokens import new_key
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import stores
from tests.support.service import Service, channel_to, running

FLAGS = ("--allow-fixed-seed", "--log-level=debug")


@pytest.fixture(scope="session", params=stores.kinds())
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A store server, of each kind there is."""
    with stores.server(request.param) as url:
        yield url


@pytest.fixture(scope="session")
def service(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service process on that store, shared by tests that leave it as it is."""
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_key()}
    folder: Path = tmp_path_factory.mktemp("service")
    with running(folder, "--store-url", store_url, *FLAGS, env=env) as process:
        yield process


@pytest.fixture
def stub(service: Service) -> Iterator[GameServiceStub]:
    """A connection to that service."""
    with channel_to(service.target) as channel:
        yield GameServiceStub(channel)
