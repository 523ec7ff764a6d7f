"""Fixtures: a store, and containers of the service that use it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.access import new_token_key
from tests.deploy.image.containers import ServiceContainer, make_accessible, run_service
from tests.support.store_servers import Server


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A store outside the containers that syncs every write to disk."""
    with Server(tmp_path_factory.mktemp("store") / "store", "--appendfsync", "always") as server:
        yield server


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with token keys."""
    path = tmp_path_factory.mktemp("keys") / "token-keys"
    path.write_text(new_token_key() + "\n")
    return make_accessible(path)


@pytest.fixture(scope="session")
def container(store: Server, keys: Path) -> Iterator[ServiceContainer]:
    """A service whose keys are in a mounted file. Tests must not change it."""
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS_FILE": "/keys/token-keys"}
    with run_service(env, f"--volume={keys}:/keys/token-keys:ro") as container:
        yield container


@pytest.fixture(scope="session")
def pair(store: Server, keys: Path) -> Iterator[tuple[ServiceContainer, ServiceContainer]]:
    """Two services on the same store, with keys in a variable. A test that stops one must start it again."""
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS": keys.read_text().strip()}
    with run_service(env) as one, run_service(env) as two:
        yield one, two
