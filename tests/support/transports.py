"""Stubs that call the service over REST and gRPC-Web through a gateway.

They have the part of the generated stub's interface that tests use, and raise the same errors. A test can run over
every transport.
"""

import http.client
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, Final, cast

import grpc
import pytest
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.protocols import Failed, Metadata, Protocol, Rest, Web
from tests.support.raw_calls import SERVICE, RawCaller
from tests.support.service import channel_to

EVERY_TRANSPORT: Final = pytest.mark.transports("grpc", "rest", "web")
EVERY_STREAM: Final = pytest.mark.transports("grpc", "rest", "sse", "web", "web-text")


class _Stream:
    """A streaming call."""

    def __init__(
        self, protocol: Protocol, method: MethodDescriptor, request: Message, metadata: Metadata, timeout: float
    ) -> None:
        self._deadline = time.monotonic() + timeout
        self._begin = partial(protocol.send, method, request, metadata, timeout, own_connection=True)
        self._read: Callable[[http.client.HTTPResponse], Iterator[Message]] = partial(protocol.messages, method)
        self._connection: http.client.HTTPConnection | None = None
        self._messages: Iterator[Message] = iter(())
        self._sock: socket.socket | None = None
        self._code: grpc.StatusCode | None = None

    def __iter__(self) -> "_Stream":
        return self

    def __next__(self) -> Any:
        if self._code not in {None, grpc.StatusCode.OK}:
            raise Failed(cast("grpc.StatusCode", self._code), "The stream has ended.")
        try:
            if self._connection is None:
                self._connection, response = self._begin()
                self._sock = self._connection.sock or _socket_of(response)
                self._messages = self._read(response)
            if self._sock is not None:
                self._sock.settimeout(max(0.001, self._deadline - time.monotonic()))
            return next(self._messages)
        except StopIteration:
            self._end(grpc.StatusCode.OK)
            raise
        except Failed as failed:
            self._end(failed.code())
            raise
        except TimeoutError:
            self._end(grpc.StatusCode.DEADLINE_EXCEEDED)
            raise Failed(grpc.StatusCode.DEADLINE_EXCEEDED, "Deadline Exceeded") from None
        except (OSError, http.client.HTTPException, ValueError, AttributeError) as error:
            if self._code is None:
                self._end(grpc.StatusCode.UNAVAILABLE)
            raise Failed(cast("grpc.StatusCode", self._code), str(error)) from None

    def cancel(self) -> None:
        """Close the connection."""
        self._end(grpc.StatusCode.CANCELLED)

    def __del__(self) -> None:
        self.cancel()

    def code(self) -> grpc.StatusCode:
        """Wait for the end and return the status."""
        while self._code is None:
            with suppress(grpc.RpcError, StopIteration):
                next(self)
        return self._code

    def _end(self, code: grpc.StatusCode) -> None:
        if self._code is None:
            self._code = code
        if self._sock is not None:
            with suppress(OSError):
                self._sock.shutdown(socket.SHUT_RDWR)
        if self._connection is not None:
            self._connection.close()


def _socket_of(response: http.client.HTTPResponse) -> socket.socket | None:
    found: socket.socket | None = getattr(getattr(response.fp, "raw", None), "_sock", None)
    return found


class _Stub:
    """Has a callable for each method of the service, like the generated stub."""

    def __init__(self, protocol: Protocol) -> None:
        for method in SERVICE.methods:
            setattr(self, method.name, _callable(protocol, method))


def _callable(protocol: Protocol, method: MethodDescriptor) -> Callable[..., Any]:
    def call(request: Message, *, metadata: Metadata = (), timeout: float) -> Any:
        if method.server_streaming:
            return _Stream(protocol, method, request, metadata, timeout)
        return protocol.call(method, request, metadata, timeout)

    return call


PROTOCOLS: Final[dict[str, Callable[[str], Protocol]]] = {
    "rest": Rest,
    "sse": lambda target: Rest(target, sse=True),
    "web": Web,
    "web-text": lambda target: Web(target, text=True),
}


@contextmanager
def raw_caller_over(transport: str, service: str, gateway_of: Callable[[str], str]) -> Iterator[RawCaller | None]:
    """Yield a raw caller over a transport; None for gRPC, where the channel is used."""
    if transport == "grpc":
        yield None
    else:
        protocol = PROTOCOLS[transport](gateway_of(service))
        try:
            yield protocol
        finally:
            protocol.close()


@contextmanager
def stub_over(transport: str, service: str, gateway_of: Callable[[str], str]) -> Iterator[GameServiceStub]:
    """Connect to a service over a transport.

    Args:
        transport: `grpc`, or one of PROTOCOLS.
        service: the service's address.
        gateway_of: returns the address of a gateway to a service.
    """
    if transport == "grpc":
        with channel_to(service) as channel:
            yield GameServiceStub(channel)
    else:
        protocol = PROTOCOLS[transport](gateway_of(service))
        try:
            yield cast("GameServiceStub", _Stub(protocol))
        finally:
            protocol.close()
