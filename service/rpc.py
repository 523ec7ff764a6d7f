"""What is done around every RPC: parsing, validation, errors, the log line.

One wrapper instead of a stack of interceptors. gRPC hands us bytes and takes bytes: a message that does not parse, or
is too large, is then refused in our own words, and nothing that a handler raises reaches the caller as it is.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import grpc
import structlog
from google.protobuf.message import DecodeError, Message

from service import wire
from service.admission import Admission
from service.call import Call
from service.errors import STATUS_KEY, FieldProblem, Refusal
from service.metrics import Metrics
from service.store import StoreError, StoreFull, StoreUnavailable, Unconfirmed
from service.telemetry import frames
from service.validation import violations
from service.watching import Stream
from sodafountain.v1 import errors_pb2 as pb

if TYPE_CHECKING:  # it imports OpenTelemetry, which may not be there
    from service.tracing import Trace, Tracing

MAX_REQUEST_BYTES: Final = 64 * 1024
"""The largest request, in bytes; moves and options take far less."""

Request = TypeVar("Request", bound=Message)
Response = TypeVar("Response", bound=Message)

_log = structlog.get_logger()


def unary(
    method: str,
    request_type: type[Request],
    handler: Callable[[Request, Call], Message | bytes],
    admission: Admission,
    metrics: Metrics,
    tracing: "Tracing | None" = None,
    *,
    changes: bool = False,
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    """Wraps a handler of one request and one response.

    Every call logs a line: refusals and calls that may change something (`changes`) at the level info, calls that only
    look at the level debug, since players look again and again.

    To gRPC it handles a stream of requests, which looks the same on the wire: it is then called before the request has
    arrived, so that `admission` can see who keeps it back.
    """
    done = _log.info if changes else _log.debug

    def behave(requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        call = Call.of(method, context)
        trace = tracing.begin(method, context) if tracing else None
        started = time.perf_counter_ns()
        try:
            data = admission.request(requests, context)
            started = time.perf_counter_ns()
            answer = handler(parse(request_type, data), call)
            response = wire.encoded(answer)
        except grpc.RpcError:
            _over(call, trace, started, metrics, grpc.StatusCode.CANCELLED)
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, the caller gets an answer in our words
            _refuse(refusal_for(error, call), call, trace, context, started, metrics)
        _over(call, trace, started, metrics, grpc.StatusCode.OK, log=done)
        return response

    return grpc.stream_unary_rpc_method_handler(behave)


def watching(
    method: str,
    request_type: type[Request],
    handler: Callable[[Request, Call, Stream], None],
    admission: Admission,
    metrics: Metrics,
    tracing: "Tracing | None" = None,
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    """Wraps a handler of one request that begins a stream of responses and returns: no thread waits for its end.

    The stream logs its line when it has ended.
    """

    def behave(
        requests: Iterator[bytes], context: grpc.ServicerContext, send: "Callable[[bytes | None], None]"
    ) -> None:
        started = time.perf_counter_ns()
        call = Call.of(method, context)
        trace = tracing.begin(method, context) if tracing else None
        try:
            request = parse(request_type, admission.request(requests, context))
            stream = _Stream(call, trace, context, send)
            handler(request, call, stream)
            metrics.stream_opened()
            stream.when_gone(lambda: metrics.stream_ended(stream.outcome))
            stream.when_gone(stream.log)
        except grpc.RpcError:
            _over(call, trace, started, metrics, grpc.StatusCode.CANCELLED)
            raise
        except Exception as error:  # noqa: BLE001 - as above
            _refuse(refusal_for(error, call), call, trace, context, started, metrics)
        else:
            if trace:
                trace.end(call, grpc.StatusCode.OK)
            metrics.called(method, "OK", _ms(started) / 1000)

    return grpc.stream_stream_rpc_method_handler(Behaviour(behave, non_blocking=True))


class Behaviour:
    """What gRPC calls, with the attributes by which it looks for its ways.

    Attributes:
        experimental_non_blocking: whether the handler of a stream returns at once and sends later, by a callback
            that it is given.
        experimental_thread_pool: the threads that run it; None: the server's.
    """

    def __init__(
        self, behave: Callable[..., Any], *, non_blocking: bool = False, threads: ThreadPoolExecutor | None = None
    ) -> None:
        self._behave = behave
        self.experimental_non_blocking = non_blocking
        self.experimental_thread_pool = threads

    def __call__(self, *arguments: Any) -> Any:
        """Handles a call."""
        return self._behave(*arguments)


class _Stream:
    """The stream of a call."""

    def __init__(
        self,
        call: Call,
        trace: "Trace | None",
        context: grpc.ServicerContext,
        send: "Callable[[bytes | None], None]",
    ) -> None:
        self._call = call
        self._trace = trace
        self._context = context
        self._send = send
        self._started = time.perf_counter_ns()
        self._messages = 0
        self._code = grpc.StatusCode.CANCELLED
        self._reason = ""
        self._ending = threading.Lock()  # taken for good by whoever ends the stream: gRPC loses count if two do

    def send(self, message: bytes) -> None:
        """Sends a message; blocks until the transport has taken it."""
        self._messages += 1
        self._send(message)

    def end(self, reason: str) -> None:
        """Ends the stream in good order, unless it has been ended."""
        if self._ending.acquire(blocking=False):
            self._code, self._reason = grpc.StatusCode.OK, reason
            self._send(None)

    def fail(self) -> None:
        """Ends the stream with an error, unless it has been ended."""
        if not self._ending.acquire(blocking=False):
            return
        refusal = _internal(self._call)
        self._code, self._reason = refusal.code, refusal.reason_name
        self._context.set_code(refusal.code)
        self._context.set_details(refusal.sentence)
        self._context.set_trailing_metadata(((STATUS_KEY, refusal.status().SerializeToString()),))
        self._send(None)

    def cut(self, reason: str) -> None:
        """Cuts the stream off."""
        self._reason = reason
        self._context.cancel()

    def when_gone(self, callback: Callable[[], None]) -> None:
        """Has the callback called when the stream has ended."""
        if not self._context.add_callback(callback):
            callback()

    @property
    def outcome(self) -> str:
        """What ended the stream: the service, for one of its reasons, or (CANCELLED) the caller."""
        return self._reason or self._code.name

    def log(self) -> None:
        """Logs the line of a stream that has ended."""
        _log.info(
            "rpc",
            method=self._call.method,
            code=self._code.name,
            reason=self._reason,
            game_id=self._call.game_id,
            call_id=self._call.call_id,
            messages=self._messages,
            ms=_ms(self._started),
            **_traced(self._trace),
        )


def parse(request_type: type[Request], data: bytes) -> Request:
    """Parse and validate a request.

    Raises:
        Refusal: LIMIT if it is too large, MALFORMED if it does not parse or a field is invalid.
    """
    if len(data) > MAX_REQUEST_BYTES:
        raise Refusal(
            pb.ERROR_REASON_LIMIT, f"The request has {len(data)} bytes; at most {MAX_REQUEST_BYTES} are accepted."
        )
    request = request_type()
    try:
        request.ParseFromString(data)
    except DecodeError:
        raise Refusal(
            pb.ERROR_REASON_MALFORMED, f"The bytes sent are not a {request_type.DESCRIPTOR.full_name}."
        ) from None
    if problems := [FieldProblem(*violation) for violation in violations(request)]:
        sentence = "; ".join(f"{field} {problem}" for field, problem in problems)
        raise Refusal(pb.ERROR_REASON_MALFORMED, sentence, fields=problems)
    return request


def refusal_for(error: Exception, call: Call) -> Refusal:
    """Translates whatever a handler raised into an answer; what was not foreseen is logged without its words."""
    match error:
        case Refusal():
            return error
        case StoreUnavailable():
            _log.warning("store_unavailable", call_id=call.call_id, problem=str(error))
            return Refusal(
                pb.ERROR_REASON_STORE_UNAVAILABLE,
                "The store cannot be reached and nothing was changed; try again soon.",
            )
        case Unconfirmed():
            _log.warning("store_unconfirmed", call_id=call.call_id, problem=str(error))
            return Refusal(
                pb.ERROR_REASON_UNCONFIRMED, "Whether this was stored is not known: send the same request id again."
            )
        case StoreFull():
            _log.error("store_full", call_id=call.call_id)
            return Refusal(pb.ERROR_REASON_LIMIT, "The store is full; nothing was changed.")
        case StoreError():
            _log.error("store_failed", call_id=call.call_id, problem=str(error))
            return _internal(call)
    _log.error("rpc_failed", method=call.method, call_id=call.call_id, error=type(error).__name__, frames=frames(error))
    return _internal(call)


def _internal(call: Call) -> Refusal:
    return Refusal(
        pb.ERROR_REASON_INTERNAL, "The service failed; its operator finds why under the call id.", call_id=call.call_id
    )


def _over(
    call: Call,
    trace: "Trace | None",
    started: int,
    metrics: Metrics,
    code: grpc.StatusCode,
    *,
    reason: str = "",
    log: Callable[..., Any] | None = None,
) -> None:
    """Logs and counts a call that is over, and ends its span; a refusal has a `reason` too."""
    ms = _ms(started)
    if trace:
        trace.end(call, code, reason)
    (log or _log.info)(
        "rpc",
        method=call.method,
        code=code.name,
        **({"reason": reason} if reason else {}),
        game_id=call.game_id,
        call_id=call.call_id,
        ms=ms,
        **_traced(trace),
    )
    metrics.called(call.method, reason or code.name, ms / 1000)


def _traced(trace: "Trace | None") -> dict[str, str]:
    """Names the trace in a log line."""
    return {"trace_id": trace.trace_id} if trace else {}


def _refuse(
    refusal: Refusal,
    call: Call,
    trace: "Trace | None",
    context: grpc.ServicerContext,
    started: int,
    metrics: Metrics,
) -> NoReturn:
    _over(call, trace, started, metrics, refusal.code, reason=refusal.reason_name)
    context.set_trailing_metadata(((STATUS_KEY, refusal.status().SerializeToString()),))
    context.abort(refusal.code, refusal.sentence)


def _ms(started: int) -> float:
    return (time.perf_counter_ns() - started) / 1e6
