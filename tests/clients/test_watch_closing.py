"""Closing a watch ends it immediately, from any thread or task, and leaves no stream or thread."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo

import sodafountain
import sodafountain.aio
from tests.clients.blocking_aio import Client
from tests.clients.scripted_service import FINISHED, GAME_ID, Hang, ScriptedService, error_reply
from tests.clients.watch_messages import STORE_UNAVAILABLE, resume_token, resume_tokens, snapshot, update
from tests.support.store_servers import eventually


@pytest.fixture
def hanging(service: ScriptedService) -> ScriptedService:
    """A service whose streams send a snapshot and then nothing more."""
    service.streams.extend([[snapshot(1), Hang()]] * 4)
    return service


def test_leaving_the_loop_cancels_the_stream(client: Client, hanging: ScriptedService) -> None:
    for _ in client.spectator(GAME_ID).watch():
        break
    assert hanging.stream_ended.acquire(timeout=30)


def test_closing_a_watch_cancels_the_stream(client: Client, hanging: ScriptedService) -> None:
    watch = client.spectator(GAME_ID).watch()
    next(watch)
    watch.close()
    assert hanging.stream_ended.acquire(timeout=30)
    assert list(watch) == []
    assert watch.closed
    assert len(hanging.received) == 1


def test_a_with_statement_closes_the_watch(hanging: ScriptedService) -> None:
    with sodafountain.connect(hanging.target) as client, client.spectator(GAME_ID).watch() as watch:
        next(watch)
        assert not watch.closed
    assert watch.closed
    assert hanging.stream_ended.acquire(timeout=30)


def test_a_watch_of_a_closed_client_raises(client: Client, service: ScriptedService) -> None:
    watch = client.spectator(GAME_ID).watch()
    client.close()
    with pytest.raises(sodafountain.ClientClosed, match=r"^The watch ended because this client was closed\.$"):
        next(watch)
    assert service.received == []


@pytest.fixture
def unavailable(service: ScriptedService) -> ScriptedService:
    """A service that is unavailable and suggests a retry after an hour."""
    delay = RetryInfo(retry_delay=Duration(seconds=3600))
    service.streams.append([error_reply(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "It is unavailable.", delay)])
    return service


Close = Callable[[sodafountain.Client, sodafountain.Watch], None]
TARGETS: dict[str, tuple[Close, type[Exception]]] = {
    "the watch": (lambda _, watch: watch.close(), StopIteration),
    "the client": (lambda client, _: client.close(), sodafountain.ClientClosed),
}
close_each_target = pytest.mark.parametrize(("close", "outcome"), TARGETS.values(), ids=TARGETS)


@close_each_target
def test_another_thread_may_close_a_watch_that_waits_for_an_update(
    hanging: ScriptedService, close: Close, outcome: type[Exception]
) -> None:
    with ThreadPoolExecutor(1) as threads, sodafountain.connect(hanging.target) as client:
        watch = client.spectator(GAME_ID).watch()
        next(watch)
        waiting = threads.submit(next, watch)
        close(client, watch)
        with pytest.raises(outcome):
            waiting.result(30)
        assert hanging.stream_ended.acquire(timeout=30)
    assert len(hanging.received) == 1


@close_each_target
def test_another_thread_may_close_a_watch_that_waits_to_reconnect(
    unavailable: ScriptedService, close: Close, outcome: type[Exception]
) -> None:
    with ThreadPoolExecutor(1) as threads, sodafountain.connect(unavailable.target) as client:
        watch = client.spectator(GAME_ID).watch(idle_timeout=None)
        waiting = threads.submit(next, watch)
        unavailable.request_received.acquire()
        close(client, watch)
        with pytest.raises(outcome):
            waiting.result(30)
    assert len(unavailable.received) == 1


AsyncClose = Callable[[sodafountain.aio.Client, sodafountain.aio.Watch], Awaitable[None]]
ASYNC_TARGETS: dict[str, tuple[AsyncClose, type[Exception]]] = {
    "the watch": (lambda _, watch: watch.close(), StopAsyncIteration),
    "the client": (lambda client, _: client.close(), sodafountain.ClientClosed),
}
async_close_each_target = pytest.mark.parametrize(("close", "outcome"), ASYNC_TARGETS.values(), ids=ASYNC_TARGETS)


@async_close_each_target
def test_another_task_may_close_a_watch_that_waits_for_an_update(
    hanging: ScriptedService, close: AsyncClose, outcome: type[Exception]
) -> None:
    async def close_while_waiting() -> None:
        async with sodafountain.aio.connect(hanging.target) as client:
            watch = client.spectator(GAME_ID).watch()
            await anext(watch)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            await close(client, watch)
            with pytest.raises(outcome):
                await waiting
            assert await asyncio.to_thread(hanging.stream_ended.acquire, timeout=30)

    asyncio.run(close_while_waiting())
    assert len(hanging.received) == 1


@async_close_each_target
def test_another_task_may_close_a_watch_that_waits_to_reconnect(
    unavailable: ScriptedService, close: AsyncClose, outcome: type[Exception]
) -> None:
    async def close_while_waiting() -> None:
        async with sodafountain.aio.connect(unavailable.target) as client:
            watch = client.spectator(GAME_ID).watch(idle_timeout=None)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.to_thread(unavailable.request_received.acquire)
            await close(client, watch)
            with pytest.raises(outcome):
                await waiting

    asyncio.run(close_while_waiting())
    assert len(unavailable.received) == 1


def test_an_async_with_statement_closes_the_watch(hanging: ScriptedService) -> None:
    async def use_watch() -> None:
        async with sodafountain.aio.connect(hanging.target) as client:
            async with client.spectator(GAME_ID).watch() as watch:
                await anext(watch)
            assert watch.closed
            assert await asyncio.to_thread(hanging.stream_ended.acquire, timeout=30)

    asyncio.run(use_watch())


def test_a_cancelled_iteration_cancels_the_stream_and_the_next_one_continues(service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), Hang()], [update(2, 2, over=True), FINISHED]])

    async def cancel_iteration() -> list[int]:
        async with sodafountain.aio.connect(service.target) as client:
            watch = client.spectator(GAME_ID).watch()
            await anext(watch)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await asyncio.to_thread(service.stream_ended.acquire, timeout=30)
            return [each.state.version async for each in watch]

    assert asyncio.run(cancel_iteration()) == [2]
    assert resume_tokens(service) == ["", resume_token(1)]


def test_several_watches_share_an_event_loop(service: ScriptedService) -> None:
    service.streams.extend(
        [[snapshot(1), STORE_UNAVAILABLE], [snapshot(1), STORE_UNAVAILABLE], [snapshot(1), STORE_UNAVAILABLE]]
    )

    async def watch(client: sodafountain.aio.Client) -> list[int]:
        return [each.state.version async for each in client.spectator(GAME_ID).watch()]

    async def watch_all() -> list[list[int]]:
        async with sodafountain.aio.connect(service.target) as client:
            return await asyncio.gather(*(watch(client) for _ in range(3)))

    assert asyncio.run(watch_all()) == [[1], [1], [1]]
    assert sorted(resume_tokens(service)) == ["", "", "", *[resume_token(1)] * 3]


ABANDONED_WATCH = """
import threading, sodafountain

def hold_lock(lock, held):
    with lock:
        held.set()
        threading.Event().wait()

def abandon_watch():
    watch = sodafountain.connect("localhost:1").spectator("a" * 26).watch()
    watch.cycle = watch  # only garbage collection frees it
    held = threading.Event()
    threading.Thread(target=hold_lock, args=(watch._streams._changed, held), daemon=True).start()
    held.wait()

abandon_watch()
"""


def test_a_program_exits_even_if_another_thread_holds_the_lock_of_its_watches() -> None:
    subprocess.run([sys.executable, "-c", ABANDONED_WATCH], check=True, timeout=30)


def test_the_monitor_thread_ends_with_the_last_watch(service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), Hang()], [snapshot(1), FINISHED]])
    before = set(threading.enumerate())
    with sodafountain.connect(service.target) as client:
        first, second = (client.spectator(GAME_ID).watch() for _ in range(2))
        next(first)
        assert len(list(second)) == 1
        assert [each.name for each in threading.enumerate()].count("sodafountain-watch") == 1
        first.close()
        eventually(lambda: "sodafountain-watch" not in {each.name for each in threading.enumerate()})
    eventually(lambda: {each for each in set(threading.enumerate()) - before if "Pool" not in each.name} == set())


def test_garbage_collection_may_close_a_watch_while_the_monitor_starts(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    with sodafountain.connect(service.target) as client:
        abandoned = client.spectator(GAME_ID).watch()

        def start_and_collect(thread: threading.Thread) -> None:
            if thread.name == "sodafountain-watch":  # `start` waits for it, and garbage collection may run before
                collector = threading.Thread(target=abandoned.close, daemon=True)
                start(collector)
                collector.join(10)
                assert not collector.is_alive()
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_and_collect)
        service.streams.append([snapshot(1)])
        next(client.spectator(GAME_ID).watch())
