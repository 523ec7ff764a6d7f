"""A store, and one container on it that the tests which change nothing share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.tokens import new_key
from tests.deploy.image.containers import Served, opened, serving
from tests.support.store_servers import Server


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A store outside that has every write on the disk before it answers."""
    with Server(tmp_path_factory.mktemp("store") / "store", "--appendfsync", "always") as server:
        yield server


@pytest.fixture(scope="session")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with the keys of tokens."""
    path = tmp_path_factory.mktemp("keys") / "token-keys"
    path.write_text(new_key() + "\n")
    return opened(path)


@pytest.fixture(scope="session")
def container(store: Server, keys: Path) -> Iterator[Served]:
    """A service whose keys come from a mounted file."""
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS_FILE": "/keys/token-keys"}
    with serving(env, f"--volume={keys}:/keys/token-keys:ro") as served:
        yield served


@pytest.fixture(scope="session")
def pair(store: Server, keys: Path) -> Iterator[tuple[Served, Served]]:
    """Two services on the same store, whose keys come from a variable. A test leaves them running."""
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS": keys.read_text().strip()}
    with serving(env) as one, serving(env) as two:
        yield one, two
