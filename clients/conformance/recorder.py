"""A proxy between client and service: it records each call, forwards it, and injects the faults of a scenario.

It does not interpret calls: messages are forwarded as bytes and parsed only for the record.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn, cast

import grpc
from google.protobuf import json_format
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from clients.conformance.calls import RecordedCall
from sodafountain.v1 import game_service_pb2 as pb

SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]
_DETAILS: Final = "grpc-status-details-bin"
_DOMAIN: Final = "sodafountain"
_FORWARDED_METADATA: Final = ("authorization", "x-api-key")
_THREADS: Final = 16
_KEEPALIVE_OPTIONS: Final = (
    ("grpc.http2.min_ping_interval_without_data_ms", 500),
    ("grpc.keepalive_permit_without_calls", 1),
)
"""Allow the pings of the libraries, as the service does."""
_NO_DEADLINE: Final = 1e9
_IDLE_SECONDS: Final = 10.0
_SECONDS: Final = 20.0
"""The timeout of everything that has no deadline of its own."""

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True)
class Fault:
    """A fault that the recorder injects into a call.

    Attributes:
        kind: `unavailable`: fail with UNAVAILABLE without forwarding the call; `lost`: forward the call, then fail with
            UNAVAILABLE instead of returning its answer; `silent`: never answer; `cut`: fail the stream with
            UNAVAILABLE; `draining`: end the stream with DRAINING; `ended`: end the stream without an error; `idle`:
            forward the call once no other call is open, and fail on a timeout; `changed`: change the answer; or
            `CODE REASON`: fail with this status code and reason, for example `ABORTED CONTENTION`.
        after: the number of messages after which a stream is cut or ended, or its messages are changed.
        fields: the fields to replace in a changed answer, in JSON.
    """

    kind: str
    after: int = 0
    fields: dict[str, Any] = field(default_factory=dict)  # Any: JSON

    def changed(self, rpc: str, answer: bytes) -> bytes:
        """Return an answer with the replaced fields."""
        message = _output(rpc).FromString(answer)
        json_format.ParseDict(self.fields, message)
        return message.SerializeToString()


@dataclass
class Recorder:
    """Records the calls of one scenario.

    Attributes:
        service: a channel to the service.
        faults: the faults to inject, by the number of the call, from 1; key 0 is for all other calls.
        calls: the calls that arrived, in order.
    """

    service: grpc.Channel
    faults: Mapping[int, Fault] = field(default_factory=dict)
    calls: list[RecordedCall] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = threading.Condition(self._lock)
        self._open = 0

    def wait_until_idle(self) -> int:
        """Wait until no call is open; return the number of open calls, which is 0 unless the wait times out."""
        with self._closed:
            self._closed.wait_for(lambda: self._open == 0, _SECONDS)
            return self._open

    def answer(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Answer a unary call."""
        call, fault = self._record(rpc, request, context)
        self._inject(fault, call, context, before=True)
        try:
            reply: bytes = self._method(rpc)(request, timeout=_left(context), metadata=_forwarded_metadata(context))
        except grpc.RpcError as failure:
            call.answer = _reason(failure)
            _abort_with(failure, context)
        call.reply = _output(rpc).FromString(reply)
        if fault is not None and fault.kind == "changed":
            return fault.changed(rpc, reply)
        self._inject(fault, call, context, before=False)
        return reply

    def stream(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Answer a streaming call."""
        call, fault = self._record(rpc, request, context)
        self._inject(fault, call, context, before=True)
        messages = self._stream_method(rpc)(request, timeout=_left(context), metadata=_forwarded_metadata(context))
        context.add_callback(lambda: _cancel(messages))
        try:
            for number, message in enumerate(messages, start=1):
                if fault is not None and fault.kind == "changed":
                    yield fault.changed(rpc, message) if number > fault.after else message
                    continue
                yield message
                if fault is not None and fault.after == number:
                    messages.cancel()
                    call.answer = fault.kind
                    yield from _end_stream(fault, message, context)
                    return
        except grpc.RpcError as failure:
            if context.is_active():
                call.answer = _reason(failure)
                _abort_with(failure, context)

    def _record(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> tuple[RecordedCall, Fault | None]:
        message = _input(rpc).FromString(request)
        metadata = dict(context.invocation_metadata())
        call = RecordedCall(rpc=rpc, request=message, metadata=metadata, deadline=_left(context))
        with self._lock:
            self._open += 1
            self.calls.append(call)
            number = len(self.calls)
        if not context.add_callback(self._close_call):
            self._close_call()
        return call, self.faults.get(number, self.faults.get(0))

    def _close_call(self) -> None:
        with self._closed:
            self._open -= 1
            self._closed.notify_all()

    def _inject(self, fault: Fault | None, call: RecordedCall, context: grpc.ServicerContext, *, before: bool) -> None:
        """Inject a fault before a call is forwarded, or after the service has answered."""
        if fault is None or fault.after or fault.kind == "changed":
            return
        if fault.kind == "idle":
            if before and not self._wait_for_other_calls():
                call.answer = "streams were still open"
                context.abort(grpc.StatusCode.INTERNAL, call.answer)
            return
        call.answer = fault.kind
        match fault.kind, before:
            case "lost", False:
                context.abort(grpc.StatusCode.UNAVAILABLE, "The answer is lost.")
            case "lost", True:
                return
            case "unavailable", _:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Injected fault.")
            case "silent", _:
                cancelled = threading.Event()
                if context.add_callback(cancelled.set):
                    cancelled.wait(_SECONDS)
                context.abort(grpc.StatusCode.INTERNAL, "The client did not cancel the call.")
            case code_and_reason, _:
                code, reason = code_and_reason.split()
                _fail(grpc.StatusCode[code], reason, context)

    def _wait_for_other_calls(self) -> bool:
        with self._closed:
            return self._closed.wait_for(lambda: self._open == 1, _IDLE_SECONDS)

    def _method(self, rpc: str) -> "grpc.UnaryUnaryMultiCallable[bytes, bytes]":
        return self.service.unary_unary(f"/{SERVICE.full_name}/{rpc}")

    def _stream_method(self, rpc: str) -> "grpc.UnaryStreamMultiCallable[bytes, bytes]":
        return self.service.unary_stream(f"/{SERVICE.full_name}/{rpc}")


class RecordingServer:
    """The server that clients call. It passes their calls to a recorder, which may be replaced between scenarios."""

    def __init__(self, service: grpc.Channel) -> None:
        self.recorder = Recorder(service)
        self._service = service

    @contextmanager
    def serving(
        self, *, tls: tuple[Path, Path] | None = None, clients: Path | None = None, host: str = "127.0.0.1"
    ) -> Iterator[int]:
        """Serve on a free port; yield the port.

        Args:
            tls: the files of a private key and its certificate chain; None serves plain text.
            clients: the file with the authority of the certificates that clients must have; None requires none.
            host: the address to listen on.
        """
        server = grpc.server(
            futures.ThreadPoolExecutor(_THREADS), handlers=[_Handlers(self)], options=_KEEPALIVE_OPTIONS
        )
        if tls is None:
            port = server.add_insecure_port(f"{host}:0")
        else:
            pair = (tls[0].read_bytes(), tls[1].read_bytes())
            authority = clients.read_bytes() if clients else None
            credentials = grpc.ssl_server_credentials([pair], authority, require_client_auth=clients is not None)
            port = server.add_secure_port(f"{host}:0", credentials)
        server.start()
        try:
            yield port
        finally:
            server.stop(None).wait()

    def _method(self, method: str) -> "grpc.UnaryUnaryMultiCallable[bytes, bytes]":
        return self._service.unary_unary(method)

    def forward(self, method: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Forward a call to another service, such as a health check by the gateway, without recording it."""
        try:
            reply = self._method(method)(request, timeout=_SECONDS)
        except grpc.RpcError as failure:
            _abort_with(failure, context)
        return reply


class _Handlers(grpc.GenericRpcHandler):
    """Routes calls to the recorder; messages stay bytes."""

    def __init__(self, server: RecordingServer) -> None:
        self._server = server

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Return the handler of a call."""
        method = handler_call_details.method
        service, _, rpc = method.removeprefix("/").partition("/")
        if service != SERVICE.full_name or rpc not in SERVICE.methods_by_name:
            return grpc.unary_unary_rpc_method_handler(lambda r, c: self._server.forward(method, r, c))
        if SERVICE.methods_by_name[rpc].server_streaming:
            return grpc.unary_stream_rpc_method_handler(lambda r, c: self._server.recorder.stream(rpc, r, c))
        return grpc.unary_unary_rpc_method_handler(lambda r, c: self._server.recorder.answer(rpc, r, c))


def _cancel(call: grpc.RpcContext) -> None:
    call.cancel()


def _input(rpc: str) -> type[Message]:
    return GetMessageClass(SERVICE.methods_by_name[rpc].input_type)


def _output(rpc: str) -> type[Message]:
    return GetMessageClass(SERVICE.methods_by_name[rpc].output_type)


def _left(context: grpc.ServicerContext) -> float | None:
    # Without a deadline it is None or a huge number; the type stubs know only the number.
    left = cast("float | None", context.time_remaining())
    return left if left is not None and left < _NO_DEADLINE else None


def _forwarded_metadata(context: grpc.ServicerContext) -> Metadata:
    return tuple((key, value) for key, value in context.invocation_metadata() if key in _FORWARDED_METADATA)


def _status(failure: grpc.RpcError) -> bytes | None:
    # A sequence of pairs; the type stubs are wrong.
    pairs = cast("Iterable[tuple[str, bytes]] | None", failure.trailing_metadata()) or ()
    return next((value for key, value in pairs if key == _DETAILS), None)


def _reason(failure: grpc.RpcError) -> str:
    info = ErrorInfo()
    details: Sequence[AnyMessage] = Status.FromString(_status(failure) or b"").details
    named = (info.reason for detail in details if detail.Unpack(info))
    return next(named, failure.code().name)


def _abort_with(failure: grpc.RpcError, context: grpc.ServicerContext) -> NoReturn:
    if status := _status(failure):
        context.set_trailing_metadata(((_DETAILS, status),))
    context.abort(failure.code(), failure.details() or "")


def _fail(code: grpc.StatusCode, reason: str, context: grpc.ServicerContext) -> NoReturn:
    message = "Injected error."
    status = Status(code=code.value[0], message=message)
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain=_DOMAIN))
    status.details.append(detail)
    context.set_trailing_metadata(((_DETAILS, status.SerializeToString()),))
    context.abort(code, message)


def _end_stream(fault: Fault, last: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    if fault.kind == "cut":
        context.abort(grpc.StatusCode.UNAVAILABLE, "The stream broke.")
    if fault.kind == "draining":
        token = pb.WatchGameResponse.FromString(last).resume_token
        end = pb.WatchEnd(reason=pb.WATCH_END_REASON_DRAINING)
        yield pb.WatchGameResponse(resume_token=token, end=end).SerializeToString()
