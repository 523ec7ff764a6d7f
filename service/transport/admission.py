"""Admission control: rejects calls while the server drains or is overloaded, and evicts silent callers.

**Silent callers.** gRPC assigns a thread to a call before its request has arrived. Callers that open calls and send
nothing would soon hold every thread. `SlowPeers` replaces the threads that wait for a request, and cancels calls whose
request does not arrive.

**Silent readers.** gRPC keeps a response until its caller has read it; `Undelivered` bounds what waits.

**Call limit.** While the call limit is reached, further calls are rejected immediately, on a thread that does nothing
else, so that their callers receive a reason.

**Draining.** A call that arrives between a gRPC server's decision to stop and the moment its clients learn of it is
cancelled, and clients must not retry a cancelled call by themselves. Therefore admission closes first: new calls are
held for a moment, in which callers in a loop wait here instead of calling again, and are rejected with DRAINING once
every client has been notified.
"""

import threading
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

import grpc

from service.contract import errors_pb2 as pb
from service.threads import LeanExecutor, SlowPeers
from service.transport.errors import StatusError
from service.transport.undelivered import Undelivered

T = TypeVar("T")

REQUEST_TIMEOUT: Final = 5.0
"""Seconds within which a request must arrive."""
_CHECK_SECONDS: Final = 0.05
"""How often slow callers are checked, and after how long a waiting thread is replaced."""
_HOLD_SECONDS: Final = 0.15
"""How long calls are held before the server stops: longer than a response and the caller's next call take."""


class Admission:
    """Admits calls to a server until `close`.

    Args:
        executor: the threads that run the calls.
        undelivered: the responses of the server.
        request_timeout: seconds within which a request must arrive.
    """

    def __init__(
        self, executor: LeanExecutor, undelivered: Undelivered, *, request_timeout: float = REQUEST_TIMEOUT
    ) -> None:
        self._executor = executor
        self._undelivered = undelivered
        self._slow_peers = SlowPeers(
            executor,
            replace_after=_CHECK_SECONDS,
            evict_after=request_timeout,
            evict_early_after=_CHECK_SECONDS,
        )
        self._open = True
        self._notified = threading.Event()
        self._stopped = threading.Event()
        self._timer = threading.Thread(target=self._check, name="admission", daemon=True)
        self._timer.start()

    def request(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        """Wait for the request of a call, and admit the call.

        Raises:
            StatusError: LIMIT, the call limit is reached, or the caller has not read its earlier responses; DRAINING;
                MALFORMED, the caller sent no request.
            grpc.RpcError: the caller has disconnected or was evicted.
        """
        self._undelivered.check(context)
        request = self.next_request(requests, context)
        if not self._open:
            self._notified.wait(_HOLD_SECONDS * 4)
            raise StatusError(
                pb.ERROR_REASON_DRAINING, "This server is shutting down; nothing was changed. Send the request again."
            )
        if request is None:
            raise StatusError(pb.ERROR_REASON_MALFORMED, "The call has no request message.")
        return request

    def next_request(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes | None:
        """Wait for the next request of a call; None after the last.

        Raises:
            StatusError: LIMIT, the call limit is reached.
            grpc.RpcError: the caller has disconnected or was evicted.
        """
        if self._executor.is_over_limit():
            raise StatusError(
                pb.ERROR_REASON_LIMIT, "The server's call limit is reached; nothing was changed. Try again soon."
            )
        self._slow_peers.begin(context.cancel)
        try:
            return next(requests, None)
        finally:
            self._slow_peers.end()

    def responded(self, context: grpc.ServicerContext, size: int = 0) -> None:
        """Record that a call is about to end with a response of `size` bytes, or with an error."""
        self._undelivered.add(context, size)

    def send_blocking(self, messages: Iterator[T], context: grpc.ServicerContext) -> Iterator[T]:
        """Yield messages to gRPC, which asks for the next one when the caller has read enough; evict slow callers."""
        for message in messages:
            self._slow_peers.begin(context.cancel)
            try:
                yield message
            finally:
                self._slow_peers.end()

    def close(self, notify: Callable[[], threading.Event]) -> threading.Event:
        """Reject every further call. `notify` notifies all clients; its result is returned."""
        self._open = False
        self._stopped.wait(_HOLD_SECONDS)
        stopped = notify()
        self._notified.set()
        return stopped

    def stop(self) -> None:
        """Stop the timer."""
        self._stopped.set()
        self._timer.join()

    def _check(self) -> None:
        while not self._stopped.wait(_CHECK_SECONDS):
            self._slow_peers.check()
            self._undelivered.discard()
