"""The handlers that gRPC calls. They wrap the methods of the servicer in everything that all RPCs share.

One wrapper replaces a stack of interceptors: admission, parsing, errors, the log line, metrics and the trace. It
receives and returns bytes, so that a message that does not parse, or is too large, gets an error with a reason, and no
exception of a method reaches the caller unchanged.
"""

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple, NoReturn, TypeVar

import grpc
import structlog
from google.protobuf.message import Message

from service.games import StoredGame
from service.observability.metrics import Metrics
from service.translation.encoding import encode
from service.transport.admission import Admission
from service.transport.auxiliary import Handler
from service.transport.call import Call
from service.transport.errors import StatusError, status_error
from service.transport.requests import check_size, parse_request
from service.transport.streams import ResponseStream

if TYPE_CHECKING:  # it imports OpenTelemetry, which is optional
    from service.observability.tracing import Trace, Tracing

Request = TypeVar("Request", bound=Message)
Caller = TypeVar("Caller")

_NOT_LOGGED: Final = ""

_log = structlog.get_logger()


class Response(NamedTuple):
    """The response of a method.

    Attributes:
        message: the message, encoded or not.
        game: the game that it is about, for log line and trace.
    """

    message: Message | bytes
    game: StoredGame | None = None


class Common(NamedTuple):
    """The objects that all handlers of a server share."""

    admission: Admission
    metrics: Metrics
    tracing: "Tracing | None" = None


def unary(
    method: str,
    request_type: type[Request],
    identify: Callable[[Call], Caller],
    respond: Callable[[Request, Call, Caller], Response],
    common: Common,
    *,
    writes: bool = False,
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    """Return the handler of an RPC with one request and one response.

    `identify` finds out who calls, or rejects the caller; only then is the request parsed and validated.

    Every call is logged: errors, and calls that may change something (`writes`), at level info; others at level debug,
    since players read often.

    The handler is registered as one that receives a stream of requests, which is identical on the wire. gRPC then calls
    it before the request has arrived, so that `admission` can detect callers that send none.
    """
    level = "info" if writes else "debug"

    def handle(requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        record = _CallRecord(method, context, common)
        try:
            data = common.admission.request(requests, context)
            record.started = time.perf_counter_ns()
            check_size(data)
            caller = identify(record.call)
            record.game_id = getattr(caller, "game_id", "")  # in case the request is malformed
            request = parse_request(request_type, data)
            record.game_id = getattr(request, "game_id", "")
            message, game = respond(request, record.call, caller)
            body = encode(message)
        except grpc.RpcError:
            record.finish(grpc.StatusCode.CANCELLED)
            raise
        except Exception as error:  # noqa: BLE001 - every exception becomes a status
            failure = record.fail(error)
            common.admission.responded(context)
            _abort(context, failure)
        common.admission.responded(context, len(body))
        record.finish(grpc.StatusCode.OK, game=game, level=level)
        return body

    return grpc.stream_unary_rpc_method_handler(handle)


def _abort(context: grpc.ServicerContext, failure: StatusError) -> NoReturn:
    if metadata := failure.initial_metadata():
        context.send_initial_metadata(metadata)
    context.set_trailing_metadata(failure.trailing_metadata())
    context.abort(failure.code, failure.message)


def server_stream(
    method: str,
    request_type: type[Request],
    identify: Callable[[Call], Caller],
    start: Callable[[Request, Call, Caller, ResponseStream], StoredGame | None],
    common: Common,
) -> "grpc.RpcMethodHandler[bytes, bytes]":
    """Return the handler of an RPC that starts a stream of responses and returns: no thread waits for its end.

    `start` returns the game that the stream is about. The stream is logged when it ends.
    """

    def handle(
        requests: Iterator[bytes], context: grpc.ServicerContext, send: "Callable[[bytes | None], None]"
    ) -> None:
        record = _CallRecord(method, context, common)

        def send_or_end(message: bytes | None) -> None:
            if message is None:
                common.admission.responded(context)
            send(message)

        try:
            data = common.admission.request(requests, context)
            check_size(data)
            caller = identify(record.call)
            record.game_id = getattr(caller, "game_id", "")  # in case the request is malformed
            request = parse_request(request_type, data)
            record.game_id = getattr(request, "game_id", "")
            stream = ResponseStream(record.call, record.game_id, record.trace_fields, context, send_or_end)
            game = start(request, record.call, caller, stream)
            common.metrics.stream_opened()
            stream.on_end(lambda: common.metrics.stream_ended(stream.outcome))
            stream.on_end(stream.log)
        except grpc.RpcError:
            record.finish(grpc.StatusCode.CANCELLED)
            raise
        except Exception as error:  # noqa: BLE001 - every exception becomes a status
            failure = record.fail(error)
            common.admission.responded(context)
            _abort(context, failure)
        record.finish(grpc.StatusCode.OK, game=game, level=_NOT_LOGGED)

    return grpc.stream_stream_rpc_method_handler(Handler(handle, non_blocking=True))


class _CallRecord:
    """The facts about a call for the log, the metrics and the trace."""

    __slots__ = ("_metrics", "_trace", "call", "game_id", "game_kind", "started")

    def __init__(self, method: str, context: grpc.ServicerContext, common: Common) -> None:
        self.call = Call.of(method, context)
        self.game_id = ""
        self.game_kind = ""
        self.started = time.perf_counter_ns()
        self._metrics = common.metrics
        self._trace: Trace | None = common.tracing.begin(method, context) if common.tracing else None

    @property
    def trace_fields(self) -> dict[str, str]:
        """The fields of log lines that name the trace."""
        return {"trace_id": self._trace.trace_id} if self._trace else {}

    def fail(self, error: Exception) -> StatusError:
        """Finish the call with the error response for an exception, and return the response."""
        self.game_id = self.game_id or getattr(error, "game_id", "")
        self.game_kind = getattr(error, "game_kind", "")
        failure = status_error(error, self.call)
        self.finish(failure.code, reason=failure.reason_name)
        return failure

    def finish(
        self,
        code: grpc.StatusCode,
        *,
        reason: str = "",
        game: StoredGame | None = None,
        level: str = "info",
    ) -> None:
        """Log, count and trace a call that has ended; an error has a `reason`."""
        ms = (time.perf_counter_ns() - self.started) / 1e6
        game_id = self.game_id or (game.game_id if game else "")
        if self._trace:
            kind = game.meta.kind if game else self.game_kind
            self._trace.end(code, call_id=self.call.call_id, reason=reason, game_id=game_id, game_kind=kind)
        if level != _NOT_LOGGED:
            getattr(_log, level)(
                "rpc",
                method=self.call.method,
                code=code.name,
                **({"reason": reason} if reason else {}),
                game_id=game_id,
                call_id=self.call.call_id,
                ms=ms,
                **self.trace_fields,
            )
        self._metrics.called(self.call.method, reason or code.name, ms / 1000)
