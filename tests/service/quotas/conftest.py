"""A service with a quota, and a store that a test may kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.quotas.apps import App, apps
from tests.service.store.servers import Server


@pytest.fixture
def app(store_url: str) -> Iterator[App]:
    """An app that may have two games at once."""
    with apps(store_url, max_live_games=2) as (app,):
        yield app


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store of the test's own."""
    with Server(tmp_path / "store", "--appendfsync", "always") as server:
        yield server
