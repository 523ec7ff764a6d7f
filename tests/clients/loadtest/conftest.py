"""A service for all runs."""

from collections.abc import Iterator

import pytest

from clients.loadtest.game_session import Table
from clients.own_service import own_service
from tests.clients.loadtest.game_sessions import Clock, Service, table_of


@pytest.fixture(scope="package")
def target() -> Iterator[str]:
    """The address of a service."""
    with own_service() as address:
        yield address


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of tables, and of what tests do with them."""
    clock = Clock()
    for module in ("clients.loadtest.game_session", "tests.clients.loadtest.game_sessions"):
        monkeypatch.setattr(f"{module}.time", clock)
    return clock


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def table(service: Service) -> Table:
    """A table of three seats of which the first is awaited, and has been told so just now."""
    return table_of(service)
