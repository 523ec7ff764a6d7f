"""A scripted service, and both clients of it."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import sodafountain
from sodafountain import _channel
from tests.clients.blocking_aio import Client, Connect, connect_asyncio
from tests.clients.scripted_service import ScriptedService, reserved_port


@pytest.fixture
def idle_service() -> Iterator[ScriptedService]:
    """A service that does not listen yet."""
    with reserved_port() as port:
        service = ScriptedService(port=port)
        service.free.set()
        yield service


@pytest.fixture
def service(idle_service: ScriptedService) -> Iterator[ScriptedService]:
    """A service that listens."""
    with idle_service.serving():
        yield idle_service


@pytest.fixture(params=["sync", "asyncio"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """`connect` of the sync and of the asyncio client; what it makes is closed at the end."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner()) if request.param == "asyncio" else None

        def connect_and_close(*args: Any, **kwargs: Any) -> Client:
            client = connect_asyncio(runner, *args, **kwargs) if runner else sodafountain.connect(*args, **kwargs)
            stack.callback(client.close)
            return client

        yield connect_and_close


@pytest.fixture
def client(connect: Connect, service: ScriptedService) -> Client:
    """A client of the service."""
    return connect(service.target)


@pytest.fixture
def no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes clients give up at the first failure, where it is the failure that is looked at."""
    monkeypatch.setattr(_channel, "RETRIES", {})
