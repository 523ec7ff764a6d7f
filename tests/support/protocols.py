"""REST and gRPC-Web clients: how requests are encoded and responses decoded.

Errors are raised as the generated stub raises them: as a grpc.RpcError that carries a google.rpc.Status.
"""

import base64
import http.client
import json
import struct
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from threading import local
from typing import Any, Final, NoReturn, cast
from urllib.parse import quote, unquote, urlencode

import grpc
from google.api import annotations_pb2
from google.protobuf import json_format
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message
from google.rpc.status_pb2 import Status

from sodafountain.v1 import game_service_pb2 as pb
from tests.support.raw_calls import SERVICE, Received

Metadata = Sequence[tuple[str, str]]

CODES: Final = {code.value[0]: code for code in grpc.StatusCode}
HTTP_STATUSES: Final = {
    "INVALID_ARGUMENT": {400},
    "DEADLINE_EXCEEDED": {504, 408},
    "NOT_FOUND": {404},
    "PERMISSION_DENIED": {403},
    "UNAUTHENTICATED": {401},
    "RESOURCE_EXHAUSTED": {429, 413, 431},
    "FAILED_PRECONDITION": {400, 409, 410},
    "ABORTED": {409, 412},
    "UNIMPLEMENTED": {501, 404, 405},
    "INTERNAL": {500},
    "UNAVAILABLE": {503},
}
"""The HTTP statuses of each code. Reasons and the gateway's own errors have different ones."""
_DETAILS: Final = "grpc-status-details-bin"
PROTOCOL_HEADERS: Final = frozenset(
    (
        *("content-type", "content-length", "transfer-encoding", "vary", "cache-control", "www-authenticate"),
        *("grpc-status", "grpc-message", "grpc-accept-encoding"),
    )
)
"""Headers of the protocols, which are the same for every game."""


class Failed(grpc.RpcError):
    """The error of a call that failed or was cut off, as the generated stubs raise it."""

    def __init__(self, code: grpc.StatusCode, details: str, trailing: tuple[tuple[str, bytes], ...] = ()) -> None:
        super().__init__(f"{code.name}: {details}")
        self._code, self._details, self._trailing = code, details, trailing

    def code(self) -> grpc.StatusCode:
        return self._code

    def details(self) -> str:
        return self._details

    def initial_metadata(self) -> tuple[()]:
        return ()

    def trailing_metadata(self) -> Any:
        return self._trailing


class _Connections(local):
    """One connection for each calling thread."""

    def __init__(self, connect: Callable[[], http.client.HTTPConnection]) -> None:
        self.connection = connect()


class Protocol(ABC):
    """The common part of the protocols."""

    def __init__(self, target: str) -> None:
        self._target = target
        self._opened: list[http.client.HTTPConnection] = []
        self._connections = _Connections(self._connect)

    def _connect(self) -> http.client.HTTPConnection:
        self._opened.append(http.client.HTTPConnection(self._target))
        return self._opened[-1]

    def close(self) -> None:
        """Close all connections, even during a call."""
        for connection in self._opened:
            connection.close()

    def send(
        self,
        method: MethodDescriptor,
        request: Message,
        metadata: Metadata,
        timeout: float,
        *,
        own_connection: bool = False,
    ) -> tuple[http.client.HTTPConnection, http.client.HTTPResponse]:
        """Send a request, on a new connection if `own_connection` is true, and wait for the headers of the response."""
        verb, path, body, headers = self.encode(method, request)
        connection = self._connect() if own_connection else self._connections.connection
        connection.timeout = timeout
        if connection.sock is not None:
            connection.sock.settimeout(timeout)
        connection.putrequest(verb, path)
        for name, value in {
            **headers,
            "content-length": str(len(body)),
            "grpc-timeout": f"{timeout * 1000:.0f}m",
        }.items():
            connection.putheader(name, value)
        for name, value in metadata:
            connection.putheader(name, value)
        try:
            connection.endheaders(body)
            return connection, connection.getresponse()
        except TimeoutError:
            connection.close()
            raise Failed(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None

    @abstractmethod
    def encode(self, method: MethodDescriptor, request: Message) -> tuple[str, str, bytes, dict[str, str]]:
        """Return the verb, path, body and headers of a request."""

    @abstractmethod
    def messages(self, method: MethodDescriptor, response: http.client.HTTPResponse) -> Iterator[Message]:
        """Decode the messages of a response as they are received. Raise the error of the call."""

    def call(self, method: MethodDescriptor, request: Message, metadata: Metadata, timeout: float) -> Any:
        _, response = self.send(method, request, metadata, timeout)
        (answer,) = self.messages(method, response)
        return answer

    def call_raw(self, method: str, data: bytes, metadata: tuple[tuple[str, str], ...] = ()) -> Received:
        """Make a unary call and return everything that was received, whether it succeeds or not."""
        described = SERVICE.methods_by_name[method]
        _, response = self.send(described, _class_of(described.input_type).FromString(data), metadata, 10.0)
        wire = response.read()
        headers = tuple((name.lower(), value) for name, value in response.getheaders() if name.lower() != "date")
        try:
            (answer,) = self.messages(described, cast("Any", _BufferedResponse(response, wire)))
        except Failed as failed:
            return Received(failed.code(), b"", failed.details(), (*headers, *failed.trailing_metadata()), wire)
        return Received(grpc.StatusCode.OK, answer.SerializeToString(), "", headers, wire)


class _BufferedResponse:
    """A response that has been read and can be read again."""

    def __init__(self, response: http.client.HTTPResponse, body: bytes) -> None:
        self.status, self.headers, self._body = response.status, response.headers, body

    def getheader(self, name: str, default: str | None = None) -> str | None:
        return self.headers.get(name, default)

    def read(self, size: int = -1) -> bytes:
        size = len(self._body) if size < 0 else size
        part, self._body = self._body[:size], self._body[size:]
        return part


class Rest(Protocol):
    """REST: JSON by the annotations of the contract. Streams are lines of JSON or Server-Sent Events."""

    def __init__(self, target: str, *, sse: bool = False) -> None:
        super().__init__(target)
        self._sse = sse

    def encode(self, method: MethodDescriptor, request: Message) -> tuple[str, str, bytes, dict[str, str]]:
        rule = method.GetOptions().Extensions[annotations_pb2.http]
        verb = rule.WhichOneof("pattern")
        fields = json_format.MessageToDict(request)
        path = getattr(rule, verb).replace("{game_id}", quote(getattr(request, "game_id", ""), safe=""))
        fields.pop("gameId", None)
        headers = {"accept": "text/event-stream"} if self._sse and method.server_streaming else {}
        if rule.body:
            return verb.upper(), path, json.dumps(fields).encode(), {**headers, "content-type": "application/json"}
        query = urlencode(
            {name: json.dumps(value).strip('"') if isinstance(value, bool) else value for name, value in fields.items()}
        )
        return verb.upper(), f"{path}?{query}" if query else path, b"", headers

    def messages(self, method: MethodDescriptor, response: http.client.HTTPResponse) -> Iterator[Message]:
        kind = response.getheader("content-type", "")
        if response.status != http.HTTPStatus.OK:
            assert kind == "application/json", f"{response.status} {kind}: {response.read()!r}"
            _raise_status(response.status, response.read())
        message_class = _class_of(method.output_type)
        if not method.server_streaming:
            assert kind == "application/json"
            yield json_format.Parse(response.read(), message_class())
            return
        assert kind == ("text/event-stream" if self._sse else "application/json")
        for line in iter(response.readline, b""):
            if self._sse and line == b"\n":
                continue  # between two events
            assert line.endswith(b"\n")
            assert not self._sse or line.startswith(b"data: ")
            yield json_format.Parse(line.removeprefix(b"data: "), message_class())


class Web(Protocol):
    """gRPC-Web: frames of protobuf, as bytes or in base64. The last frame holds the trailers."""

    def __init__(self, target: str, *, text: bool = False) -> None:
        super().__init__(target)
        self._text = text

    def encode(self, method: MethodDescriptor, request: Message) -> tuple[str, str, bytes, dict[str, str]]:
        data = request.SerializeToString()
        body = struct.pack(">BI", 0, len(data)) + data
        kind = "application/grpc-web-text" if self._text else "application/grpc-web+proto"
        path = f"/{SERVICE.full_name}/{method.name}"
        headers = {"content-type": kind, "accept": kind, "x-grpc-web": "1"}
        return "POST", path, base64.b64encode(body) if self._text else body, headers

    def messages(self, method: MethodDescriptor, response: http.client.HTTPResponse) -> Iterator[Message]:
        assert response.status == http.HTTPStatus.OK, f"{response.status}: {response.read()!r}"
        assert response.getheader("content-type", "").startswith("application/grpc-web")
        if (status := response.getheader("grpc-status")) is not None:
            assert not response.read()
            _raise_unless_ok(
                {"grpc-status": status, **{name.lower(): value for name, value in response.headers.items()}}
            )
        read = self._reader(response)
        while True:
            flags, length = struct.unpack(">BI", read(5))
            data = read(length)
            if flags & 0x80:
                trailers = (line.split(":", 1) for line in data.decode().splitlines())
                assert not response.read(), "unexpected data after the trailers"
                _raise_unless_ok({name.lower(): value.strip() for name, value in trailers})
                return
            yield _class_of(method.output_type).FromString(data)

    def _reader(self, response: http.client.HTTPResponse) -> Callable[[int], bytes]:
        if not self._text:
            return response.read
        decoded = bytearray()

        def read(size: int) -> bytes:
            while len(decoded) < size:
                decoded.extend(base64.b64decode(response.read(4), validate=True))  # padding may be anywhere
            part = bytes(decoded[:size])
            del decoded[:size]
            return part

        return read


def _class_of(descriptor: Any) -> Any:
    return getattr(pb, descriptor.name)


def _raise_status(http_status: int, body: bytes) -> NoReturn:
    """Raise the error that a google.rpc.Status in JSON describes."""
    status = json_format.Parse(body, Status())
    code = CODES[status.code]
    assert http_status in HTTP_STATUSES[code.name], f"{http_status} with {code.name}"
    raise Failed(code, status.message, ((_DETAILS, status.SerializeToString()),))


def _raise_unless_ok(trailers: dict[str, str]) -> None:
    """Raise the error that the trailers of gRPC-Web describe."""
    code = CODES[int(trailers["grpc-status"])]
    if code == grpc.StatusCode.OK:
        return
    raw = trailers.get(_DETAILS, "")
    details = base64.b64decode(raw + "=" * (-len(raw) % 4))
    raise Failed(code, unquote(trailers.get("grpc-message", "")), ((_DETAILS, details),) if details else ())
