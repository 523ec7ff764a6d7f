"""A watch is ended by its caller: at once, from wherever, and nothing of it stays."""

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
from tests.clients.faces import Client
from tests.clients.scripted import FINISHED, GAME_ID, Hang, ScriptedService, refusal
from tests.clients.told import AWAY, resumed, snapshot, token, update
from tests.support.store_servers import eventually


@pytest.fixture
def hanging(service: ScriptedService) -> ScriptedService:
    """A service that tells one thing and then nothing more, again and again."""
    service.streams.extend([[snapshot(1), Hang()]] * 4)
    return service


def test_leaving_the_loop_ends_the_stream_at_once(client: Client, hanging: ScriptedService) -> None:
    for _ in client.spectator(GAME_ID).watch():
        break
    assert hanging.over.acquire(timeout=30)


def test_closing_a_watch_ends_the_stream_at_once(client: Client, hanging: ScriptedService) -> None:
    watch = client.spectator(GAME_ID).watch()
    next(watch)
    watch.close()
    assert hanging.over.acquire(timeout=30)
    assert list(watch) == []
    assert watch.closed
    assert len(hanging.asked) == 1


def test_a_watch_is_closed_at_the_end_of_its_with_statement(hanging: ScriptedService) -> None:
    with sodafountain.connect(hanging.target) as client, client.spectator(GAME_ID).watch() as watch:
        next(watch)
        assert not watch.closed
    assert watch.closed
    assert hanging.over.acquire(timeout=30)


def test_a_watch_of_a_closed_client_says_so(client: Client, service: ScriptedService) -> None:
    watch = client.spectator(GAME_ID).watch()
    client.close()
    with pytest.raises(sodafountain.ClientClosed, match=r"^This client was closed, and its watch with it\.$"):
        next(watch)
    assert service.asked == []


@pytest.fixture
def away(service: ScriptedService) -> ScriptedService:
    """A service that has nobody ask again for an hour."""
    delay = RetryInfo(retry_delay=Duration(seconds=3600))
    service.streams.append([refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "It is away.", delay)])
    return service


Close = Callable[[sodafountain.Client, sodafountain.Watch], None]
CLOSES: dict[str, tuple[Close, type[Exception]]] = {
    "the watch": (lambda _, watch: watch.close(), StopIteration),
    "the client": (lambda client, _: client.close(), sodafountain.ClientClosed),
}
closes = pytest.mark.parametrize(("close", "outcome"), CLOSES.values(), ids=CLOSES)


@closes
def test_another_thread_may_close_what_waits_for_an_update(
    hanging: ScriptedService, close: Close, outcome: type[Exception]
) -> None:
    with ThreadPoolExecutor(1) as others, sodafountain.connect(hanging.target) as client:
        watch = client.spectator(GAME_ID).watch()
        next(watch)
        waiting = others.submit(next, watch)
        close(client, watch)
        with pytest.raises(outcome):
            waiting.result(30)
        assert hanging.over.acquire(timeout=30)
    assert len(hanging.asked) == 1


@closes
def test_another_thread_may_close_what_waits_to_try_again(
    away: ScriptedService, close: Close, outcome: type[Exception]
) -> None:
    with ThreadPoolExecutor(1) as others, sodafountain.connect(away.target) as client:
        watch = client.spectator(GAME_ID).watch(patience=None)
        waiting = others.submit(next, watch)
        away.arrived.acquire()
        close(client, watch)
        with pytest.raises(outcome):
            waiting.result(30)
    assert len(away.asked) == 1


AsyncClose = Callable[[sodafountain.aio.Client, sodafountain.aio.Watch], Awaitable[None]]
ASYNC_CLOSES: dict[str, tuple[AsyncClose, type[Exception]]] = {
    "the watch": (lambda _, watch: watch.close(), StopAsyncIteration),
    "the client": (lambda client, _: client.close(), sodafountain.ClientClosed),
}
async_closes = pytest.mark.parametrize(("close", "outcome"), ASYNC_CLOSES.values(), ids=ASYNC_CLOSES)


@async_closes
def test_another_task_may_close_what_waits_for_an_update(
    hanging: ScriptedService, close: AsyncClose, outcome: type[Exception]
) -> None:
    async def close_it() -> None:
        async with sodafountain.aio.connect(hanging.target) as client:
            watch = client.spectator(GAME_ID).watch()
            await anext(watch)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            await close(client, watch)
            with pytest.raises(outcome):
                await waiting
            assert await asyncio.to_thread(hanging.over.acquire, timeout=30)

    asyncio.run(close_it())
    assert len(hanging.asked) == 1


@async_closes
def test_another_task_may_close_what_waits_to_try_again(
    away: ScriptedService, close: AsyncClose, outcome: type[Exception]
) -> None:
    async def close_it() -> None:
        async with sodafountain.aio.connect(away.target) as client:
            watch = client.spectator(GAME_ID).watch(patience=None)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.to_thread(away.arrived.acquire)
            await close(client, watch)
            with pytest.raises(outcome):
                await waiting

    asyncio.run(close_it())
    assert len(away.asked) == 1


def test_an_asyncio_watch_is_closed_at_the_end_of_its_with_statement(hanging: ScriptedService) -> None:
    async def use_it() -> None:
        async with sodafountain.aio.connect(hanging.target) as client:
            async with client.spectator(GAME_ID).watch() as watch:
                await anext(watch)
            assert watch.closed
            assert await asyncio.to_thread(hanging.over.acquire, timeout=30)

    asyncio.run(use_it())


def test_a_cancelled_wait_ends_the_stream_and_the_next_goes_on(service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), Hang()], [update(2, 2, over=True), FINISHED]])

    async def wait_in_vain() -> list[int]:
        async with sodafountain.aio.connect(service.target) as client:
            watch = client.spectator(GAME_ID).watch()
            await anext(watch)
            waiting = asyncio.ensure_future(anext(watch))
            await asyncio.sleep(0)
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            assert await asyncio.to_thread(service.over.acquire, timeout=30)
            return [each.state.version async for each in watch]

    assert asyncio.run(wait_in_vain()) == [2]
    assert resumed(service) == ["", token(1)]


def test_many_watches_share_a_loop(service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), AWAY], [snapshot(1), AWAY], [snapshot(1), AWAY]])

    async def watch(client: sodafountain.aio.Client) -> list[int]:
        return [each.state.version async for each in client.spectator(GAME_ID).watch()]

    async def watch_all() -> list[list[int]]:
        async with sodafountain.aio.connect(service.target) as client:
            return await asyncio.gather(*(watch(client) for _ in range(3)))

    assert asyncio.run(watch_all()) == [[1], [1], [1]]
    assert sorted(resumed(service)) == ["", "", "", *[token(1)] * 3]


LEFT_BEHIND = """
import threading, sodafountain

def hold(changed, held):
    with changed:
        held.set()
        threading.Event().wait()

def leave_behind():
    watch = sodafountain.connect("localhost:1").spectator("a" * 26).watch()
    watch.for_the_collector = watch
    held = threading.Event()
    threading.Thread(target=hold, args=(watch._streams._changed, held), daemon=True).start()
    held.wait()

leave_behind()
"""


def test_a_program_ends_whatever_the_thread_of_its_watches_was_doing() -> None:
    subprocess.run([sys.executable, "-c", LEFT_BEHIND], check=True, timeout=30)


def test_no_thread_stays_when_the_last_watch_has_ended(service: ScriptedService) -> None:
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


def test_a_forgotten_watch_may_be_collected_in_a_thread_that_begins(
    service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = threading.Thread.start

    with sodafountain.connect(service.target) as client:
        forgotten = client.spectator(GAME_ID).watch()

        def start_and_collect(thread: threading.Thread) -> None:
            if thread.name == "sodafountain-watch":  # whoever starts it waits until it runs, and it may collect before
                collector = threading.Thread(target=forgotten.close, daemon=True)
                start(collector)
                collector.join(10)
                assert not collector.is_alive()
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_and_collect)
        service.streams.append([snapshot(1)])
        next(client.spectator(GAME_ID).watch())
