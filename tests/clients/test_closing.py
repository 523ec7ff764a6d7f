"""What happens to calls of a client that is closed."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
import pytest

import sodafountain
import sodafountain.aio
from tests.clients.blocking_aio import Client
from tests.clients.client_operations import Operation, every_operation
from tests.clients.scripted_service import GAME_ID, ScriptedService, flip

UNDER_WAY = r"^This client was closed before 127\.0\.0\.1:\d+ had answered ApplyMove\.$"


@every_operation
def test_a_closed_client_says_so(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    client.close()
    with pytest.raises(sodafountain.ClientClosed, match=r"^This client is closed\.$") as caught:
        operation(client, {})
    assert caught.value.code is grpc.StatusCode.CANCELLED
    assert service.asked == []


def test_closing_twice_is_closing_once(client: Client) -> None:
    client.close()
    client.close()


def test_a_client_is_closed_at_the_end_of_its_with_statement(service: ScriptedService) -> None:
    with sodafountain.connect(service.target) as client:
        client.game_kinds()
    with pytest.raises(sodafountain.ClientClosed):
        client.game_kinds()


def test_an_asyncio_client_is_closed_at_the_end_of_its_with_statement(service: ScriptedService) -> None:
    async def use_it_too_long() -> None:
        async with sodafountain.aio.connect(service.target) as client:
            await client.game_kinds()
        with pytest.raises(sodafountain.ClientClosed):
            await client.game_kinds()

    asyncio.run(use_it_too_long())


def test_a_call_under_way_says_that_its_client_was_closed(service: ScriptedService) -> None:
    service.free.clear()
    with ThreadPoolExecutor(1) as others, sodafountain.connect(service.target, timeout=60) as client:
        move = others.submit(client.seat(GAME_ID, "t").apply, flip(1), request_id="mine")
        service.arrived.acquire()
        client.close()
        with pytest.raises(sodafountain.ClientClosed, match=UNDER_WAY) as caught:
            move.result(30)
    assert caught.value.request_id == "mine"


def test_an_asyncio_call_under_way_says_that_its_client_was_closed(service: ScriptedService) -> None:
    async def close_it_too_early() -> None:
        async with sodafountain.aio.connect(service.target, timeout=60) as client:
            move = asyncio.ensure_future(client.seat(GAME_ID, "t").apply(flip(1), request_id="mine"))
            await asyncio.to_thread(service.arrived.acquire)
            await client.close()
            with pytest.raises(sodafountain.ClientClosed, match=UNDER_WAY) as caught:
                await move
            assert caught.value.request_id == "mine"

    service.free.clear()
    asyncio.run(close_it_too_early())


def test_a_cancelled_asyncio_call_stays_cancelled_when_its_client_is_closed(service: ScriptedService) -> None:
    async def cancel_and_close() -> None:
        async with sodafountain.aio.connect(service.target, timeout=60) as client:
            move = asyncio.ensure_future(client.seat(GAME_ID, "t").apply(flip(1)))
            await asyncio.to_thread(service.arrived.acquire)
            move.cancel()
            await client.close()
            with pytest.raises(asyncio.CancelledError):
                await move

    service.free.clear()
    asyncio.run(cancel_and_close())


def test_a_thread_that_closes_the_client_in_between_is_noticed(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sodafountain.connect(service.target) as client:
        seat = client.seat(GAME_ID, "t")
        score = client._runner._stub.Score

        def close_first(*args: Any, **kwargs: Any) -> object:
            client.close()
            return score(*args, **kwargs)

        monkeypatch.setattr(client._runner._stub, "Score", close_first)
        with pytest.raises(sodafountain.ClientClosed, match=r"^This client is closed\.$"):
            seat.score()
