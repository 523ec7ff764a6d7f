"""Stands between client and service: notes every call that arrives, hands it on, and makes the trouble it is told to.

It knows no call's meaning: messages go through as bytes, and are read for the notes alone.
"""

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, cast

import grpc
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message
from google.protobuf.message_factory import GetMessageClass
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from clients.conformance.calls import Note
from sodafountain.v1 import game_service_pb2 as pb

SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]
_DETAILS: Final = "grpc-status-details-bin"
_DOMAIN: Final = "sodafountain.v1"
_HANDED_ON: Final = ("authorization", "x-api-key")
_THREADS: Final = 16
_FOR_EVER: Final = 1e9
_CALM_SECONDS: Final = 10.0
_SECONDS: Final = 20.0
"""How long anything may take that nobody limited."""

Metadata = tuple[tuple[str, str | bytes], ...]


@dataclass(frozen=True)
class Trouble:
    """What happens to a call.

    Attributes:
        kind: `unavailable`: it is refused with UNAVAILABLE and not handed on; `lost`: it is carried out, and then so
            refused; `silent`: nothing is answered; `cut`: its stream breaks off; `draining`: its stream ends with
            DRAINING; `ended`: its stream ends without a word; `calm`: it is handed on once no other call is open, and
            refused if that does not come; or `CODE REASON`: it is refused with this status code for
            this reason, `ABORTED CONTENTION` for instance.
        after: after how many messages a stream is cut or ended.
    """

    kind: str
    after: int = 0


@dataclass
class Recorder:
    """Notes the calls of one scenario.

    Attributes:
        service: a channel to the service.
        troubles: the trouble to make, by the number of the call, from 1; key 0 is for every call without its own.
        notes: the calls that arrived, in order.
    """

    service: grpc.Channel
    troubles: Mapping[int, Trouble] = field(default_factory=dict)
    notes: list[Note] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._quiet = threading.Condition(self._lock)
        self._open = 0

    def settled(self) -> int:
        """Waits until no call is under way; returns how many still are."""
        with self._quiet:
            self._quiet.wait_for(lambda: self._open == 0, _SECONDS)
            return self._open

    def answer(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Answers a call that is no stream."""
        note, trouble = self._noted(rpc, request, context)
        self._make(trouble, note, context, before=True)
        try:
            reply: bytes = self._method(rpc)(request, timeout=_left(context), metadata=_handed_on(context))
        except grpc.RpcError as failure:
            note.answer = _reason(failure)
            _pass_on(failure, context)
        note.reply = _output(rpc).FromString(reply)
        self._make(trouble, note, context, before=False)
        return reply

    def stream(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
        """Answers a call that is a stream."""
        note, trouble = self._noted(rpc, request, context)
        self._make(trouble, note, context, before=True)
        messages = self._stream_method(rpc)(request, timeout=_left(context), metadata=_handed_on(context))
        context.add_callback(lambda: _drop(messages))
        try:
            for number, message in enumerate(messages, start=1):
                yield message
                if trouble is not None and trouble.after == number:
                    messages.cancel()
                    note.answer = trouble.kind
                    yield from _end(trouble, message, context)
                    return
        except grpc.RpcError as failure:
            if context.is_active():
                note.answer = _reason(failure)
                _pass_on(failure, context)

    def _noted(self, rpc: str, request: bytes, context: grpc.ServicerContext) -> tuple[Note, Trouble | None]:
        message = _input(rpc).FromString(request)
        metadata = dict(context.invocation_metadata())
        note = Note(rpc=rpc, request=message, metadata=metadata, deadline=_left(context))
        with self._lock:
            self._open += 1
            self.notes.append(note)
            number = len(self.notes)
        if not context.add_callback(self._over):
            self._over()
        return note, self.troubles.get(number, self.troubles.get(0))

    def _over(self) -> None:
        with self._quiet:
            self._open -= 1
            self._quiet.notify_all()

    def _make(self, trouble: Trouble | None, note: Note, context: grpc.ServicerContext, *, before: bool) -> None:
        """Makes the trouble that comes before a call is handed on, or after it was carried out."""
        if trouble is None or trouble.after:
            return
        if trouble.kind == "calm":
            if before and not self._calm():
                note.answer = "streams were still open"
                context.abort(grpc.StatusCode.INTERNAL, note.answer)
            return
        note.answer = trouble.kind
        match trouble.kind, before:
            case "lost", False:
                context.abort(grpc.StatusCode.UNAVAILABLE, "The answer is lost.")
            case "lost", True:
                return
            case "unavailable", _:
                context.abort(grpc.StatusCode.UNAVAILABLE, "Nobody is there.")
            case "silent", _:
                gone = threading.Event()
                if context.add_callback(gone.set):
                    gone.wait(_SECONDS)
                context.abort(grpc.StatusCode.INTERNAL, "The caller waited longer than anybody should.")
            case refusal, _:
                code, reason = refusal.split()
                _refuse(grpc.StatusCode[code], reason, context)

    def _calm(self) -> bool:
        with self._quiet:
            return self._quiet.wait_for(lambda: self._open == 1, _CALM_SECONDS)

    def _method(self, rpc: str) -> "grpc.UnaryUnaryMultiCallable[bytes, bytes]":
        return self.service.unary_unary(f"/{SERVICE.full_name}/{rpc}")

    def _stream_method(self, rpc: str) -> "grpc.UnaryStreamMultiCallable[bytes, bytes]":
        return self.service.unary_stream(f"/{SERVICE.full_name}/{rpc}")


class Desk:
    """Where clients call: a server whose calls go to a recorder, which may be changed between scenarios."""

    def __init__(self, service: grpc.Channel) -> None:
        self.recorder = Recorder(service)
        self._service = service

    @contextmanager
    def serving(self, *, tls: tuple[Path, Path] | None = None) -> Iterator[int]:
        """Serves on a free port of 127.0.0.1 for the length of the block.

        Args:
            tls: the files of a private key and its certificate chain; plain text when None.
        """
        server = grpc.server(futures.ThreadPoolExecutor(_THREADS), handlers=[_Handlers(self)])
        if tls is None:
            port = server.add_insecure_port("127.0.0.1:0")
        else:
            pair = (tls[0].read_bytes(), tls[1].read_bytes())
            port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([pair]))
        server.start()
        try:
            yield port
        finally:
            server.stop(None).wait()

    def _method(self, method: str) -> "grpc.UnaryUnaryMultiCallable[bytes, bytes]":
        return self._service.unary_unary(method)

    def hand_on(self, method: str, request: bytes, context: grpc.ServicerContext) -> bytes:
        """Hands a call on that is none of the games' (a gateway's question for health), without a note."""
        try:
            reply = self._method(method)(request, timeout=_SECONDS)
        except grpc.RpcError as failure:
            _pass_on(failure, context)
        return reply


class _Handlers(grpc.GenericRpcHandler):
    """Finds the handler of a call; messages stay bytes."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def service(self, handler_call_details: grpc.HandlerCallDetails) -> "grpc.RpcMethodHandler[bytes, bytes]":
        """Finds it."""
        method = handler_call_details.method
        service, _, rpc = method.removeprefix("/").partition("/")
        if service != SERVICE.full_name or rpc not in SERVICE.methods_by_name:
            return grpc.unary_unary_rpc_method_handler(lambda r, c: self._desk.hand_on(method, r, c))
        if SERVICE.methods_by_name[rpc].server_streaming:
            return grpc.unary_stream_rpc_method_handler(lambda r, c: self._desk.recorder.stream(rpc, r, c))
        return grpc.unary_unary_rpc_method_handler(lambda r, c: self._desk.recorder.answer(rpc, r, c))


def _drop(call: grpc.RpcContext) -> None:
    call.cancel()


def _input(rpc: str) -> type[Message]:
    return GetMessageClass(SERVICE.methods_by_name[rpc].input_type)


def _output(rpc: str) -> type[Message]:
    return GetMessageClass(SERVICE.methods_by_name[rpc].output_type)


def _left(context: grpc.ServicerContext) -> float | None:
    # None, or longer than anybody lives, where there is no deadline: whatever the stubs say.
    left = cast("float | None", context.time_remaining())
    return left if left is not None and left < _FOR_EVER else None


def _handed_on(context: grpc.ServicerContext) -> Metadata:
    return tuple((key, value) for key, value in context.invocation_metadata() if key in _HANDED_ON)


def _status(failure: grpc.RpcError) -> bytes | None:
    # Pairs, whatever the stubs say.
    pairs = cast("Iterable[tuple[str, bytes]] | None", failure.trailing_metadata()) or ()
    return next((value for key, value in pairs if key == _DETAILS), None)


def _reason(failure: grpc.RpcError) -> str:
    info = ErrorInfo()
    details: Sequence[AnyMessage] = Status.FromString(_status(failure) or b"").details
    named = (info.reason for detail in details if detail.Unpack(info))
    return next(named, failure.code().name)


def _pass_on(failure: grpc.RpcError, context: grpc.ServicerContext) -> NoReturn:
    if status := _status(failure):
        context.set_trailing_metadata(((_DETAILS, status),))
    context.abort(failure.code(), failure.details() or "")


def _refuse(code: grpc.StatusCode, reason: str, context: grpc.ServicerContext) -> NoReturn:
    message = "It was refused."
    status = Status(code=code.value[0], message=message)
    detail = AnyMessage()
    detail.Pack(ErrorInfo(reason=reason, domain=_DOMAIN))
    status.details.append(detail)
    context.set_trailing_metadata(((_DETAILS, status.SerializeToString()),))
    context.abort(code, message)


def _end(trouble: Trouble, last: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
    if trouble.kind == "cut":
        context.abort(grpc.StatusCode.UNAVAILABLE, "The stream broke.")
    if trouble.kind == "draining":
        token = pb.WatchGameResponse.FromString(last).resume_token
        end = pb.WatchEnd(reason=pb.WATCH_END_REASON_DRAINING)
        yield pb.WatchGameResponse(resume_token=token, end=end).SerializeToString()
