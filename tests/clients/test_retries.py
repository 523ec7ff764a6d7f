"""That a call outlives a service that is away for a moment, without doing anything twice."""

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import grpc
import pytest

import sodafountain
import sodafountain.aio
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.clients.blocking_aio import Client, Connect
from tests.clients.scripted_service import GAME_ID, Refusal, ScriptedService, flip, refusal

AWAY = refusal(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", "The store is away.")
UNCONFIRMED = refusal(grpc.StatusCode.UNAVAILABLE, "UNCONFIRMED", "Whether it was stored is not known.")
NO_REASON = Refusal(grpc.StatusCode.UNAVAILABLE, "connection draining")
SHUT_DOWN = Refusal(grpc.StatusCode.CANCELLED)

Operation = Callable[[Client], object]
OPERATIONS: dict[str, Operation] = {
    "new game": lambda c: c.new_game(SodaJerkOptions(), 3),
    "game kinds": lambda c: c.game_kinds(),
    "state": lambda c: c.seat(GAME_ID, "t").state(),
    "legal moves": lambda c: c.seat(GAME_ID, "t").legal_moves(),
    "apply": lambda c: c.seat(GAME_ID, "t").apply(flip(1)),
    "score": lambda c: c.spectator(GAME_ID).score(),
    "history": lambda c: c.spectator(GAME_ID).history(),
    "delete": lambda c: c.host(GAME_ID, "t").delete(),
}


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=OPERATIONS)
def test_a_call_is_repeated_word_for_word_while_the_service_is_unavailable(
    client: Client, service: ScriptedService, operation: Operation
) -> None:
    service.script.append(AWAY)
    operation(client)
    first, second = service.asked
    assert first.request == second.request
    assert first.metadata == {k: v for k, v in second.metadata.items() if k != "grpc-previous-rpc-attempts"}


def test_a_retried_move_keeps_its_request_id(client: Client, service: ScriptedService) -> None:
    service.script.extend([AWAY, UNCONFIRMED, SHUT_DOWN])
    client.seat(GAME_ID, "t").apply(flip(1))
    ids = [request.request_id for request in service.requests() if isinstance(request, pb.ApplyMoveRequest)]
    assert len(ids) == 4
    assert len(set(ids)) == 1
    assert ids[0]


def test_after_five_attempts_the_last_refusal_is_raised(client: Client, service: ScriptedService) -> None:
    service.script.extend([AWAY, AWAY, AWAY, AWAY, UNCONFIRMED, AWAY])
    with pytest.raises(sodafountain.Unconfirmed):
        client.seat(GAME_ID, "t").apply(flip(1))
    assert len(service.asked) == 5


@pytest.mark.parametrize(
    "code", [code for code in grpc.StatusCode if code.name not in ("OK", "CANCELLED", "UNAVAILABLE")]
)
def test_no_other_refusal_is_repeated(client: Client, service: ScriptedService, code: grpc.StatusCode) -> None:
    service.script.append(Refusal(code))
    with pytest.raises(sodafountain.SodaFountainError):
        client.seat(GAME_ID, "t").apply(flip(1))
    assert len(service.asked) == 1


def test_the_deadline_ends_the_retries(client: Client, service: ScriptedService) -> None:
    service.script.extend([AWAY] * 10)
    with pytest.raises(sodafountain.DeadlineExceeded):
        client.seat(GAME_ID, "t").apply(flip(1), timeout=0.4)
    assert len(service.asked) == 2


def test_the_deadline_is_one_for_all_attempts(client: Client, service: ScriptedService) -> None:
    service.script.extend([AWAY, NO_REASON])
    client.seat(GAME_ID, "t").apply(flip(1), timeout=2)
    first, *_, last = [asked.time_left for asked in service.asked]
    # After pauses of about 0.2 and 0.4 s.
    assert last < first - 0.4


def test_a_call_that_its_caller_cancels_is_not_made_again(service: ScriptedService) -> None:
    async def change_the_mind() -> None:
        async with sodafountain.aio.connect(service.target) as client:
            call = asyncio.ensure_future(client.game_kinds())
            await asyncio.to_thread(service.arrived.acquire)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            service.free.set()
            await client.spectator(GAME_ID).score()

    service.free.clear()
    asyncio.run(change_the_mind())
    assert [asked.rpc for asked in service.asked] == ["ListGameKinds", "Score"]


def test_a_call_made_while_the_server_is_down_succeeds_when_it_is_back(
    connect: Connect, idle_service: ScriptedService
) -> None:
    with idle_service.serving():
        client = connect(idle_service.target)
        client.game_kinds()
    done = threading.Event()

    def come_back() -> None:
        # Half a second out of service: not a wait for something, but what is being tested.
        done.wait(0.5)
        with idle_service.serving():
            done.wait(30)

    with ThreadPoolExecutor(1) as others:
        others.submit(come_back)
        try:
            client.seat(GAME_ID, "t").apply(flip(1))
        finally:
            done.set()
    assert [asked.rpc for asked in idle_service.asked] == ["ListGameKinds", "ApplyMove"]


def test_a_call_whose_server_dies_under_it_is_made_again_with_the_same_request_id(
    connect: Connect, idle_service: ScriptedService
) -> None:
    listening, done = threading.Event(), threading.Event()
    idle_service.free.clear()

    def die_and_come_back() -> None:
        with idle_service.serving():
            listening.set()
            idle_service.arrived.acquire()
        with idle_service.serving():
            done.wait(30)

    with ThreadPoolExecutor(1) as others:
        others.submit(die_and_come_back)
        try:
            listening.wait(30)
            connect(idle_service.target).seat(GAME_ID, "t").apply(flip(1))
        finally:
            done.set()
    first, second = idle_service.requests()
    assert first == second
