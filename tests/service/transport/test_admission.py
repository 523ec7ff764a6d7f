"""Admission control: calls without a request do not block other calls, and a drain does not cancel calls."""

import queue
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import cast

import grpc
import pytest

from service.observability.metrics import Metrics
from service.threads import LeanExecutor
from service.transport import handlers as rpc
from service.transport.admission import Admission
from service.transport.undelivered import Undelivered
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import SECONDS, expect_error
from tests.support.service import Service, channel_to

THREADS = 2
IDLE_SECONDS = 0.5
REQUEST = pb.ScoreRequest(game_id="a" * 26)


class SmallServer:
    """A server with two threads and a short idle timeout, and a client of it."""

    def __init__(self) -> None:
        self.executor = LeanExecutor(THREADS)
        self.admission = Admission(self.executor, Undelivered(), request_timeout=IDLE_SECONDS)
        self.server = grpc.server(cast("ThreadPoolExecutor", self.executor))
        handler = rpc.unary(
            "Score",
            pb.ScoreRequest,
            lambda _call: None,
            lambda _request, _call, _caller: rpc.Response(pb.ScoreResponse()),
            rpc.Common(self.admission, Metrics()),
        )
        self.server.add_registered_method_handlers("test", {"Score": handler})
        port = self.server.add_insecure_port("127.0.0.1:0")
        self.server.start()
        self.channel = grpc.insecure_channel(f"127.0.0.1:{port}")
        self.call = partial(
            self.channel.unary_unary("/test/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString),
            REQUEST,
            timeout=SECONDS,
        )


@pytest.fixture
def small_server() -> Iterator[SmallServer]:
    server = SmallServer()
    yield server
    server.channel.close()
    server.server.stop(None).wait()
    server.admission.stop()
    server.executor.shutdown()


class IdleCaller:
    """A caller that opens a call and sends no request."""

    def __init__(self, channel: grpc.Channel, method: str) -> None:
        self._requests: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        call: grpc.StreamUnaryMultiCallable[bytes, bytes] = channel.stream_unary(method)
        self.call = call.future(iter(self._requests.get, None), timeout=60)

    def end(self) -> None:
        self._requests.put(None)


def test_idle_calls_do_not_block_others(small_server: SmallServer) -> None:
    idle = [IdleCaller(small_server.channel, "/test/Score") for _ in range(20 * THREADS)]

    started = time.monotonic()
    for _ in range(10):
        small_server.call()

    assert time.monotonic() - started < SECONDS
    for caller in idle:
        caller.end()


def test_a_call_without_a_request_is_cancelled_after_the_idle_timeout(small_server: SmallServer) -> None:
    idle = IdleCaller(small_server.channel, "/test/Score")

    with pytest.raises(grpc.RpcError) as caught:
        idle.call.result(timeout=SECONDS)

    assert cast("grpc.Call", caught.value).code() is grpc.StatusCode.CANCELLED
    idle.end()


def test_threads_for_idle_calls_end_with_them(small_server: SmallServer) -> None:
    idle = [IdleCaller(small_server.channel, "/test/Score") for _ in range(6)]
    wait_for(lambda: small_server.executor.size > THREADS)

    for caller in idle:
        caller.end()

    wait_for(lambda: small_server.executor.size == THREADS)
    small_server.call()


def test_a_call_that_ends_without_a_request_is_malformed(small_server: SmallServer) -> None:
    error = expect_error(lambda: small_server.channel.stream_unary("/test/Score")(iter(()), timeout=SECONDS))

    assert error.reason == "MALFORMED"
    assert "has no request message" in error.message


def test_idle_calls_to_every_service_do_not_block_others(service: Service) -> None:
    methods = ("sodafountain.v1.GameService/GetGame", "grpc.health.v1.Health/Check")
    with channel_to(service.target) as abused, channel_to(service.target) as channel:
        idle = [IdleCaller(abused, f"/{method}") for method in methods for _ in range(40)]
        kinds = GameServiceStub(channel).ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS)
        for caller in idle:
            caller.end()
            caller.call.cancel()

    assert kinds.game_kinds


def test_calls_during_a_drain_are_rejected_with_a_retry(small_server: SmallServer) -> None:
    errors = []
    caller = threading.Thread(target=lambda: errors.append(expect_error(small_server.call)))

    def stop() -> threading.Event:
        assert not errors, "the call must wait until the server has sent GOAWAY"
        return small_server.server.stop(SECONDS)

    small_server.call()
    closing = threading.Thread(target=lambda: small_server.admission.close(stop).wait())
    closing.start()
    caller.start()
    closing.join()
    caller.join()

    (error,) = errors
    assert (error.code.name, error.reason) == ("UNAVAILABLE", "DRAINING")
    assert error.retry


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.01)
