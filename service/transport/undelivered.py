"""Responses that their callers have not read: bounded per connection, in all, and in time.

gRPC keeps a response in memory until its caller has read it. A caller that reads nothing could therefore fill the
memory with responses to requests that cost it almost nothing.
"""

import threading
from collections import defaultdict
from time import monotonic
from typing import Final, NamedTuple

import grpc

from service.contract import errors_pb2 as pb
from service.transport.errors import StatusError

CALL_BYTES: Final = 16 * 1024
"""What gRPC keeps of a call besides its response, in bytes."""
MAX_CONNECTION_BYTES: Final = 4 * 1024 * 1024
"""How much may wait for the caller of one connection before its further calls are rejected, in bytes."""
MAX_BYTES: Final = 32 * 1024 * 1024
"""How much may wait for all callers before the connection for which most waits loses its responses, in bytes."""
MAX_SECONDS: Final = 20.0
"""How long a response may wait for its caller before it is discarded."""


class _Response(NamedTuple):
    peer: str
    size: int
    since: float
    context: grpc.ServicerContext


class Undelivered:
    """The undelivered responses of a server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._responses: dict[int, _Response] = {}  # by the id of the context; the oldest first
        self._sizes: dict[str, int] = defaultdict(int)  # by connection
        self._size = 0

    def check(self, context: grpc.ServicerContext) -> None:
        """Check that a caller has read its earlier responses.

        Raises:
            StatusError: LIMIT, too much waits for it.
        """
        if self._size > MAX_CONNECTION_BYTES and self._sizes.get(context.peer(), 0) > MAX_CONNECTION_BYTES:
            raise StatusError(
                pb.ERROR_REASON_LIMIT,
                "Too many responses on this connection have not been read; nothing was changed. Read them first.",
            )

    def add(self, context: grpc.ServicerContext, size: int) -> None:
        """Add a response of `size` bytes, until gRPC has sent it or the caller is gone."""
        key = id(context)
        response = _Response(context.peer(), CALL_BYTES + size, monotonic(), context)
        with self._lock:
            self._responses[key] = response
            self._sizes[response.peer] += response.size
            self._size += response.size

        def delivered() -> None:
            self._remove(key)

        if not context.add_callback(delivered):
            delivered()
        if self._size > MAX_BYTES:
            self._discard_most()

    def check_ages(self) -> None:
        """Discard the responses that have waited for too long. Must be called often."""
        limit = monotonic() - MAX_SECONDS
        with self._lock:
            old = []
            for key, response in self._responses.items():
                if response.since > limit:
                    break
                old.append(key)
        self._discard(old)

    def _discard_most(self) -> None:
        """Discard the responses of the connection for which most waits, until little enough waits for all."""
        while True:
            with self._lock:
                if self._size <= MAX_BYTES:
                    return
                most = max(self._sizes, key=self._sizes.__getitem__)
                keys = [key for key, response in self._responses.items() if response.peer == most]
            self._discard(keys)

    def _discard(self, keys: list[int]) -> None:
        """Cancel calls whose responses were not read: gRPC frees them, and resets their streams."""
        for key in keys:
            if (response := self._remove(key)) is not None:
                response.context.cancel()

    def _remove(self, key: int) -> _Response | None:
        with self._lock:
            if (response := self._responses.pop(key, None)) is None:
                return None
            self._size -= response.size
            self._sizes[response.peer] -= response.size
            if not self._sizes[response.peer]:
                del self._sizes[response.peer]
        return response
