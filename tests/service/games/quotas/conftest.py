"""A service with a quota, and a store that a test may kill."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.games.quotas.tenants import Tenant, tenants
from tests.support.store_servers import Server


@pytest.fixture
def tenant(store_url: str) -> Iterator[Tenant]:
    """A tenant with a quota of two live games."""
    with tenants(store_url, max_live_games=2) as (tenant,):
        yield tenant


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """A store of the test's own."""
    with Server(tmp_path / "store", "--appendfsync", "always") as server:
        yield server
