"""The steps of a watch plan, without a service, a connection or a running clock."""

import itertools
import math
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.duration_pb2 import Duration
from google.rpc.error_details_pb2 import RetryInfo

import sodafountain
from sodafountain import _watch_plan
from sodafountain._calls import ClientCalls, Decision, GameCalls
from sodafountain._watch_plan import STREAM_IDLE_TIMEOUT, Open, Pause, Read, Received, Step, Update, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.scripted_service import GAME_ID, ErrorReply, error_reply
from tests.clients.watch_messages import heartbeat, snapshot, state


class Clock:
    """A clock that does not run."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of watch plans."""
    clock = Clock()
    monkeypatch.setattr(_watch_plan, "monotonic", clock)
    return clock


class Failure(grpc.RpcError):
    """The error of a failed call, as grpc raises it."""

    def __init__(self, reply: ErrorReply) -> None:
        self._reply = reply

    def code(self) -> grpc.StatusCode:
        return self._reply.code

    def details(self) -> str:
        return self._reply.message

    def trailing_metadata(self) -> Any:  # the type stubs of grpc are wrong, see `status_of`
        return () if self._reply.details is None else (("grpc-status-details-bin", self._reply.details),)


UNAVAILABLE = Failure(error_reply(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"))


def new_plan(idle_timeout: float | None = None) -> WatchPlan:
    """Return the plan of a spectator whose first update was requested."""
    calls = GameCalls(
        ClientCalls("localhost:1", tls=False, allow_insecure=False, api_key=None, timeout=5), GAME_ID, metadata=()
    )
    plan = WatchPlan(calls, resume_token=None, idle_timeout=idle_timeout)
    plan.restart_idle_timer()
    return plan


def pauses(plan: WatchPlan, received: Received) -> Iterator[float]:
    """Yield the pauses of a watch, each of whose streams receives only this."""
    while True:
        assert isinstance(plan.step(None), Open)
        assert isinstance(plan.step(None), Read)
        step = plan.step(received)
        assert isinstance(step, Pause)
        yield step.seconds


def receive(plan: WatchPlan, *received: Received) -> Step | None:
    """Open a stream and receive these; return the next step."""
    assert isinstance(plan.step(None), Open)
    step = plan.step(None)
    for each in received:
        step = plan.step(each)
    return step


def test_pauses_grow_from_a_tenth_of_a_second_to_five_seconds() -> None:
    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    for seconds, limit in zip(itertools.islice(pauses(new_plan(), UNAVAILABLE), 9), longest, strict=True):
        assert limit / 2 <= seconds <= limit


def test_two_watches_have_different_pauses() -> None:
    first, second = (list(itertools.islice(pauses(new_plan(), UNAVAILABLE), 8)) for _ in range(2))
    assert first != second


@pytest.mark.parametrize("message", [snapshot(1), heartbeat(1)], ids=["snapshot", "heartbeat"])
def test_a_message_resets_the_backoff(message: pb.WatchGameResponse) -> None:
    plan = new_plan()
    assert max(itertools.islice(pauses(plan, UNAVAILABLE), 9)) > 2
    step = receive(plan, message)
    if isinstance(step, Update):
        plan.step(None)
    step = plan.step(UNAVAILABLE)
    assert isinstance(step, Pause)
    assert step.seconds <= 0.1


def test_a_pause_is_at_least_the_retry_delay() -> None:
    delay = RetryInfo(retry_delay=Duration(seconds=7))
    unavailable = Failure(error_reply(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "It is unavailable.", delay))
    assert next(pauses(new_plan(), unavailable)) == 7


def test_the_last_error_is_raised_if_the_next_attempt_would_miss_the_timeout(clock: Clock) -> None:
    def retry() -> None:
        for seconds in pauses(new_plan(idle_timeout=10), UNAVAILABLE):
            clock.now += seconds

    with pytest.raises(sodafountain.StoreUnavailable):
        retry()
    assert 1005 <= clock.now < 1010


def test_a_watch_without_an_idle_timeout_retries_forever(clock: Clock) -> None:
    for seconds in itertools.islice(pauses(new_plan(idle_timeout=None), UNAVAILABLE), 1000):
        clock.now += seconds
    assert clock.now > 3000


@pytest.mark.parametrize("message", [snapshot(1), heartbeat(1)], ids=["snapshot", "heartbeat"])
def test_every_message_restarts_the_idle_timeout(clock: Clock, message: pb.WatchGameResponse) -> None:
    plan = new_plan(idle_timeout=10)
    receive(plan)
    for _ in range(3):
        clock.now += 9
        if isinstance(plan.step(message), Update):
            assert plan.step(None) == Read(10)
    clock.now += 9
    assert isinstance(plan.step(UNAVAILABLE), Pause)


def test_requesting_an_update_restarts_the_idle_timeout(clock: Clock) -> None:
    plan = new_plan(idle_timeout=10)
    assert isinstance(receive(plan, snapshot(1)), Update)
    clock.now += 3600
    plan.restart_idle_timer()
    assert plan.step(None) == Read(10)


def test_a_stream_without_messages_is_replaced(clock: Clock) -> None:
    plan = new_plan(idle_timeout=60)
    assert receive(plan) == Read(STREAM_IDLE_TIMEOUT)
    clock.now += STREAM_IDLE_TIMEOUT
    assert isinstance(plan.step(None), Pause)
    assert isinstance(plan.step(None), Open)
    assert plan.step(None) == Read(60 - STREAM_IDLE_TIMEOUT)
    clock.now += 60 - STREAM_IDLE_TIMEOUT
    with pytest.raises(sodafountain.Unreachable, match=rf"^No message about game {GAME_ID} arrived for 60 s: .*\.$"):
        plan.step(None)


def test_the_idle_timeout_raises_the_last_error_since_the_last_message(clock: Clock) -> None:
    plan = new_plan(idle_timeout=60)
    assert isinstance(receive(plan, UNAVAILABLE), Pause)
    assert receive(plan) == Read(STREAM_IDLE_TIMEOUT)
    clock.now += 60
    with pytest.raises(sodafountain.StoreUnavailable):
        plan.step(None)

    plan = new_plan(idle_timeout=60)
    assert isinstance(receive(plan, UNAVAILABLE), Pause)
    receive(plan, heartbeat(1))
    clock.now += 60
    with pytest.raises(sodafountain.Unreachable, match=r"^No message about game"):
        plan.step(None)


def test_a_retry_delay_does_not_apply_after_a_later_idle_stream(clock: Clock) -> None:
    delay = RetryInfo(retry_delay=Duration(seconds=7))
    plan = new_plan(idle_timeout=60)
    unavailable = error_reply(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "Unavailable.", delay)
    assert receive(plan, Failure(unavailable)) == Pause(7)
    for limit in (0.2, 0.4):
        step = receive(plan, None)
        assert isinstance(step, Pause)
        assert limit / 2 <= step.seconds <= limit
    clock.now += 60
    with pytest.raises(sodafountain.StoreUnavailable, match=r"^Unavailable\.$"):
        receive(plan, None)


def test_comparing_and_recording_a_decision_happens_under_one_lock() -> None:
    calls = GameCalls(
        ClientCalls("localhost:1", tls=False, allow_insecure=False, api_key=None, timeout=5), GAME_ID, metadata=()
    )
    accesses = []

    class Decisions(dict[int | None, Decision]):
        def get(self, *arguments: Any) -> Any:
            accesses.append(("get", calls._decisions_lock.locked()))
            return super().get(*arguments)

        def __setitem__(self, seat: int | None, decision: Decision) -> None:
            accesses.append(("set", calls._decisions_lock.locked()))
            super().__setitem__(seat, decision)

    calls._decisions = Decisions()
    calls.record_state(None, state(3, viewer=0), may_be_outdated=True)
    listing = calls.legal_moves(timeout=None)
    next(listing)
    with pytest.raises(StopIteration):
        listing.send(pb.LegalMovesResponse(version=4))
    assert accesses == [("get", True), ("set", True), ("set", True)]


def test_a_message_of_an_unknown_kind_counts_as_a_heartbeat() -> None:
    plan = new_plan()
    assert receive(plan, pb.WatchGameResponse(resume_token="w7-new")) == Read(STREAM_IDLE_TIMEOUT)
    assert isinstance(plan.step(UNAVAILABLE), Pause)
    step = plan.step(None)
    assert isinstance(step, Open)
    assert isinstance(step.call.request, pb.WatchGameRequest)
    assert step.call.request.resume_token == "w7-new"


def test_a_stream_may_miss_three_heartbeats_before_the_idle_timeout() -> None:
    assert STREAM_IDLE_TIMEOUT == 3 * 15 < _watch_plan.DEFAULT_IDLE_TIMEOUT < math.inf
