"""What a watch tells, how it goes on whatever happens to its streams, and how it ends."""

import asyncio
import subprocess
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo

import sodafountain
import sodafountain.aio
from sodafountain import _watching
from sodafountain._arguments import LONGEST_TIMEOUT
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.faces import Client, Connect
from tests.clients.scripted import FINISHED, GAME_ID, Hang, Refusal, ScriptedService, Told, flip, refusal
from tests.clients.told import end, heartbeat, snapshot, state, token, update
from tests.service.store.servers import eventually

AWAY = refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "The store is away.")


def told(watch: Any) -> list[tuple[int, list[str], bool]]:
    """What is left of a watch: the version of each update, the text of its events, and whether it is a snapshot."""
    return [(each.state.version, [event.text for event in each.events], each.is_snapshot) for each in watch]


def resumed(service: ScriptedService) -> list[str]:
    """The resume tokens that arrived."""
    return [request.resume_token for request in service.requests() if isinstance(request, pb.WatchGameRequest)]


# --- What it tells ----------------------------------------------------------------------------------------------------


def test_a_watch_tells_the_state_and_then_every_change_until_the_game_is_over(
    client: Client, service: ScriptedService
) -> None:
    service.streams.append([snapshot(1), update(2, 2), heartbeat(2), update(3, 4), update(5, 5, over=True), FINISHED])
    assert told(client.spectator(GAME_ID).watch()) == [
        (1, [], True),
        (2, ["Version 2 came."], False),
        (4, ["Version 3 came.", "Version 4 came."], False),
        (5, ["Version 5 came."], False),
    ]
    assert len(service.asked) == 1


def test_an_update_carries_the_messages_of_the_contract(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(1), update(2, 3), FINISHED])
    first, second = client.spectator(GAME_ID).watch()
    assert (first.state, first.events, first.resume_token) == (state(1), (), token(1))
    assert (second.state, second.events, second.resume_token) == (state(3), tuple(update(2, 3).update.events), token(3))


Begin = Callable[[Client], Any]


@pytest.mark.parametrize(
    ("begin", "bearer", "request_"),
    [
        (lambda c: c.spectator(GAME_ID).watch(), None, pb.WatchGameRequest()),
        (lambda c: c.seat(GAME_ID, "of-seat").watch(), "of-seat", pb.WatchGameRequest()),
        (
            lambda c: c.seat(GAME_ID, "of-seat").watch(legal_moves=True, resume_token="w1-a"),
            "of-seat",
            pb.WatchGameRequest(include_legal_moves=True, resume_token="w1-a"),
        ),
        (lambda c: c.host(GAME_ID, "of-host").watch(), "of-host", pb.WatchGameRequest()),
        (
            lambda c: c.host(GAME_ID, "of-host").watch(0, legal_moves=True),
            "of-host",
            pb.WatchGameRequest(seat=0, include_legal_moves=True),
        ),
    ],
)
def test_a_watch_asks_for_its_viewer_and_without_a_deadline(
    client: Client, service: ScriptedService, begin: Begin, bearer: str | None, request_: pb.WatchGameRequest
) -> None:
    assert list(begin(client)) == []
    request_.game_id = GAME_ID
    (asked,) = service.asked
    assert asked.request == request_
    assert asked.metadata.get("authorization") == (f"Bearer {bearer}" if bearer else None)
    assert asked.time_left > LONGEST_TIMEOUT


def test_nothing_is_asked_before_the_first_update_is(client: Client, service: ScriptedService) -> None:
    client.spectator(GAME_ID).watch()
    client.game_kinds()
    assert [asked.rpc for asked in service.asked] == ["ListGameKinds"]


def test_a_watch_that_resumes_where_nothing_has_changed_tells_only_what_comes(
    client: Client, service: ScriptedService
) -> None:
    service.streams.append([heartbeat(4), update(5, 5, over=True), FINISHED])
    assert told(client.spectator(GAME_ID).watch(resume_token=token(4))) == [(5, ["Version 5 came."], False)]
    assert resumed(service) == [token(4)]


def test_a_move_answers_the_decision_that_its_seat_saw_open_in_a_watched_state(
    client: Client, service: ScriptedService
) -> None:
    service.streams.append([snapshot(7, viewer=1), Hang()])
    seat = client.seat(GAME_ID, "t")
    with closing(seat.watch()) as watch:
        next(watch)
        seat.apply(flip(1))
    move = service.requests()[1]
    assert isinstance(move, pb.ApplyMoveRequest)
    assert move.etag == "etag-7"


def test_a_seat_learns_its_number_from_the_first_watched_state(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(7, viewer=1), FINISHED])
    seat = client.seat(GAME_ID, "t")
    list(seat.watch())
    assert seat.number == 1


def test_a_host_s_watch_of_a_seat_shows_that_seat_s_decision(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(7, viewer=1), Hang()])
    host = client.host(GAME_ID, "t")
    with closing(host.watch(1)) as watch:
        next(watch)
        host.apply(1, flip(1))
        host.apply(0, flip(1))
    moves = [request for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]
    assert [move.etag for move in moves] == ["etag-7", ""]


# --- How it goes on ---------------------------------------------------------------------------------------------------

PASSES: dict[str, Told | None] = {
    "the store is away": AWAY,
    "the server drains": refusal(grpc.StatusCode.UNAVAILABLE, "DRAINING"),
    "too many watch": refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT"),
    "too many calls, says gRPC": Refusal(grpc.StatusCode.RESOURCE_EXHAUSTED),
    "the connection is gone": Refusal(grpc.StatusCode.UNAVAILABLE),
    "the server cuts it off": Refusal(grpc.StatusCode.CANCELLED),
    "a proxy breaks it": Refusal(grpc.StatusCode.INTERNAL),
    "a proxy loses it": Refusal(grpc.StatusCode.UNKNOWN),
    "a proxy limits it": Refusal(grpc.StatusCode.DEADLINE_EXCEEDED),
    "it is told that the server drains": end(pb.WATCH_END_REASON_DRAINING),
    "it is told that the reader stalled": end(pb.WATCH_END_REASON_STALLED),
    "it ends for no reason": end(pb.WATCH_END_REASON_UNSPECIFIED),
    "it ends without a word": None,
}
passing = pytest.mark.parametrize("interruption", PASSES.values(), ids=PASSES)


@passing
def test_a_watch_begins_again_where_it_could_not_begin(
    client: Client, service: ScriptedService, interruption: Told | None
) -> None:
    service.streams.extend([[interruption] if interruption else [], [snapshot(1, over=True), FINISHED]])
    assert told(client.spectator(GAME_ID).watch()) == [(1, [], True)]
    assert resumed(service) == ["", ""]


@passing
def test_a_watch_goes_on_after_what_it_told(
    client: Client, service: ScriptedService, interruption: Told | None
) -> None:
    broken = [interruption] if interruption else []
    service.streams.extend(
        [
            [snapshot(1), update(2, 2), *broken],
            [heartbeat(2), *broken],
            [update(3, 5), *broken],
            [update(6, 6, over=True), FINISHED],
        ]
    )
    watch = client.seat(GAME_ID, "t").watch(legal_moves=True)
    assert [version for version, _, _ in told(watch)] == [1, 2, 5, 6]
    assert resumed(service) == ["", token(2), token(2), token(5)]
    assert {asked.metadata["authorization"] for asked in service.asked} == {"Bearer t"}
    assert all(
        request.include_legal_moves for request in service.requests() if isinstance(request, pb.WatchGameRequest)
    )


def test_a_snapshot_on_the_way_is_told_as_one(client: Client, service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), update(2, 9), snapshot(5), AWAY], [snapshot(4), FINISHED]])
    assert [(version, fresh) for version, _, fresh in told(client.spectator(GAME_ID).watch())] == [
        (1, True),
        (9, False),
        (5, True),
        (4, True),
    ]
    assert resumed(service) == ["", token(5)]


def test_a_watch_that_broke_after_the_last_change_is_at_its_end(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(1), update(2, 2, over=True), AWAY])
    assert [version for version, _, _ in told(client.spectator(GAME_ID).watch())] == [1, 2]
    assert len(service.asked) == 1


def test_a_stream_that_says_nothing_any_more_is_begun_again(
    client: Client, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_watching, "SILENCE", 0.2)
    service.streams.extend([[snapshot(1), Hang()], [Hang()], [update(2, 2, over=True), FINISHED]])
    assert [version for version, _, _ in told(client.spectator(GAME_ID).watch())] == [1, 2]
    assert resumed(service) == ["", token(1), token(1)]
    assert service.over.acquire(timeout=30)
    assert service.over.acquire(timeout=30)


# --- How it ends ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("how", "error"),
    [
        (refusal(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID"), sodafountain.TokenInvalid),
        (refusal(grpc.StatusCode.PERMISSION_DENIED, "WRONG_SEAT"), sodafountain.WrongSeat),
        (refusal(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED"), sodafountain.MalformedRequest),
        (refusal(grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"), sodafountain.GameNotFound),
        (refusal(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED"), sodafountain.Unimplemented),
        (refusal(grpc.StatusCode.INTERNAL, "INTERNAL", call_id="c"), sodafountain.InternalError),
        (Refusal(grpc.StatusCode.UNIMPLEMENTED), sodafountain.Unimplemented),
        (Refusal(grpc.StatusCode.UNAUTHENTICATED), sodafountain.SodaFountainError),
    ],
)
@pytest.mark.parametrize("before", [[], [snapshot(1)]], ids=["at once", "later"])
def test_a_refusal_that_does_not_pass_is_raised(
    client: Client, service: ScriptedService, before: list[Told], how: Refusal, error: type[Exception]
) -> None:
    service.streams.append([*before, how])
    watch = client.spectator(GAME_ID).watch()
    for _ in before:
        next(watch)
    with pytest.raises(error):
        next(watch)
    assert list(watch) == []
    assert len(service.asked) == 1


@pytest.mark.parametrize(
    ("reason", "error", "sentence"),
    [
        (pb.WATCH_END_REASON_DELETED, sodafountain.GameDeleted, f"Game {GAME_ID} was deleted."),
        (pb.WATCH_END_REASON_EXPIRED, sodafountain.GameExpired, f"Game {GAME_ID} has expired."),
    ],
)
def test_a_game_that_is_gone_is_told_by_an_error(
    client: Client,
    service: ScriptedService,
    reason: pb.WatchEndReason.ValueType,
    error: type[sodafountain.GameNotFound],
    sentence: str,
) -> None:
    service.streams.append([snapshot(1), end(reason)])
    watch = client.spectator(GAME_ID).watch()
    next(watch)
    with pytest.raises(error) as caught:
        next(watch)
    assert issubclass(error, sodafountain.GameNotFound)
    assert str(caught.value) == sentence
    assert (caught.value.code, caught.value.reason) == (grpc.StatusCode.NOT_FOUND, sodafountain.Reason.GAME_NOT_FOUND)


def test_patience_ends_with_the_last_refusal(client: Client, service: ScriptedService) -> None:
    service.streams.extend([[AWAY], [refusal(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT", "Too many watch.")]] * 20)
    with pytest.raises((sodafountain.StoreUnavailable, sodafountain.LimitExceeded)):
        next(client.spectator(GAME_ID).watch(patience=0.5))
    assert len(service.asked) > 1


def test_patience_ends_where_nobody_answers(connect: Connect, idle_service: ScriptedService) -> None:
    cause = "Connection refused"
    with pytest.raises(sodafountain.Unreachable, match=rf"^Cannot reach .* at {idle_service.target} \({cause}\)\.$"):
        next(connect(idle_service.target).spectator(GAME_ID).watch(patience=0.5))


def test_patience_ends_where_nothing_is_said(client: Client, service: ScriptedService) -> None:
    service.streams.append([Hang()])
    with pytest.raises(sodafountain.Unreachable, match=rf"^Nothing was heard of game {GAME_ID} for 0\.2 s: .*\.$"):
        next(client.spectator(GAME_ID).watch(patience=0.2))
    assert service.over.acquire(timeout=30)


@pytest.mark.parametrize(
    ("patience", "error"), [("1", TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)]
)
def test_a_patience_that_is_none_is_refused_at_once(client: Client, patience: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=r"^patience must be"):
        client.spectator(GAME_ID).watch(patience=patience)


# --- How it is ended --------------------------------------------------------------------------------------------------


@contextmanager
def closing(watch: Any) -> Iterator[Any]:
    """Closes a watch at the end of the block."""
    try:
        yield watch
    finally:
        watch.close()


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
