"""Fixtures for tests of the service: real stores, a real process, real sockets."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis

from service.access import new_token_key
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import stores
from tests.support.collector import Collector, collecting
from tests.support.gateways import gateways
from tests.support.service import Service, running
from tests.support.transports import stub_over

FLAGS = ("--allow-fixed-seed", "--log-level=debug")
_ONE = stores.kinds()[0]
_STORE = Path(__file__).with_name("store")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test over the transports of its mark; over gRPC without a mark."""
    if (mark := metafunc.definition.get_closest_marker("transports")) and "transport" in metafunc.fixturenames:
        metafunc.parametrize("transport", mark.args, indirect=True, scope="session")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip redundant combinations of stores and transports, and mark others as long, for `make verify`.

    A gateway calls the service over gRPC, and gRPC is tested on every kind of store: tests over other transports run on
    one kind only, and so do tests marked `one_store`. Tests of the store and tests marked `every_store` run on every
    kind. All other tests run on one kind in `make test`, and on every kind in `make verify`.
    """
    others = [item for item in items if _store_of(item) != _ONE]
    needless = {item for item in others if _transport_of(item) != "grpc" or item.get_closest_marker("one_store")}
    for item in others:
        if item.path.parent != _STORE and not item.get_closest_marker("every_store"):
            item.add_marker("long")
    items[:] = [item for item in items if item not in needless]


def _store_of(item: pytest.Item) -> str:
    return str(_params(item).get("store_url", _ONE))


def _transport_of(item: pytest.Item) -> str:
    return str(_params(item).get("transport", "grpc"))


def _params(item: pytest.Item) -> dict[str, object]:
    return item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}


@pytest.fixture(scope="session")
def transport(request: pytest.FixtureRequest) -> str:
    """The transport of the calls: one of tests.support.transports.PROTOCOLS, or gRPC."""
    return str(getattr(request, "param", "grpc"))


@pytest.fixture(scope="session")
def gateway_of() -> Iterator[Callable[[str], str]]:
    """A function that returns the address of a gateway to a service, and starts it on first use."""
    with gateways() as running_gateways:
        yield running_gateways


@pytest.fixture(scope="session", params=stores.kinds())
def store_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """A store server of each available kind."""
    with stores.server(request.param) as url:
        yield url


@pytest.fixture
def raw(store_url: str) -> Iterator[Redis]:
    """A plain client of the same store, to access its data directly."""
    with Redis.from_url(store_url) as redis:
        yield redis


@pytest.fixture
def collector() -> Iterator[Collector]:
    """An OpenTelemetry collector."""
    with collecting() as collector:
        yield collector


@pytest.fixture(scope="session")
def service(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service process on that store. Tests share it and must not stop it."""
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    folder: Path = tmp_path_factory.mktemp("service")
    with running(folder, "--store-url", store_url, *FLAGS, env=env) as process:
        yield process


@pytest.fixture
def stub(service: Service, transport: str, gateway_of: Callable[[str], str]) -> Iterator[GameServiceStub]:
    """A stub of that service."""
    with stub_over(transport, service.target, gateway_of) as connected:
        yield connected
