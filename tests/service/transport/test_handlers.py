"""The common part of all RPCs: for every result of a handler, the caller receives a valid response or error."""

import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple, cast

import grpc
import pytest
from structlog.testing import capture_logs

from service.observability.metrics import Metrics
from service.store import StoreError, StoreFull, StoreUnavailable, Unconfirmed
from service.threads import LeanExecutor
from service.transport import handlers as rpc
from service.transport.admission import Admission
from service.transport.call import MAX_SECONDS, Call
from service.transport.errors import FieldViolation, StatusError
from service.transport.undelivered import Undelivered
from service.watching import Stream
from sodafountain.v1 import errors_pb2 as reasons
from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS, expect_error

SECRET = "the Kiwi 3 in seat 2's hand"
REQUEST = pb.ScoreRequest(game_id="a" * 26)
ANSWER = pb.ScoreResponse(version=7, note="All seats are level.")

Handler = Callable[[pb.ScoreRequest, Call], Any]


def responding(handler: Handler) -> Callable[[pb.ScoreRequest, Call, None], rpc.Response]:
    """Return a handler whose response has the message that `handler` returns."""
    return lambda request, call, _: rpc.Response(handler(request, call))


def anyone(_: Call) -> None:
    """Accept every caller."""


@contextmanager
def answering(handler: Handler, *, changes: bool = False) -> Iterator[Any]:
    """Serve Score with a handler; yield the call."""
    with _server(
        {"Score": partial(rpc.unary, "Score", pb.ScoreRequest, anyone, responding(handler), writes=changes)}
    ) as channel:
        yield channel.unary_unary("/test/Score", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString)


@contextmanager
def watching(handler: Callable[..., None]) -> Iterator[Any]:
    """Serve a stream of Scores with a handler; yield the call."""

    def start(request: pb.ScoreRequest, call: Call, _: None, stream: Any) -> None:
        return handler(request, call, stream)

    with _server({"Scores": partial(rpc.server_stream, "Scores", pb.ScoreRequest, anyone, start)}) as channel:
        yield channel.unary_stream("/test/Scores", pb.ScoreRequest.SerializeToString, pb.ScoreResponse.FromString)


@contextmanager
def _server(makers: dict[str, Callable[[rpc.Common], Any]]) -> Iterator[grpc.Channel]:
    executor = LeanExecutor(2)
    admission = Admission(executor, Undelivered())
    server = grpc.server(cast("ThreadPoolExecutor", executor))
    server.add_registered_method_handlers(
        "test", {name: make(rpc.Common(admission, Metrics())) for name, make in makers.items()}
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            yield channel
    finally:
        server.stop(None).wait()
        admission.stop()
        executor.shutdown()


class RecordingHandler:
    """A handler that records its calls and always returns the same response."""

    def __init__(self, answer: Any = ANSWER) -> None:
        self.answer = answer
        self.requests: list[pb.ScoreRequest] = []
        self.calls: list[Call] = []

    def __call__(self, request: pb.ScoreRequest, call: Call) -> Any:
        self.requests.append(request)
        self.calls.append(call)
        return self.answer


def raising(error: Exception) -> Handler:
    """Return a handler that raises an error."""

    def handler(request: pb.ScoreRequest, call: Call) -> Any:
        raise error

    return handler


# --- Responses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoded", [False, True], ids=["a message", "bytes"])
def test_the_result_of_a_handler_is_sent(encoded: bool) -> None:
    with answering(RecordingHandler(ANSWER.SerializeToString() if encoded else ANSWER)) as score:
        assert score(REQUEST, timeout=SECONDS) == ANSWER


def test_a_handler_receives_the_request() -> None:
    handler = RecordingHandler()

    with answering(handler) as score:
        score(REQUEST, timeout=SECONDS)

    assert handler.requests == [REQUEST]


def test_an_invalid_request_does_not_reach_its_handler() -> None:
    handler = RecordingHandler()

    with answering(handler) as score:
        expect_error(lambda: score(pb.ScoreRequest(), timeout=SECONDS))

    assert not handler.requests


def test_another_thread_can_send_on_an_open_stream() -> None:
    def handler(request: pb.ScoreRequest, call: Call, stream: Stream) -> None:
        def feed() -> None:
            for _ in range(3):
                stream.send(ANSWER.SerializeToString())
            stream.end("ENOUGH")

        threading.Thread(target=feed).start()

    with capture_logs() as logs, watching(handler) as scores:
        received = list(scores(REQUEST, timeout=SECONDS))

    assert received == [ANSWER] * 3
    (line,) = logs
    assert (line["event"], line["code"], line["reason"], line["messages"]) == ("rpc", "OK", "ENOUGH", 3)


def test_messages_of_a_stream_are_received_before_its_error() -> None:
    def handler(request: pb.ScoreRequest, call: Call, stream: Stream) -> None:
        stream.send(ANSWER.SerializeToString())
        stream.fail()

    received: list[pb.ScoreResponse] = []
    with watching(handler) as scores:
        error = expect_error(lambda: received.extend(scores(REQUEST, timeout=SECONDS)))

    assert received == [ANSWER]
    assert error.reason == "INTERNAL"


def test_a_stream_that_is_cut_off_is_cancelled_and_logged_with_the_reason() -> None:
    def handler(request: pb.ScoreRequest, call: Call, stream: Stream) -> None:
        stream.cancel("SLOW")

    with capture_logs() as logs, watching(handler) as scores, pytest.raises(grpc.RpcError) as caught:
        list(scores(REQUEST, timeout=SECONDS))

    assert caught.value.code() == grpc.StatusCode.CANCELLED
    assert [(line["code"], line["reason"]) for line in logs] == [("CANCELLED", "SLOW")]


@pytest.mark.parametrize("first", ["ENOUGH", "INTERNAL"])
def test_a_stream_ends_once_with_its_first_status(first: str) -> None:
    """A second end during the first would block the server forever."""
    ended = threading.Event()

    def handler(request: pb.ScoreRequest, call: Call, stream: Stream) -> None:
        stream.on_end(ended.set)
        if first == "INTERNAL":
            stream.fail()
        for _ in range(20):
            stream.end("ENOUGH")
            stream.fail()

    with capture_logs() as logs, watching(handler) as scores:
        call = scores(REQUEST, timeout=SECONDS)
        code = call.code()
        assert ended.wait(SECONDS)

    assert code == (grpc.StatusCode.OK if first == "ENOUGH" else grpc.StatusCode.INTERNAL)
    assert [line["reason"] for line in logs if line["event"] == "rpc"] == [first]


def test_a_rejected_stream_is_one_log_line() -> None:
    def handler(request: pb.ScoreRequest, call: Call, stream: Stream) -> None:
        raise StatusError(reasons.ERROR_REASON_GAME_NOT_FOUND, "There is no such game.")

    with capture_logs() as logs, watching(handler) as scores:
        expect_error(lambda: list(scores(REQUEST, timeout=SECONDS)))

    assert [(line["code"], line["reason"]) for line in logs] == [("NOT_FOUND", "GAME_NOT_FOUND")]


# --- Errors -----------------------------------------------------------------------------------------------------------


def test_an_error_is_sent_with_its_fields_and_metadata() -> None:
    wrong = StatusError(
        reasons.ERROR_REASON_ILLEGAL_MOVE,
        "This move is illegal.",
        fields=[FieldViolation("move", "is odd")],
        version=4,
        more="so",
    )

    with answering(raising(wrong)) as score:
        error = expect_error(lambda: score(REQUEST, timeout=SECONDS))

    assert (error.code, error.reason) == (grpc.StatusCode.FAILED_PRECONDITION, "ILLEGAL_MOVE")
    assert error.message == "This move is illegal."
    assert error.metadata == {"version": "4", "more": "so"}
    assert error.fields == {"move": "is odd"}
    assert error.retry is None


class Raised(NamedTuple):
    """An exception of a handler, and the error that the caller receives."""

    error: Exception
    code: str
    reason: str
    phrase: str
    retry: float | None


@pytest.mark.parametrize(
    "raised",
    [
        Raised(StoreUnavailable(SECRET), "UNAVAILABLE", "STORE_UNAVAILABLE", "nothing was changed", 0.2),
        Raised(Unconfirmed(SECRET), "UNAVAILABLE", "UNCONFIRMED", "with the same request_id", 0.2),
        Raised(StoreFull(SECRET), "RESOURCE_EXHAUSTED", "LIMIT", "The store is full", None),
        Raised(StoreError(SECRET), "INTERNAL", "INTERNAL", "by the call_id", None),
        Raised(ValueError(SECRET), "INTERNAL", "INTERNAL", "by the call_id", None),
        Raised(KeyError(SECRET), "INTERNAL", "INTERNAL", "by the call_id", None),
        Raised(RecursionError(SECRET), "INTERNAL", "INTERNAL", "by the call_id", None),
    ],
    ids=lambda raised: type(raised.error).__name__,
)
class TestWhatAHandlerRaises:
    """An exception becomes an error that does not contain its text."""

    def test_is_converted_to_an_error(self, raised: Raised) -> None:
        with answering(raising(raised.error)) as score:
            error = expect_error(lambda: score(REQUEST, timeout=SECONDS))

        assert (error.code.name, error.reason, error.retry) == (raised.code, raised.reason, raised.retry)
        assert raised.phrase in error.message
        assert set(error.metadata) == ({"call_id"} if raised.reason == "INTERNAL" else set())

    def test_does_not_send_its_text_to_the_caller(self, raised: Raised) -> None:
        with answering(raising(raised.error)) as score, pytest.raises(grpc.RpcError) as caught:
            score(REQUEST, timeout=SECONDS)

        received = str((caught.value, caught.value.details(), caught.value.trailing_metadata()))
        assert "Kiwi" not in received
        assert type(raised.error).__name__ not in received

    def test_writes_the_log_line_of_the_call_and_one_with_details(self, raised: Raised) -> None:
        with capture_logs() as logs, answering(raising(raised.error)) as score:
            expect_error(lambda: score(REQUEST, timeout=SECONDS))

        details, line = logs
        assert (line["event"], line["code"], line["reason"]) == ("rpc", raised.code, raised.reason)
        assert details["call_id"] == line["call_id"]


@pytest.mark.parametrize("serve", [answering, watching])
def test_an_unexpected_exception_is_logged_with_its_type_and_frames_only(serve: Any) -> None:
    def handler(*arguments: Any) -> Any:
        hidden = SECRET
        raise ValueError(hidden)

    with capture_logs() as logs, serve(handler) as score:
        error = expect_error(lambda: list(score(REQUEST, timeout=SECONDS)))

    failed = logs[0]
    assert (failed["event"], failed["log_level"], failed["error"]) == ("rpc_failed", "error", "ValueError")
    assert failed["call_id"] == error.metadata["call_id"]
    assert any("test_handlers.py" in frame and frame.endswith(" handler") for frame in failed["frames"])
    assert "Kiwi" not in str(logs)


def test_a_response_that_cannot_be_serialized_is_internal() -> None:
    class Unwritable:
        def SerializeToString(self) -> bytes:  # noqa: N802 - protobuf's name
            raise ValueError(SECRET)

    with answering(RecordingHandler(Unwritable())) as score:
        error = expect_error(lambda: score(REQUEST, timeout=SECONDS))

    assert error.reason == "INTERNAL"


# --- The call ---------------------------------------------------------------------------------------------------------


def call_received(metadata: Any = None, timeout: float | None = SECONDS) -> Call:
    """Make a call; return the call object of the handler."""
    handler = RecordingHandler()
    with answering(handler) as score:
        score(REQUEST, metadata=metadata, timeout=timeout)
    return handler.calls[0]


def test_every_call_has_an_id_of_its_own() -> None:
    assert call_received().call_id != call_received().call_id


def test_the_deadline_of_a_handler_is_slightly_before_that_of_its_caller() -> None:
    assert 0 < call_received(timeout=5.0).deadline.remaining() < 4.95


def test_a_call_without_a_deadline_has_the_maximum_deadline() -> None:
    assert 0 < call_received(timeout=None).deadline.remaining() < MAX_SECONDS


def test_a_long_deadline_is_limited() -> None:
    assert call_received(timeout=3600).deadline.remaining() < MAX_SECONDS


def test_an_expired_call_leaves_the_store_a_minimal_timeout() -> None:
    call = Call("Score", authorization=None, api_key=None, seconds=0)

    assert call.deadline.remaining() <= 0
    assert 0 < call.deadline.timeout < 0.01


def test_the_repr_of_a_call_hides_its_credentials() -> None:
    call = call_received((("authorization", "Bearer secret-token"), ("x-api-key", "secret-key")))

    assert "secret" not in repr(call) + str(call)


# --- Log lines --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("changes", "level"), [(False, "debug"), (True, "info")])
def test_a_successful_call_is_one_log_line(changes: bool, level: str) -> None:
    with capture_logs() as logs, answering(RecordingHandler(), changes=changes) as score:
        score(REQUEST, timeout=SECONDS)

    (line,) = logs
    assert line.keys() == {"event", "log_level", "method", "code", "game_id", "call_id", "ms"}
    assert (line["event"], line["log_level"], line["method"], line["code"]) == ("rpc", level, "Score", "OK")


def test_a_rejected_call_is_one_log_line_with_the_reason() -> None:
    error = StatusError(reasons.ERROR_REASON_GAME_NOT_FOUND, "There is no such game.")

    with capture_logs() as logs, answering(raising(error)) as score:
        expect_error(lambda: score(REQUEST, timeout=SECONDS))

    (line,) = logs
    assert line.keys() == {"event", "log_level", "method", "code", "reason", "game_id", "call_id", "ms"}
    assert (line["code"], line["reason"]) == ("NOT_FOUND", "GAME_NOT_FOUND")


def test_a_log_line_has_the_game_and_the_duration() -> None:
    def handler(request: pb.ScoreRequest, call: Call) -> pb.ScoreResponse:
        return ANSWER

    with capture_logs() as logs, answering(handler) as score:
        started = time.monotonic()
        score(REQUEST, timeout=SECONDS)
        waited = (time.monotonic() - started) * 1000

    assert logs[0]["game_id"] == REQUEST.game_id
    assert 0 < logs[0]["ms"] < waited


def test_an_invalid_request_is_one_log_line() -> None:
    with capture_logs() as logs, answering(RecordingHandler()) as score:
        expect_error(lambda: score(pb.ScoreRequest(game_id=str(uuid.uuid4())), timeout=SECONDS))

    (line,) = logs
    assert (line["reason"], line["game_id"]) == ("MALFORMED", "")
