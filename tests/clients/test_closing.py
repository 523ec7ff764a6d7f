"""Calls of a closed client raise `ClientClosed`."""

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

CLOSED_DURING_CALL = r"^This client was closed before 127\.0\.0\.1:\d+ answered ApplyMove\.$"


@every_operation
def test_every_call_of_a_closed_client_raises(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    client.close()
    with pytest.raises(sodafountain.ClientClosed, match=r"^This client is closed\.$") as caught:
        operation(client, {})
    assert caught.value.code is grpc.StatusCode.CANCELLED
    assert service.received == []


def test_a_client_may_be_closed_twice(client: Client) -> None:
    client.close()
    client.close()


def test_a_with_statement_closes_the_client(service: ScriptedService) -> None:
    with sodafountain.connect(service.target) as client:
        client.game_kinds()
    with pytest.raises(sodafountain.ClientClosed):
        client.game_kinds()


def test_an_async_with_statement_closes_the_client(service: ScriptedService) -> None:
    async def use_after_close() -> None:
        async with sodafountain.aio.connect(service.target) as client:
            await client.game_kinds()
        with pytest.raises(sodafountain.ClientClosed):
            await client.game_kinds()

    asyncio.run(use_after_close())


def test_a_call_in_progress_reports_that_the_client_was_closed(service: ScriptedService) -> None:
    service.may_answer.clear()
    with ThreadPoolExecutor(1) as threads, sodafountain.connect(service.target, timeout=60) as client:
        move = threads.submit(client.seat(GAME_ID, "t").apply, flip(1), request_id="mine")
        service.request_received.acquire()
        client.close()
        with pytest.raises(sodafountain.ClientClosed, match=CLOSED_DURING_CALL) as caught:
            move.result(30)
    assert caught.value.request_id == "mine"


def test_an_asyncio_call_in_progress_reports_that_the_client_was_closed(service: ScriptedService) -> None:
    async def close_during_call() -> None:
        async with sodafountain.aio.connect(service.target, timeout=60) as client:
            move = asyncio.ensure_future(client.seat(GAME_ID, "t").apply(flip(1), request_id="mine"))
            await asyncio.to_thread(service.request_received.acquire)
            await client.close()
            with pytest.raises(sodafountain.ClientClosed, match=CLOSED_DURING_CALL) as caught:
                await move
            assert caught.value.request_id == "mine"

    service.may_answer.clear()
    asyncio.run(close_during_call())


def test_a_cancelled_call_stays_cancelled_when_the_client_is_closed(service: ScriptedService) -> None:
    async def cancel_and_close() -> None:
        async with sodafountain.aio.connect(service.target, timeout=60) as client:
            move = asyncio.ensure_future(client.seat(GAME_ID, "t").apply(flip(1)))
            await asyncio.to_thread(service.request_received.acquire)
            move.cancel()
            await client.close()
            with pytest.raises(asyncio.CancelledError):
                await move

    service.may_answer.clear()
    asyncio.run(cancel_and_close())


def test_a_client_that_another_thread_closes_before_the_rpc_starts_raises(
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
