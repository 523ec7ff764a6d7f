"""Fixtures for tests of faults: stores and services that a test may kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.store_servers import Server


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store server that has every write on the disk before it answers."""
    with Server(tmp_path / "store", "--appendfsync", "always") as server:
        yield server
