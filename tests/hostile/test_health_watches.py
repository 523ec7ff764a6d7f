"""Health watches need no threads and little memory. Their number is limited, and unknown names are not stored."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import grpc
import pytest
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from tests.hostile.probe_client import ProbeClient
from tests.support import http2
from tests.support.processes import resident_mib
from tests.support.service import Service

WATCH = b"/grpc.health.v1.Health/Watch"


@contextmanager
def watches(service: Service, connections: int, each: int) -> Iterator[None]:
    """Open watches, one after the other, and keep them open."""
    body = http2.message(HealthCheckRequest().SerializeToString())
    opened = [http2.Connection(service.target) for _ in range(connections)]
    try:
        for connection in opened:
            for _ in range(each):
                connection.send(http2.call(connection.next_stream(), http2.call_fields(WATCH), body))
                connection.first_message(connection.last_stream)
        yield
    finally:
        for connection in opened:
            connection.socket.close()


def watched(connection: http2.Connection, name: str) -> http2.Answer | str:
    """Open a watch; return its first status, or the answer that ends it."""
    stream = connection.next_stream()
    body = http2.message(HealthCheckRequest(service=name).SerializeToString())
    connection.send(http2.call(stream, http2.call_fields(WATCH), body))
    first = connection.first_message(stream)
    if isinstance(first, http2.Answer):
        return first
    return HealthCheckResponse.ServingStatus.Name(HealthCheckResponse.FromString(first).status)


@pytest.mark.parametrize("name", ["", "store", "liveness", "sodafountain.v1.GameService"])
def test_known_names_can_be_watched(service: Service, name: str) -> None:
    with http2.Connection(service.target) as connection:
        assert watched(connection, name) in {"SERVING", "UNKNOWN"}


def test_unknown_names_are_reported_and_not_stored(service: Service) -> None:
    rng = random.Random(1)
    before = resident_mib(service.process.pid)

    for _ in range(1000):
        with http2.Connection(service.target) as connection:
            assert watched(connection, rng.randbytes(30_000).hex()) == "SERVICE_UNKNOWN"

    assert resident_mib(service.process.pid) < before + 32  # storing the names would take 60 MiB


def test_a_watch_above_the_limit_is_rejected_with_the_reason(service: Service, probe: ProbeClient) -> None:
    with watches(service, 5, 200):
        with http2.Connection(service.target) as connection:
            answer = watched(connection, "")
        probe.start_a_game()

    assert isinstance(answer, http2.Answer)
    assert answer.status == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
    assert b"has the maximum number of health watches" in dict(answer.fields)[b"grpc-message"]
    assert b"LIMIT" in dict(answer.fields)[b"grpc-status-details-bin"]
