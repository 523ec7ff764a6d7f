"""The updates of a watch, its recovery from broken streams, and its end."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import grpc
import pytest

import sodafountain
import sodafountain.aio
from sodafountain import _watch_plan
from sodafountain._arguments import MAX_TIMEOUT
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import (
    FINISHED,
    GAME_ID,
    ErrorReply,
    Hang,
    ScriptedService,
    StreamItem,
    error_reply,
    flip,
)
from tests.clients.watch_messages import (
    STORE_UNAVAILABLE,
    end,
    heartbeat,
    resume_token,
    resume_tokens,
    snapshot,
    state,
    summaries,
    update,
    versions,
)

# --- Updates ----------------------------------------------------------------------------------------------------------


def test_a_watch_yields_a_snapshot_and_every_change_until_the_game_is_over(
    client: Client, service: ScriptedService
) -> None:
    service.streams.append([snapshot(1), update(2, 2), heartbeat(2), update(3, 4), update(5, 5, over=True), FINISHED])
    assert summaries(client.spectator(GAME_ID).watch()) == [
        (1, [], True),
        (2, ["Version 2 came."], False),
        (4, ["Version 3 came.", "Version 4 came."], False),
        (5, ["Version 5 came."], False),
    ]
    assert len(service.received) == 1


def test_an_update_contains_the_messages_of_the_api(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(1), update(2, 3), FINISHED])
    first, second = client.spectator(GAME_ID).watch()
    assert (first.state, first.events, first.resume_token) == (state(1), (), resume_token(1))
    assert (second.state, second.events) == (state(3), tuple(update(2, 3).update.events))
    assert second.resume_token == resume_token(3)


StartWatch = Callable[[Client], Any]


@pytest.mark.parametrize(
    ("start_watch", "bearer", "request_"),
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
def test_a_watch_sends_its_viewer_and_no_deadline(
    client: Client, service: ScriptedService, start_watch: StartWatch, bearer: str | None, request_: pb.WatchGameRequest
) -> None:
    assert list(start_watch(client)) == []
    request_.game_id = GAME_ID
    (received,) = service.received
    assert received.request == request_
    assert received.metadata.get("authorization") == (f"Bearer {bearer}" if bearer else None)
    assert received.time_left > MAX_TIMEOUT


def test_no_call_is_made_before_the_first_update_is_requested(client: Client, service: ScriptedService) -> None:
    client.spectator(GAME_ID).watch()
    client.game_kinds()
    assert [each.rpc for each in service.received] == ["ListGameKinds"]


def test_a_resumed_watch_yields_only_later_changes(client: Client, service: ScriptedService) -> None:
    service.streams.append([heartbeat(4), update(5, 5, over=True), FINISHED])
    assert summaries(client.spectator(GAME_ID).watch(resume_token=resume_token(4))) == [(5, ["Version 5 came."], False)]
    assert resume_tokens(service) == [resume_token(4)]


def test_a_move_answers_the_open_decision_of_the_last_update(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(7, viewer=1), Hang()])
    seat = client.seat(GAME_ID, "t")
    with closing(seat.watch()) as watch:
        next(watch)
        seat.apply(flip(1))
    move = service.requests()[1]
    assert isinstance(move, pb.ApplyMoveRequest)
    assert move.etag == "etag-7"


def test_the_first_update_sets_the_number_of_the_seat(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(7, viewer=1), FINISHED])
    seat = client.seat(GAME_ID, "t")
    list(seat.watch())
    assert seat.number == 1


def test_an_update_of_a_host_s_watch_applies_to_the_watched_seat_only(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(7, viewer=1), Hang()])
    host = client.host(GAME_ID, "t")
    with closing(host.watch(1)) as watch:
        next(watch)
        host.apply(1, flip(1))
        host.apply(0, flip(1))
    moves = [request for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]
    assert [move.etag for move in moves] == ["etag-7", ""]


# --- Recovery ---------------------------------------------------------------------------------------------------------

INTERRUPTIONS: dict[str, StreamItem | None] = {
    "the store is unavailable": STORE_UNAVAILABLE,
    "the server drains": error_reply(grpc.StatusCode.UNAVAILABLE, "DRAINING"),
    "another release stored the game": error_reply(grpc.StatusCode.UNAVAILABLE, "UPGRADING"),
    "too many watches": error_reply(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT"),
    "too many calls for gRPC": ErrorReply(grpc.StatusCode.RESOURCE_EXHAUSTED),
    "the connection breaks": ErrorReply(grpc.StatusCode.UNAVAILABLE),
    "the server cancels the stream": ErrorReply(grpc.StatusCode.CANCELLED),
    "a proxy reports INTERNAL": ErrorReply(grpc.StatusCode.INTERNAL),
    "a proxy reports UNKNOWN": ErrorReply(grpc.StatusCode.UNKNOWN),
    "a proxy reports DEADLINE_EXCEEDED": ErrorReply(grpc.StatusCode.DEADLINE_EXCEEDED),
    "the stream ends as the server drains": end(pb.WATCH_END_REASON_DRAINING),
    "the stream ends as the reader stalled": end(pb.WATCH_END_REASON_STALLED),
    "the stream ends without a reason": end(pb.WATCH_END_REASON_UNSPECIFIED),
    "the stream ends without a message": None,
}


@pytest.fixture
def fast_reconnects(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reconnect after milliseconds."""
    monkeypatch.setattr(_watch_plan, "INITIAL_BACKOFF", 0.01)


every_interruption = pytest.mark.parametrize("interruption", INTERRUPTIONS.values(), ids=INTERRUPTIONS)


@pytest.mark.usefixtures("fast_reconnects")
@every_interruption
def test_a_watch_retries_a_stream_that_fails_before_the_first_message(
    client: Client, service: ScriptedService, interruption: StreamItem | None
) -> None:
    service.streams.extend([[interruption] if interruption else [], [snapshot(1, over=True), FINISHED]])
    assert summaries(client.spectator(GAME_ID).watch()) == [(1, [], True)]
    assert resume_tokens(service) == ["", ""]


@pytest.mark.usefixtures("fast_reconnects")
@every_interruption
def test_a_watch_resumes_after_its_last_message(
    client: Client, service: ScriptedService, interruption: StreamItem | None
) -> None:
    failure = [interruption] if interruption else []
    service.streams.extend(
        [
            [snapshot(1), update(2, 2), *failure],
            [heartbeat(2), *failure],
            [update(3, 5), *failure],
            [update(6, 6, over=True), FINISHED],
        ]
    )
    watch = client.seat(GAME_ID, "t").watch(legal_moves=True)
    assert versions(watch) == [1, 2, 5, 6]
    assert resume_tokens(service) == ["", resume_token(2), resume_token(2), resume_token(5)]
    assert {each.metadata["authorization"] for each in service.received} == {"Bearer t"}
    assert all(
        request.include_legal_moves for request in service.requests() if isinstance(request, pb.WatchGameRequest)
    )


def test_a_later_snapshot_is_marked_as_one(client: Client, service: ScriptedService) -> None:
    service.streams.extend([[snapshot(1), update(2, 9), snapshot(5), STORE_UNAVAILABLE], [snapshot(4), FINISHED]])
    updates = [(each.state.version, each.is_snapshot) for each in client.spectator(GAME_ID).watch()]
    assert updates == [(1, True), (9, False), (5, True), (4, True)]
    assert resume_tokens(service) == ["", resume_token(5)]


def test_a_watch_that_breaks_after_the_last_change_ends(client: Client, service: ScriptedService) -> None:
    service.streams.append([snapshot(1), update(2, 2, over=True), STORE_UNAVAILABLE])
    assert versions(client.spectator(GAME_ID).watch()) == [1, 2]
    assert len(service.received) == 1


def test_a_stream_without_messages_is_cancelled_and_replaced(
    client: Client, service: ScriptedService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_watch_plan, "STREAM_IDLE_TIMEOUT", 0.2)
    service.streams.extend([[snapshot(1), Hang()], [Hang()], [update(2, 2, over=True), FINISHED]])
    assert versions(client.spectator(GAME_ID).watch()) == [1, 2]
    assert resume_tokens(service) == ["", resume_token(1), resume_token(1)]
    assert service.stream_ended.acquire(timeout=30)
    assert service.stream_ended.acquire(timeout=30)


# --- End --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (error_reply(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_INVALID"), sodafountain.TokenInvalid),
        (error_reply(grpc.StatusCode.PERMISSION_DENIED, "WRONG_SEAT"), sodafountain.WrongSeat),
        (error_reply(grpc.StatusCode.INVALID_ARGUMENT, "MALFORMED"), sodafountain.MalformedRequest),
        (error_reply(grpc.StatusCode.NOT_FOUND, "GAME_NOT_FOUND"), sodafountain.GameNotFound),
        (error_reply(grpc.StatusCode.UNIMPLEMENTED, "UNIMPLEMENTED"), sodafountain.Unimplemented),
        (error_reply(grpc.StatusCode.INTERNAL, "INTERNAL", call_id="c"), sodafountain.InternalError),
        (ErrorReply(grpc.StatusCode.UNIMPLEMENTED), sodafountain.Unimplemented),
        (ErrorReply(grpc.StatusCode.UNAUTHENTICATED), sodafountain.SodaFountainError),
    ],
)
@pytest.mark.parametrize("before", [[], [snapshot(1)]], ids=["first", "later"])
def test_an_error_that_is_not_retryable_is_raised(
    client: Client, service: ScriptedService, before: list[StreamItem], reply: ErrorReply, error: type[Exception]
) -> None:
    service.streams.append([*before, reply])
    watch = client.spectator(GAME_ID).watch()
    for _ in before:
        next(watch)
    with pytest.raises(error):
        next(watch)
    assert list(watch) == []
    assert len(service.received) == 1


@pytest.mark.parametrize(
    ("reason", "error", "sentence"),
    [
        (pb.WATCH_END_REASON_DELETED, sodafountain.GameDeleted, f"Game {GAME_ID} was deleted."),
        (pb.WATCH_END_REASON_EXPIRED, sodafountain.GameExpired, f"Game {GAME_ID} has expired."),
    ],
)
def test_a_game_that_disappears_raises(
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


def test_the_idle_timeout_raises_the_last_error(client: Client, service: ScriptedService) -> None:
    limit = error_reply(grpc.StatusCode.RESOURCE_EXHAUSTED, "LIMIT", "The server's watch limit is reached.")
    service.streams.extend([[STORE_UNAVAILABLE], [limit]] * 20)
    with pytest.raises((sodafountain.StoreUnavailable, sodafountain.LimitExceeded)):
        next(client.spectator(GAME_ID).watch(idle_timeout=1))
    assert len(service.received) > 1


def test_the_idle_timeout_raises_if_no_server_listens(connect: Connect, stopped_service: ScriptedService) -> None:
    cause = "Connection refused"
    with pytest.raises(sodafountain.Unreachable, match=rf"^Cannot reach .* at {stopped_service.target} \({cause}\)\.$"):
        next(connect(stopped_service.target).spectator(GAME_ID).watch(idle_timeout=1))


def test_the_idle_timeout_raises_if_no_message_arrives(client: Client, service: ScriptedService) -> None:
    service.streams.append([Hang()])
    with pytest.raises(sodafountain.Unreachable, match=rf"^No message about game {GAME_ID} arrived for 0\.2 s: .*\.$"):
        next(client.spectator(GAME_ID).watch(idle_timeout=0.2))
    assert service.stream_ended.acquire(timeout=30)


@pytest.mark.parametrize(
    ("idle_timeout", "error"), [("1", TypeError), (True, TypeError), (0, ValueError), (-1, ValueError)]
)
def test_an_invalid_idle_timeout_raises_before_any_call(
    client: Client, idle_timeout: object, error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"^idle_timeout must be"):
        client.spectator(GAME_ID).watch(idle_timeout=idle_timeout)
