"""Fixtures: a scripted service and both clients of it, and a real service."""

import asyncio
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

import sodafountain
from sodafountain import _channel
from tests.clients.blocking_aio import Client, Connect, connect_blocking_aio
from tests.clients.scripted_service import ScriptedService, reserved_port
from tests.support.service import Service, running


@pytest.fixture
def stopped_service() -> Iterator[ScriptedService]:
    """A service that does not listen yet."""
    with reserved_port() as port:
        service = ScriptedService(port=port)
        service.may_answer.set()
        yield service


@pytest.fixture
def service(stopped_service: ScriptedService) -> Iterator[ScriptedService]:
    """A service that accepts connections."""
    with stopped_service.serving():
        yield stopped_service


@pytest.fixture(params=["sync", "asyncio"])
def connect(request: pytest.FixtureRequest) -> Iterator[Connect]:
    """`connect` of the sync and of the asyncio client; closes the clients afterwards."""
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner()) if request.param == "asyncio" else None

        def connect_and_close(*args: Any, **kwargs: Any) -> Client:
            client = connect_blocking_aio(runner, *args, **kwargs) if runner else sodafountain.connect(*args, **kwargs)
            stack.callback(client.close)
            return client

        yield connect_and_close


@pytest.fixture
def client(connect: Connect, service: ScriptedService) -> Client:
    """A client of the service."""
    return connect(service.target)


@pytest.fixture(scope="session")
def real_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A real service, which no test stops."""
    folder = tmp_path_factory.mktemp("service")
    with running(folder, f"--data-dir={folder / 'data'}", "--heartbeat=1s") as service:
        yield service


@pytest.fixture
def no_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Disable retries: a call raises the error of its first attempt."""
    monkeypatch.setattr(_channel, "service_config", dict)


@pytest.fixture
def fast_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry after milliseconds instead of seconds."""
    monkeypatch.setitem(_channel.RETRY_POLICY, "initialBackoff", "0.01s")
