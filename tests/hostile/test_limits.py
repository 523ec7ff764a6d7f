"""Limits of messages, metadata, calls and connections: a clear error for the caller, and no effect on others."""

import gzip
import random
import socket
import struct
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from hyperframe.frame import RstStreamFrame, WindowUpdateFrame

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile.conftest import ENV
from tests.hostile.probe_client import ProbeClient
from tests.support import http2
from tests.support.game_clients import SECONDS, Game, expect_error, new_game, play
from tests.support.processes import resident_mib
from tests.support.raw_calls import call_with_bytes
from tests.support.service import Service, channel_to, running

GET_GAME = b"/sodafountain.v1.GameService/GetGame"
MISSING = pb.GetGameRequest(game_id="a" * 26).SerializeToString()
KIB = 1024
MOST = 4
ZERO_WINDOW = http2.PREFACE + http2.settings(
    (http2.HEADER_TABLE_SIZE, 0), (http2.MAX_HEADER_LIST_SIZE, 1 << 20), (http2.INITIAL_WINDOW_SIZE, 0)
)
"""An opening with a window of zero: the server may send data only after window updates."""


@pytest.fixture
def channel(service: Service) -> Iterator[grpc.Channel]:
    with channel_to(service.target) as opened:
        yield opened


# --- Messages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", [grpc.Compression.NoCompression, grpc.Compression.Gzip])
@pytest.mark.parametrize("size", [64 * KIB + 1, 200 * KIB, 512 * KIB])
def test_a_request_that_is_too_large_is_rejected_with_the_limit(
    channel: grpc.Channel, size: int, compression: grpc.Compression
) -> None:
    error = expect_error(lambda: call_with_bytes(channel, "GetGame", bytes(size), compression=compression))

    assert (error.code.name, error.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
    assert f"{size} bytes; the maximum is 65536" in error.message


@pytest.mark.parametrize("mib", [1, 9, 60])
def test_a_compressed_bomb_is_rejected_and_takes_no_memory(service: Service, mib: int) -> None:
    packed = gzip.compress(bytes(mib * KIB * KIB), 9)
    before = resident_mib(service.process.pid)

    for _ in range(3):
        with http2.Connection(service.target) as connection:
            stream = connection.next_stream()
            fields = http2.call_fields(GET_GAME, [(b"grpc-encoding", b"gzip")])
            connection.send(http2.call(stream, fields, http2.message(packed, compressed=1)))
            assert connection.answer(stream).status == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]

    assert resident_mib(service.process.pid) < before + 64


@pytest.mark.parametrize("promised", [64 * KIB, 8 * KIB * KIB, 2**31 - 1, 2**32 - 1])
def test_a_message_with_a_false_length_takes_no_memory(service: Service, promised: int) -> None:
    before = resident_mib(service.process.pid)

    with http2.Connection(service.target) as connection:
        streams = [connection.next_stream() for _ in range(100)]
        for stream in streams:
            body = struct.pack(">BI", 0, promised) + b"x"
            connection.send(http2.call(stream, http2.call_fields(GET_GAME), None) + http2.data(stream, body))
        time.sleep(0.2)  # time to allocate memory, if it did
        assert resident_mib(service.process.pid) < before + 64


def test_endless_requests_take_little_memory(service: Service) -> None:
    size = 500 * 1000
    before = resident_mib(service.process.pid)

    with http2.Connection(service.target) as connection:
        streams = [connection.next_stream() for _ in range(250)]
        remaining = dict.fromkeys(streams, size)
        windows = dict.fromkeys((0, *streams), 65_535)
        for stream in streams:
            connection.send(http2.call(stream, http2.call_fields(GET_GAME), None))
            connection.send(http2.data(stream, struct.pack(">BI", 0, size)))
            windows[stream] -= 5
            windows[0] -= 5
        try:
            while remaining:
                for stream in tuple(remaining):
                    part = min(16_384, remaining[stream] - 1, windows[0], windows[stream])
                    if part > 0:
                        connection.send(http2.data(stream, bytes(part)))
                        remaining[stream] -= part
                        windows[stream] -= part
                        windows[0] -= part
                frame = connection.read(1)
                if isinstance(frame, WindowUpdateFrame):
                    windows[frame.stream_id] += frame.window_increment
                elif isinstance(frame, RstStreamFrame):
                    remaining.pop(frame.stream_id, None)
        except TimeoutError:  # the service accepts no more
            assert resident_mib(service.process.pid) < before + 256
        else:
            raise AssertionError("the calls ended before anything could be measured")


# --- Metadata ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("keys", "size"), [(1, 17 * KIB), (1, 60 * KIB), (500, 64), (5000, 8)])
def test_metadata_that_is_too_large_is_rejected(service: Service, keys: int, size: int) -> None:
    metadata = [(b"x-%d" % number, b"v" * size) for number in range(keys)]

    with http2.Connection(service.target) as connection:
        connection.unary(GET_GAME, MISSING)  # the limit holds once the client has acknowledged the settings
        answer = connection.unary(GET_GAME, MISSING, metadata)

    assert answer.status == grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]


@pytest.mark.parametrize(
    "value",
    [b"Bearer \xff\xfe\x80", b"Bearer \xed\xa0\x80", b"Bearer \x00\x01", b"\xf0\x9f\x8d\x93", b"", b" ", b"Bearer"],
)
def test_a_token_that_is_not_text_is_invalid(service: Service, value: bytes) -> None:
    with http2.Connection(service.target) as connection:
        answer = connection.unary(GET_GAME, MISSING, [(b"authorization", value)])

    assert answer.status == grpc.StatusCode.UNAUTHENTICATED.value[0] or answer.end in {"reset", "goaway"}


def test_metadata_that_is_not_text_causes_no_error_in_the_service(service: Service) -> None:
    before = len(service.logs())

    with http2.Connection(service.target) as connection:
        connection.unary(
            GET_GAME, MISSING, [(b"authorization", b"Bearer \xff"), (b"x-api-key", b"\xfe"), (b"x", b"\x80")]
        )

    assert [line["level"] for line in service.logs()[before:]] == ["info"]


# --- Concurrent calls -------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small(valkey: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with a low limit of concurrent calls."""
    folder: Path = tmp_path_factory.mktemp("small")
    with running(folder, "--store-url", valkey, f"--max-calls={MOST}", "--threads=2", env=ENV) as process:
        yield process


def test_a_call_above_the_limit_is_rejected_immediately_with_the_reason(small: Service) -> None:
    with http2.Connection(small.target) as others, channel_to(small.target) as channel:
        kinds = GameServiceStub(channel).ListGameKinds
        kinds(pb.ListGameKindsRequest(), timeout=SECONDS)
        for _ in range(MOST):
            others.send(http2.call(others.next_stream(), http2.call_fields(GET_GAME), None))
        _until_full(small, others)

        started = time.monotonic()
        error = expect_error(lambda: kinds(pb.ListGameKindsRequest(), timeout=SECONDS))

        assert time.monotonic() - started < 1
        assert (error.code.name, error.reason) == ("RESOURCE_EXHAUSTED", "LIMIT")
        assert "call limit is reached" in error.message


def test_a_full_server_answers_as_soon_as_there_is_room(small: Service) -> None:
    with http2.Connection(small.target) as others, channel_to(small.target) as channel:
        streams = [others.next_stream() for _ in range(MOST)]
        for stream in streams:
            others.send(http2.call(stream, http2.call_fields(GET_GAME), None))
        _until_full(small, others)

        first = streams[0]  # it was admitted, since there was room
        others.send(http2.data(first, http2.message(MISSING), end=True))
        assert others.answer(first).status == grpc.StatusCode.NOT_FOUND.value[0]

        stub = GameServiceStub(channel)
        assert stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS).game_kinds


def _until_full(small: Service, others: http2.Connection) -> None:
    """Wait until the service rejects a call. A call that it accepts may have taken the place of another."""
    deadline = time.monotonic() + SECONDS
    with http2.Connection(small.target) as connection:
        while connection.unary(GET_GAME, MISSING).status != grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]:
            assert time.monotonic() < deadline, "it never was full"
            others.send(http2.call(others.next_stream(), http2.call_fields(GET_GAME), None))


def test_thousands_of_concurrent_calls_do_not_affect_others(service: Service, probe: ProbeClient) -> None:
    with http2.Connection(service.target) as connection:
        streams = [connection.next_stream() for _ in range(5000)]
        # A connection may have 256 open calls. The transport rejects others and may close the connection.
        with suppress(OSError):
            for stream in streams:
                connection.send(http2.call(stream, http2.call_fields(GET_GAME), http2.message(MISSING)))
        probe.start_a_game()


# --- Connections ------------------------------------------------------------------------------------------------------


def test_dropped_connections_leave_no_file_descriptors(service: Service, probe: ProbeClient) -> None:
    descriptors = Path(f"/proc/{service.process.pid}/fd")
    before = len(list(descriptors.iterdir()))
    for number in range(200):
        connection = http2.Connection(service.target)
        connection.send(http2.call(connection.next_stream(), http2.call_fields(GET_GAME), http2.message(MISSING)))
        if number % 2:  # with a TCP reset
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.socket.close()
    probe.start_a_game()

    deadline = time.monotonic() + SECONDS
    while len(list(descriptors.iterdir())) > before + 8:
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_idle_connections_do_not_affect_others(service: Service, probe: ProbeClient) -> None:
    connections = [http2.Connection(service.target) for _ in range(200)]
    probe.start_a_game()
    for connection in connections:
        connection.socket.close()


# --- Readers ----------------------------------------------------------------------------------------------------------


UNREAD_GROWTH = 128
"""The limit for the growth of the service while responses are not read, in MiB; they would take several hundred."""


@pytest.fixture(scope="module")
def finished(service: Service) -> Game:
    """A finished game with a long history."""
    with channel_to(service.target) as opened:
        game = new_game(GameServiceStub(opened), 4)
        play(game, random.Random(1))
    return game


@pytest.mark.parametrize("method", ["ListGameKinds", "GetHistory"])
def test_callers_that_read_no_responses_do_not_affect_others(
    service: Service, finished: Game, probe: ProbeClient, method: str
) -> None:
    requests = {
        "ListGameKinds": pb.ListGameKindsRequest(),
        "GetHistory": pb.GetHistoryRequest(game_id=finished.game_id, page_size=1000),
    }
    fields = http2.call_fields(f"/sodafountain.v1.GameService/{method}".encode())
    body = http2.message(requests[method].SerializeToString())
    before = resident_mib(service.process.pid)
    connections = [http2.Connection(service.target, opening=ZERO_WINDOW) for _ in range(28)]

    for _ in range(25):  # all at once would reach the call limit
        for connection in connections:
            connection.send(b"".join(http2.call(connection.next_stream(), fields, body) for _ in range(10)))
        probe.start_a_game()

    assert resident_mib(service.process.pid) < before + UNREAD_GROWTH
    for connection in connections:
        connection.socket.close()


def test_a_caller_that_reads_nothing_gets_no_more_responses(service: Service, finished: Game) -> None:
    request = pb.GetHistoryRequest(game_id=finished.game_id, page_size=1000).SerializeToString()
    fields = http2.call_fields(b"/sodafountain.v1.GameService/GetHistory")

    with http2.Connection(service.target, opening=ZERO_WINDOW) as connection:
        for _ in range(200):
            connection.send(http2.call(connection.next_stream(), fields, http2.message(request)))
        deadline = time.monotonic() + SECONDS
        status: int | None = None
        while status != grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]:
            assert time.monotonic() < deadline
            stream = connection.next_stream()
            connection.send(http2.call(stream, fields, http2.message(request)))
            with suppress(TimeoutError):  # without a window, only an error arrives
                status = connection.answer(stream, seconds=0.5).status


REFLECTION = http2.call_fields(b"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo")


def test_callers_that_read_no_reflection_do_not_stop_it(service: Service, channel: grpc.Channel) -> None:
    request = reflection_pb2.ServerReflectionRequest(file_containing_symbol="sodafountain.v1.GameService")
    connections = [http2.Connection(service.target, opening=ZERO_WINDOW) for _ in range(4)]
    for connection in connections:
        for _ in range(10):
            body = http2.message(request.SerializeToString()) * 5
            connection.send(http2.call(connection.next_stream(), REFLECTION, body))

    stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)
    [response] = stub.ServerReflectionInfo(iter([request]), timeout=SECONDS)

    assert response.file_descriptor_response.file_descriptor_proto
    for connection in connections:
        connection.socket.close()
