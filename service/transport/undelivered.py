"""Responses that their callers have not read: bounded per connection, in all, and in time.

gRPC keeps a response in memory until its caller has read it. A caller that reads nothing could therefore fill the
memory with responses to requests that cost it almost nothing.
"""

import threading
from itertools import islice, takewhile
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
PROMPT_SECONDS: Final = 1.0
"""How long a response may wait in any case: a busy server itself needs time to send, and to learn that it has sent."""
MAX_SECONDS: Final = 20.0
"""How long a response may wait for its caller before it is discarded."""


class _Response(NamedTuple):
    size: int
    since: float
    context: grpc.ServicerContext


class _Connection:
    """What waits for the caller of one connection: the responses by the id of their context, the oldest first."""

    __slots__ = ("responses", "size")

    def __init__(self) -> None:
        self.responses: dict[int, _Response] = {}
        self.size = 0

    def waits_since(self, limit: float) -> bool:
        """Return whether the oldest response has waited since a time."""
        return any(response.since <= limit for response in islice(self.responses.values(), 1))

    def older_than(self, limit: float) -> list[int]:
        """Return the keys of the responses that have waited since a time."""
        return [key for key, _ in takewhile(lambda item: item[1].since <= limit, self.responses.items())]


class Undelivered:
    """The undelivered responses of a server. Thread-safe."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._connections: dict[str, _Connection] = {}
        self._size = 0

    def check(self, context: grpc.ServicerContext) -> None:
        """Check that a caller reads its responses.

        Raises:
            StatusError: LIMIT, too much waits for it.
        """
        if self._size <= MAX_CONNECTION_BYTES:
            return
        with self._lock:
            connection = self._connections.get(context.peer())
            if connection is None or connection.size <= MAX_CONNECTION_BYTES:
                return
            if not connection.waits_since(monotonic() - PROMPT_SECONDS):
                return
        raise StatusError(
            pb.ERROR_REASON_LIMIT,
            "Too many responses on this connection have not been read; nothing was changed. Read them first.",
        )

    def add(self, context: grpc.ServicerContext, size: int) -> None:
        """Add a response of `size` bytes, until gRPC has sent it or the caller is gone."""
        peer, key = context.peer(), id(context)
        with self._lock:
            connection = self._connections.get(peer)
            if connection is None:
                connection = self._connections[peer] = _Connection()
            connection.responses[key] = _Response(CALL_BYTES + size, monotonic(), context)
            connection.size += CALL_BYTES + size
            self._size += CALL_BYTES + size

        def delivered() -> None:
            self._remove(peer, key)

        if not context.add_callback(delivered):
            delivered()

    def discard(self) -> None:
        """Discard responses that have waited for too long, or of callers for which too much waits. Call it often."""
        now = monotonic()
        with self._lock:
            late = [(peer, one.older_than(now - MAX_SECONDS)) for peer, one in self._connections.items()]
        for peer, keys in late:
            self._cancel(peer, keys)
        with self._lock:
            excess = self._size - MAX_BYTES
            largest = sorted(self._connections.items(), key=lambda item: -item[1].size) if excess > 0 else []
        for peer, connection in largest:
            if excess <= 0:
                return
            with self._lock:
                keys = connection.older_than(now - PROMPT_SECONDS)
            excess -= self._cancel(peer, keys)

    def _cancel(self, peer: str, keys: list[int]) -> int:
        """Cancel calls whose responses were not read, so that gRPC frees them; return how many bytes that is."""
        freed = 0
        for key in keys:
            if (response := self._remove(peer, key)) is not None:
                response.context.cancel()
                freed += response.size
        return freed

    def _remove(self, peer: str, key: int) -> _Response | None:
        with self._lock:
            connection = self._connections.get(peer)
            response = None if connection is None else connection.responses.pop(key, None)
            if connection is None or response is None:
                return None
            self._size -= response.size
            connection.size -= response.size
            if not connection.responses:
                del self._connections[peer]
        return response
