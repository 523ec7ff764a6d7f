"""What a watch does next, whatever it hears: without a service, a connection or a clock that runs."""

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
from sodafountain._watch_plan import SILENCE, Heard, Open, Pause, Read, Step, Update, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.scripted_service import GAME_ID, Refusal, refusal
from tests.clients.watch_messages import heartbeat, snapshot, state


class Clock:
    """A clock that stands still."""

    now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The watches' clock."""
    clock = Clock()
    monkeypatch.setattr(_watch_plan, "monotonic", clock)
    return clock


class Failure(grpc.RpcError):
    """A failed call, as grpc raises it."""

    def __init__(self, how: Refusal) -> None:
        self._how = how

    def code(self) -> grpc.StatusCode:
        return self._how.code

    def details(self) -> str:
        return self._how.message

    def trailing_metadata(self) -> Any:  # as `explain` says
        return () if self._how.details is None else (("grpc-status-details-bin", self._how.details),)


AWAY = Failure(refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE"))


def plan_of(patience: float | None = None) -> WatchPlan:
    """A spectator's watch, whose first update has been asked for."""
    calls = GameCalls(ClientCalls("localhost:1", tls=False, api_key=None, timeout=5), GAME_ID, metadata=())
    plan = WatchPlan(calls, resume_token=None, patience=patience)
    plan.be_patient()
    return plan


def pauses(plan: WatchPlan, heard: Heard) -> Iterator[float]:
    """The pauses of a watch each of whose streams brings nothing but this."""
    while True:
        assert isinstance(plan.step(None), Open)
        assert isinstance(plan.step(None), Read)
        step = plan.step(heard)
        assert isinstance(step, Pause)
        yield step.seconds


def hear(plan: WatchPlan, *heard: Heard) -> Step | None:
    """Begins a stream and hears something; tells what is to be done then."""
    assert isinstance(plan.step(None), Open)
    step = plan.step(None)
    for each in heard:
        step = plan.step(each)
    return step


def test_pauses_grow_from_a_tenth_of_a_second_to_five() -> None:
    longest = [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 5.0, 5.0, 5.0]
    for seconds, most in zip(itertools.islice(pauses(plan_of(), AWAY), 9), longest, strict=True):
        assert most / 2 <= seconds <= most


def test_no_two_watches_pause_alike() -> None:
    first, second = (list(itertools.islice(pauses(plan_of(), AWAY), 8)) for _ in range(2))
    assert first != second


@pytest.mark.parametrize("message", [snapshot(1), heartbeat(1)], ids=["snapshot", "heartbeat"])
def test_a_message_makes_the_pauses_short_again(message: pb.WatchGameResponse) -> None:
    plan = plan_of()
    assert max(itertools.islice(pauses(plan, AWAY), 9)) > 2
    step = hear(plan, message)
    if isinstance(step, Update):
        plan.step(None)
    step = plan.step(AWAY)
    assert isinstance(step, Pause)
    assert step.seconds <= 0.1


def test_a_pause_is_as_long_as_the_service_suggests_at_least() -> None:
    delay = RetryInfo(retry_delay=Duration(seconds=7))
    away = Failure(refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "It is away.", delay))
    assert next(pauses(plan_of(), away)) == 7


def test_it_gives_up_when_its_patience_would_end_before_the_next_attempt(clock: Clock) -> None:
    def try_on() -> None:
        for seconds in pauses(plan_of(patience=10), AWAY):
            clock.now += seconds

    with pytest.raises(sodafountain.StoreUnavailable):
        try_on()
    assert 1005 <= clock.now < 1010


def test_endless_patience_never_gives_up(clock: Clock) -> None:
    for seconds in itertools.islice(pauses(plan_of(patience=None), AWAY), 1000):
        clock.now += seconds
    assert clock.now > 3000


@pytest.mark.parametrize("message", [snapshot(1), heartbeat(1)], ids=["snapshot", "heartbeat"])
def test_patience_begins_anew_with_every_message(clock: Clock, message: pb.WatchGameResponse) -> None:
    plan = plan_of(patience=10)
    hear(plan)
    for _ in range(3):
        clock.now += 9
        if isinstance(plan.step(message), Update):
            assert plan.step(None) == Read(10)
    clock.now += 9
    assert isinstance(plan.step(AWAY), Pause)


def test_patience_begins_anew_when_the_next_update_is_asked_for(clock: Clock) -> None:
    plan = plan_of(patience=10)
    assert isinstance(hear(plan, snapshot(1)), Update)
    clock.now += 3600
    plan.be_patient()
    assert plan.step(None) == Read(10)


def test_a_silent_stream_is_given_up_and_begun_again(clock: Clock) -> None:
    plan = plan_of(patience=60)
    assert hear(plan) == Read(SILENCE)
    clock.now += SILENCE
    assert isinstance(plan.step(None), Pause)
    assert isinstance(plan.step(None), Open)
    assert plan.step(None) == Read(60 - SILENCE)
    clock.now += 60 - SILENCE
    with pytest.raises(sodafountain.Unreachable, match=rf"^Nothing was heard of game {GAME_ID} for 60 s: .*\.$"):
        plan.step(None)


def test_patience_that_ends_in_silence_ends_with_what_was_refused_since_the_last_sign_of_life(clock: Clock) -> None:
    plan = plan_of(patience=60)
    assert isinstance(hear(plan, AWAY), Pause)
    assert hear(plan) == Read(SILENCE)
    clock.now += 60
    with pytest.raises(sodafountain.StoreUnavailable):
        plan.step(None)

    plan = plan_of(patience=60)
    assert isinstance(hear(plan, AWAY), Pause)
    hear(plan, heartbeat(1))
    clock.now += 60
    with pytest.raises(sodafountain.Unreachable, match=r"^Nothing was heard"):
        plan.step(None)


def test_a_silence_is_not_waited_for_as_long_as_a_refusal_before_it_suggested(clock: Clock) -> None:
    delay = RetryInfo(retry_delay=Duration(seconds=7))
    plan = plan_of(patience=60)
    assert hear(plan, Failure(refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "Away.", delay))) == Pause(7)
    for longest in (0.2, 0.4):
        step = hear(plan, None)
        assert isinstance(step, Pause)
        assert longest / 2 <= step.seconds <= longest
    clock.now += 60
    with pytest.raises(sodafountain.StoreUnavailable, match=r"^Away\.$"):
        hear(plan, None)


def test_no_other_thread_can_come_between_comparing_a_decision_and_remembering_it() -> None:
    calls = GameCalls(ClientCalls("localhost:1", tls=False, api_key=None, timeout=5), GAME_ID, metadata=())
    seen = []

    class Decisions(dict[int | None, Decision]):
        def get(self, *arguments: Any) -> Any:
            seen.append(("get", calls._noting.locked()))
            return super().get(*arguments)

        def __setitem__(self, seat: int | None, decision: Decision) -> None:
            seen.append(("set", calls._noting.locked()))
            super().__setitem__(seat, decision)

    calls._decisions = Decisions()
    calls.note_state(None, state(3, viewer=0), may_be_late=True)
    asking = calls.legal_moves(timeout=None)
    next(asking)
    with pytest.raises(StopIteration):
        asking.send(pb.LegalMovesResponse(version=4))
    assert seen == [("get", True), ("set", True), ("set", True)]


def test_a_message_of_a_kind_that_is_not_known_yet_is_a_sign_of_life() -> None:
    plan = plan_of()
    assert hear(plan, pb.WatchGameResponse(resume_token="w7-new")) == Read(SILENCE)
    assert isinstance(plan.step(AWAY), Pause)
    step = plan.step(None)
    assert isinstance(step, Open)
    assert isinstance(step.call.request, pb.WatchGameRequest)
    assert step.call.request.resume_token == "w7-new"


def test_silence_is_three_heartbeats_long_and_patience_is_longer() -> None:
    assert SILENCE == 3 * 15 < _watch_plan.DEFAULT_PATIENCE < math.inf
