"""A service and game sessions for the tests."""

from collections.abc import Iterator

import pytest

from clients.loadtest.game_session import GameSession
from clients.own_service import own_service
from tests.clients.loadtest.game_sessions import Clock, FakeSeat, new_session


@pytest.fixture(scope="package")
def target() -> Iterator[str]:
    """The address of a service."""
    with own_service() as address:
        yield address


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """A clock that replaces the one of game sessions and of the test helpers."""
    clock = Clock()
    for module in ("clients.loadtest.game_session", "tests.clients.loadtest.game_sessions"):
        monkeypatch.setattr(f"{module}.time", clock)
    return clock


@pytest.fixture
def seat() -> FakeSeat:
    return FakeSeat()


@pytest.fixture
def session(seat: FakeSeat) -> GameSession:
    """A session of three seats; seat 0 has just received a state that awaits it."""
    return new_session(seat)
