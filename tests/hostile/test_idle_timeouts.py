"""Callers that open calls and send no request: any number of them delays others only briefly."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile.probe_client import MAX_LATENCY
from tests.support import http2
from tests.support.game_clients import SECONDS
from tests.support.processes import threads
from tests.support.service import Service, channel_to

GET_GAME = b"/sodafountain.v1.GameService/GetGame"
CHECK = b"/grpc.health.v1.Health/Check"
WATCH = b"/grpc.health.v1.Health/Watch"
REFLECTION = b"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"


@contextmanager
def idle_calls(service: Service, path: bytes, *, connections: int, calls: int) -> Iterator[list[http2.Connection]]:
    """Keep calls open without a request."""
    opened = [http2.Connection(service.target) for _ in range(connections)]
    try:
        for connection in opened:
            for _ in range(calls):
                connection.send(http2.call(connection.next_stream(), http2.call_fields(path), None))
        yield opened
    finally:
        for connection in opened:
            connection.socket.close()


@pytest.fixture
def channel(service: Service) -> Iterator[grpc.Channel]:
    """A connection to the service. Soon after the test, the service has no more threads than before."""
    usual = threads(service.process.pid)
    with channel_to(service.target) as opened:
        yield opened
    deadline = time.monotonic() + SECONDS
    while threads(service.process.pid) > usual + 2:  # gRPC starts and ends threads of its own
        assert time.monotonic() < deadline, f"{threads(service.process.pid)} threads, and {usual} before"
        time.sleep(0.05)


def seconds_until_answered(channel: grpc.Channel) -> float:
    """Retry while the service is full; return the seconds until it answers."""
    kinds = GameServiceStub(channel).ListGameKinds
    started = time.monotonic()
    while True:
        try:
            kinds(pb.ListGameKindsRequest(), timeout=SECONDS)
        except grpc.RpcError as error:
            assert error.code() is grpc.StatusCode.RESOURCE_EXHAUSTED  # noqa: PT017 - anything else fails the test
            time.sleep(0.01)
        else:
            return time.monotonic() - started


@pytest.mark.parametrize("path", [GET_GAME, CHECK, WATCH, REFLECTION], ids=["a game", "health", "watch", "reflection"])
def test_a_thousand_idle_calls_delay_others_only_briefly(service: Service, channel: grpc.Channel, path: bytes) -> None:
    with idle_calls(service, path, connections=5, calls=200):
        assert seconds_until_answered(channel) < MAX_LATENCY
        assert seconds_until_answered(channel) < MAX_LATENCY


@pytest.mark.parametrize("path", [CHECK, WATCH, REFLECTION], ids=["health", "watch", "reflection"])
def test_health_is_available_during_idle_calls(service: Service, channel: grpc.Channel, path: bytes) -> None:
    with idle_calls(service, path, connections=1, calls=20):
        stub: Any = health_pb2_grpc.HealthStub(channel)
        status = stub.Check(health_pb2.HealthCheckRequest(), timeout=MAX_LATENCY).status

    assert status == health_pb2.HealthCheckResponse.SERVING


def test_health_is_available_while_the_call_limit_is_reached(service: Service, channel: grpc.Channel) -> None:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    with idle_calls(service, GET_GAME, connections=8, calls=200):
        for _ in range(20):
            stub.Check(health_pb2.HealthCheckRequest(), timeout=MAX_LATENCY)


@pytest.mark.parametrize("path", [CHECK, WATCH, REFLECTION], ids=["health", "watch", "reflection"])
def test_garbage_to_grpcs_own_services_gets_an_error_of_this_service(service: Service, path: bytes) -> None:
    with http2.Connection(service.target) as connection:
        answer = connection.unary(path, b"\xff\xff")

    assert answer.status == grpc.StatusCode.INVALID_ARGUMENT.value[0]
    assert b"sodafountain" in dict(answer.fields)[b"grpc-status-details-bin"]


@pytest.mark.parametrize("path", [CHECK, WATCH], ids=["health", "watch"])
def test_a_health_call_without_a_request_is_rejected(service: Service, path: bytes) -> None:
    with http2.Connection(service.target) as connection:
        stream = connection.next_stream()
        connection.send(http2.call(stream, http2.call_fields(path), b""))
        answer = connection.answer(stream)

    assert answer.status == grpc.StatusCode.INVALID_ARGUMENT.value[0]
