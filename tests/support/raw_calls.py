"""Calls as bytes: what a hostile client may send, and what a curious one may hear."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Event
from typing import Any, NamedTuple, Protocol

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from tests.support.game_clients import SECONDS

SERVICE = pb.DESCRIPTOR.services_by_name["GameService"]
METHODS = tuple(method.name for method in SERVICE.methods)


def ask(channel: grpc.Channel, method: str, data: bytes, *, timeout: float = SECONDS, **how: Any) -> bytes:
    """Sends bytes as the request of one of the service's methods; returns the bytes of the answer or answers."""
    path = f"/{SERVICE.full_name}/{method}"
    if SERVICE.methods_by_name[method].server_streaming:
        stream: Any = channel.unary_stream(path)
        return b"".join(stream(data, timeout=timeout, **how))
    unary: Any = channel.unary_unary(path)
    answer: bytes = unary(data, timeout=timeout, **how)
    return answer


class Received(NamedTuple):
    """Everything that a caller hears of one call.

    Attributes:
        code: how it ended.
        body: the answer in protobuf; empty where there was none.
        details: the sentence of a refusal.
        metadata: what came beside it, headers of HTTP too.
        wire: the answer as it came, where it came otherwise than in protobuf.
    """

    code: grpc.StatusCode
    body: bytes
    details: str
    metadata: tuple[tuple[str, str | bytes], ...]
    wire: bytes = b""

    @property
    def everything(self) -> bytes:
        """All of it, to be searched."""
        parts = [self.body, self.wire, self.details.encode()]
        for key, value in self.metadata:
            parts += [key.encode(), value if isinstance(value, bytes) else value.encode()]
        return b"\n".join(parts)


class RawCaller(Protocol):
    """A way to the service other than gRPC, on which everything is received."""

    def call_raw(self, method: str, data: bytes, metadata: tuple[tuple[str, str], ...] = ()) -> Received:
        """Makes a call of one answer, whatever comes of it."""


def call_raw(
    channel: grpc.Channel | RawCaller, method: str, data: bytes, metadata: tuple[tuple[str, str], ...] = ()
) -> Received:
    """Makes a call of one answer, whatever comes of it."""
    if not isinstance(channel, grpc.Channel):
        return channel.call_raw(method, data, metadata)
    unary: Any = channel.unary_unary(f"/{SERVICE.full_name}/{method}")
    call: Any
    try:
        body, call = unary.with_call(data, metadata=metadata, timeout=SECONDS)
    except grpc.RpcError as error:
        body, call = b"", error
    metadata_heard = (*(call.initial_metadata() or ()), *(call.trailing_metadata() or ()))
    return Received(call.code(), body, call.details() or "", tuple((key, value) for key, value in metadata_heard))


@contextmanager
def unfinished() -> Iterator[Callable[[], Iterator[Any]]]:
    """Requests of a client that begins calls and, for the length of the block, sends nothing; made for each call."""
    over = Event()

    def requests() -> Iterator[Any]:
        over.wait()
        yield from ()

    try:
        yield requests
    finally:
        over.set()
