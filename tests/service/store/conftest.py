"""Fixtures for tests of the store."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.store import Store, connect, connection
from tests.support.store_servers import Server


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check every connection before each use, as the store otherwise does only after an idle period."""
    monkeypatch.setattr(connection, "_FRESH_SECONDS", 0.0)


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """A store on a server of each available kind, which other tests also use."""
    store = connect(store_url)
    yield store
    store.close()


@pytest.fixture
def valkey(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's own."""
    with Server(tmp_path / "valkey") as server:
        yield server


@pytest.fixture
def own(valkey: Server) -> Iterator[Store]:
    """A store on the test's own server."""
    store = connect(valkey.url)
    yield store
    store.close()
