"""Calls at the level of bytes: requests that may be malformed, and everything that a response contains."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple, Protocol

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS

SERVICE = pb.DESCRIPTOR.services_by_name["GameService"]
METHODS = tuple(method.name for method in SERVICE.methods)


def call_with_bytes(channel: grpc.Channel, method: str, data: bytes, *, timeout: float = SECONDS, **how: Any) -> bytes:
    """Send bytes as the request of a method of the service; return the bytes of the response or responses."""
    path = f"/{SERVICE.full_name}/{method}"
    if SERVICE.methods_by_name[method].server_streaming:
        stream: Any = channel.unary_stream(path)
        return b"".join(stream(data, timeout=timeout, **how))
    unary: Any = channel.unary_unary(path)
    answer: bytes = unary(data, timeout=timeout, **how)
    return answer


class Received(NamedTuple):
    """Everything that a caller receives from one call.

    Attributes:
        code: the status of the call.
        body: the response in protobuf; empty for an error.
        details: the message of an error.
        metadata: the metadata, and headers of HTTP.
        wire: the response as it was received, if it was not in protobuf.
    """

    code: grpc.StatusCode
    body: bytes
    details: str
    metadata: tuple[tuple[str, str | bytes], ...]
    wire: bytes = b""

    @property
    def everything(self) -> bytes:
        """Return all of it as bytes, for a search."""
        parts = [self.body, self.wire, self.details.encode()]
        for key, value in self.metadata:
            parts += [key.encode(), value if isinstance(value, bytes) else value.encode()]
        return b"\n".join(parts)


class RawCaller(Protocol):
    """A transport other than gRPC that returns everything it receives."""

    def call_raw(self, method: str, data: bytes, metadata: tuple[tuple[str, str], ...] = ()) -> Received:
        """Make a unary call, whether it succeeds or not."""


def call_raw(
    channel: grpc.Channel | RawCaller, method: str, data: bytes, metadata: tuple[tuple[str, str], ...] = ()
) -> Received:
    """Make a unary call, whether it succeeds or not, and return everything that was received."""
    if not isinstance(channel, grpc.Channel):
        return channel.call_raw(method, data, metadata)
    unary: Any = channel.unary_unary(f"/{SERVICE.full_name}/{method}")
    call: Any
    try:
        body, call = unary.with_call(data, metadata=metadata, timeout=SECONDS)
    except grpc.RpcError as error:
        body, call = b"", error
    metadata_received = (*(call.initial_metadata() or ()), *(call.trailing_metadata() or ()))
    return Received(call.code(), body, call.details() or "", tuple((key, value) for key, value in metadata_received))


@contextmanager
def unfinished() -> Iterator[Callable[[], Iterator[Any]]]:
    """Yield a function that returns requests which send nothing during the block."""
    over = Event()

    def requests() -> Iterator[Any]:
        over.wait()
        yield from ()

    try:
        yield requests
    finally:
        over.set()
