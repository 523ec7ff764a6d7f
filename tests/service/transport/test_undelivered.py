"""Responses that are not read: which ones are discarded, and when."""

from collections.abc import Callable
from typing import cast

import grpc
import pytest

from service.transport import undelivered
from service.transport.errors import StatusError
from service.transport.undelivered import (
    CALL_BYTES,
    MAX_BYTES,
    MAX_CONNECTION_BYTES,
    MAX_SECONDS,
    PROMPT_SECONDS,
    Undelivered,
)

MIB = 1024 * 1024


class FakeContext:
    """A call that ends when the test says so."""

    def __init__(self, peer: str) -> None:
        self._peer = peer
        self.cancelled = False
        self.ended = False
        self.callbacks: list[Callable[[], None]] = []

    def peer(self) -> str:
        return self._peer

    def add_callback(self, callback: Callable[[], None]) -> bool:
        if not self.ended:
            self.callbacks.append(callback)
        return not self.ended

    def cancel(self) -> None:
        self.cancelled = True

    def end(self) -> None:
        self.ended = True
        for callback in self.callbacks:
            callback()


def added(responses: Undelivered, peer: str, size: int, *, ended: bool = False) -> FakeContext:
    """Add a response of this size in all."""
    context = FakeContext(peer)
    context.ended = ended
    responses.add(cast("grpc.ServicerContext", context), size - CALL_BYTES)
    return context


def check(responses: Undelivered, peer: str) -> None:
    responses.check(cast("grpc.ServicerContext", FakeContext(peer)))


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of the module."""
    clock = Clock()
    monkeypatch.setattr(undelivered, "monotonic", clock)
    return clock


def test_a_caller_that_reads_too_little_is_rejected_until_it_has_read(clock: Clock) -> None:
    responses = Undelivered()
    unread = [added(responses, "slow", MAX_CONNECTION_BYTES // 2) for _ in range(3)]
    check(responses, "slow")  # it may still be reading
    clock.now += PROMPT_SECONDS

    check(responses, "other")
    with pytest.raises(StatusError) as rejected:
        check(responses, "slow")
    unread[0].end()
    check(responses, "slow")

    assert rejected.value.reason_name == "LIMIT"


def test_a_response_is_counted_with_what_grpc_keeps_of_its_call(clock: Clock) -> None:
    responses = Undelivered()
    for _ in range(MAX_CONNECTION_BYTES // CALL_BYTES + 1):
        responses.add(cast("grpc.ServicerContext", FakeContext("slow")), 0)
    clock.now += PROMPT_SECONDS

    with pytest.raises(StatusError):
        check(responses, "slow")


def test_a_call_that_has_ended_counts_for_nothing(clock: Clock) -> None:
    responses = Undelivered()
    added(responses, "gone", 2 * MAX_CONNECTION_BYTES, ended=True)
    clock.now += PROMPT_SECONDS

    check(responses, "gone")


def test_the_callers_that_read_least_lose_responses_when_all_are_too_large(clock: Clock) -> None:
    responses = Undelivered()
    regular = [added(responses, str(number), MIB) for number in range(MAX_BYTES // MIB - 2)]
    silent = [added(responses, "silent", MIB) for _ in range(3)]
    responses.discard()
    early = [context for context in silent + regular if context.cancelled]
    clock.now += PROMPT_SECONDS
    responses.discard()

    assert early == []
    assert [context.cancelled for context in silent] == [True] * 3
    assert not [context for context in regular if context.cancelled]


def test_a_discarded_response_counts_for_nothing(clock: Clock) -> None:
    responses = Undelivered()
    silent = added(responses, "silent", MAX_BYTES + MIB)
    clock.now += PROMPT_SECONDS
    responses.discard()
    silent.end()
    other = added(responses, "other", MAX_BYTES)
    clock.now += PROMPT_SECONDS

    responses.discard()

    assert (silent.cancelled, other.cancelled) == (True, False)


def test_a_response_is_discarded_when_it_has_waited_for_too_long(clock: Clock) -> None:
    responses = Undelivered()
    old = added(responses, "a caller", MIB)
    clock.now += MAX_SECONDS - 1
    young = added(responses, "a caller", MIB)

    responses.discard()
    before = old.cancelled
    clock.now += 1
    responses.discard()

    assert (before, old.cancelled, young.cancelled) == (False, True, False)
