"""A call survives a short outage of the service, and nothing happens twice."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

import sodafountain
import sodafountain.aio
from sodafountain.v1 import game_service_pb2 as pb
from tests.clients.blocking_aio import Client, Connect
from tests.clients.client_operations import Operation, every_operation
from tests.clients.scripted_service import GAME_ID, ErrorReply, ScriptedService, error_reply, flip
from tests.clients.watch_messages import STORE_UNAVAILABLE

UNCONFIRMED = error_reply(grpc.StatusCode.UNAVAILABLE, "UNCONFIRMED", "It is unknown whether the move was stored.")
WITHOUT_REASON = ErrorReply(grpc.StatusCode.UNAVAILABLE, "connection draining")
SHUTTING_DOWN = ErrorReply(grpc.StatusCode.CANCELLED)


@pytest.mark.usefixtures("fast_retries")
@every_operation
def test_a_retry_sends_the_identical_request(
    client: Client, service: ScriptedService, operation: Operation, token: str | None
) -> None:
    service.responses.append(STORE_UNAVAILABLE)
    operation(client, {})
    first, second = service.received
    assert first.request == second.request
    assert first.metadata == {k: v for k, v in second.metadata.items() if k != "grpc-previous-rpc-attempts"}


@pytest.mark.usefixtures("fast_retries")
def test_a_retried_move_keeps_its_request_id(client: Client, service: ScriptedService) -> None:
    service.responses.extend([STORE_UNAVAILABLE, UNCONFIRMED, SHUTTING_DOWN])
    client.seat(GAME_ID, "t").apply(flip(1))
    ids = [request.request_id for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]
    assert len(ids) == 4
    assert len(set(ids)) == 1
    assert ids[0]


@pytest.mark.usefixtures("fast_retries")
def test_after_five_attempts_the_last_error_is_raised(client: Client, service: ScriptedService) -> None:
    service.responses.extend([*[STORE_UNAVAILABLE] * 4, UNCONFIRMED, STORE_UNAVAILABLE])
    with pytest.raises(sodafountain.Unconfirmed):
        client.seat(GAME_ID, "t").apply(flip(1))
    assert len(service.received) == 5


@pytest.mark.parametrize(
    "code", [code for code in grpc.StatusCode if code.name not in ("OK", "CANCELLED", "UNAVAILABLE")]
)
def test_errors_of_other_codes_are_not_retried(client: Client, service: ScriptedService, code: grpc.StatusCode) -> None:
    service.responses.append(ErrorReply(code))
    with pytest.raises(sodafountain.SodaFountainError):
        client.seat(GAME_ID, "t").apply(flip(1))
    assert len(service.received) == 1


def test_the_deadline_ends_the_retries(client: Client, service: ScriptedService) -> None:
    service.responses.extend([STORE_UNAVAILABLE] * 10)
    with pytest.raises(sodafountain.DeadlineExceeded):
        client.seat(GAME_ID, "t").apply(flip(1), timeout=0.4)
    assert len(service.received) == 2


def test_the_deadline_is_one_for_all_attempts(client: Client, service: ScriptedService) -> None:
    service.responses.extend([STORE_UNAVAILABLE, WITHOUT_REASON])
    client.seat(GAME_ID, "t").apply(flip(1), timeout=2)
    first, *_, last = [each.time_left for each in service.received]
    # The backoff is about 0.2 and 0.4 s.
    assert last < first - 0.4


def test_a_cancelled_call_is_not_retried(service: ScriptedService) -> None:
    async def cancel_call() -> None:
        async with sodafountain.aio.connect(service.target) as client:
            call = asyncio.ensure_future(client.game_kinds())
            await asyncio.to_thread(service.request_received.acquire)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            service.may_answer.set()
            await client.spectator(GAME_ID).score()

    service.may_answer.clear()
    asyncio.run(cancel_call())
    assert [each.rpc for each in service.received] == ["ListGameKinds", "Score"]


def test_a_call_during_an_outage_succeeds_when_the_server_is_back(
    connect: Connect, stopped_service: ScriptedService
) -> None:
    with stopped_service.serving():
        client = connect(stopped_service.target)
        client.game_kinds()
    done = threading.Event()

    def start_late() -> None:
        # The outage of half a second is the subject of the test, not a wait for a condition.
        done.wait(0.5)
        with stopped_service.serving():
            done.wait(30)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(start_late)
        try:
            client.seat(GAME_ID, "t").apply(flip(1))
        finally:
            done.set()
    assert [each.rpc for each in stopped_service.received] == ["ListGameKinds", "ApplyMove"]


def test_a_call_is_retried_with_the_same_request_id_when_its_server_dies(
    connect: Connect, stopped_service: ScriptedService
) -> None:
    listening, done = threading.Event(), threading.Event()
    stopped_service.may_answer.clear()

    def die_and_restart() -> None:
        with stopped_service.serving():
            listening.set()
            stopped_service.request_received.acquire()
        with stopped_service.serving():
            done.wait(30)

    with ThreadPoolExecutor(1) as threads:
        threads.submit(die_and_restart)
        try:
            listening.wait(30)
            connect(stopped_service.target).seat(GAME_ID, "t").apply(flip(1))
        finally:
            done.set()
    first, second = stopped_service.requests()
    assert first == second
