"""Fixtures: stores and services that a test may kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.store_servers import Server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store server that writes to disk before it acknowledges."""
    with Server(tmp_path / "store", "--appendfsync", "always") as server:
        yield server
