"""What a watch tells, how it goes on whatever happens to its streams, and how it ends."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import grpc
import pytest

import sodafountain
import sodafountain.aio
from sodafountain import _watch_plan
from sodafountain._arguments import LONGEST_TIMEOUT
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import FINISHED, GAME_ID, Hang, Refusal, ScriptedService, Told, flip, refusal
from tests.clients.watch_messages import AWAY, end, heartbeat, resumed, snapshot, state, token, told, update

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
    monkeypatch.setattr(_watch_plan, "SILENCE", 0.2)
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
        next(client.spectator(GAME_ID).watch(patience=3))
    assert len(service.asked) > 1


def test_patience_ends_where_nobody_answers(connect: Connect, idle_service: ScriptedService) -> None:
    cause = "Connection refused"
    with pytest.raises(sodafountain.Unreachable, match=rf"^Cannot reach .* at {idle_service.target} \({cause}\)\.$"):
        next(connect(idle_service.target).spectator(GAME_ID).watch(patience=3))


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
