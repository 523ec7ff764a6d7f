"""Which calls are let in: none while the server drains or is full, and none whose caller keeps its request back.

**Silent callers.** gRPC gives a call a thread before its request has arrived. Callers that open calls and send nothing
would soon hold every thread, so a watchman puts other threads in the place of those that wait, and ends calls whose
request does not come. The more callers are silent, the less patience there is with the longest silent.

**Too many calls.** Those that come while as many are open as may be are refused at once, by a thread that does nothing
else, so that their callers hear why.

**Draining.** A call that reaches a gRPC server between its decision to stop and the moment when its clients hear of
it is cancelled, which no client may retry on its own. So the doors are closed first: calls that come then are held
for a moment, in which those who call again and again stand in the queue instead of calling, and are told to go
elsewhere once everybody has been told.
"""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Final

import grpc

from service.threads.executor import LeanExecutor
from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb

PATIENCE: Final = 5.0
"""Seconds that a request may take to arrive."""
_LOOK_SECONDS: Final = 0.05
"""How often the watchman looks, and so how long a silent caller's thread is missed."""
_MOST_EXTRA_THREADS: Final = 256
_MOST_SILENT: Final = _MOST_EXTRA_THREADS // 2
"""How many silent callers are waited for as long as `PATIENCE`; the other threads are for those who speak."""
_HOLD_SECONDS: Final = 0.15
"""How long calls are held before the server stops: longer than answers take to reach callers and come back as calls."""


class Admission:
    """The door of a server. Made open; `close` closes it."""

    def __init__(self, executor: LeanExecutor, *, patience: float = PATIENCE) -> None:
        self._executor = executor
        self._patience = patience
        self._usual_threads = executor.size
        self._waiting: dict[int, tuple[float, grpc.ServicerContext]] = {}
        self._open = True
        self._told = threading.Event()
        self._ended = threading.Event()
        self._watchman = threading.Thread(target=self._watch, name="admission", daemon=True)
        self._watchman.start()

    def request(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes:
        """Waits for a call's request, and for permission to answer it.

        Raises:
            Refusal: LIMIT while too many calls are open; DRAINING; MALFORMED where the caller sent no request.
            grpc.RpcError: the caller has gone, or was silent for too long.
        """
        request = self.next_request(requests, context)
        if not self._open:
            self._told.wait(_HOLD_SECONDS * 4)
            raise Refusal(
                pb.ERROR_REASON_DRAINING, "This server is going away and has changed nothing: send the request again."
            )
        if request is None:
            raise Refusal(pb.ERROR_REASON_MALFORMED, "The call came without a request message.")
        return request

    def next_request(self, requests: Iterator[bytes], context: grpc.ServicerContext) -> bytes | None:
        """Waits for the next of a call's requests; None when the caller has sent the last.

        Raises:
            Refusal: LIMIT while too many calls are open.
            grpc.RpcError: the caller has gone, or was silent for too long.
        """
        if self._executor.is_one_too_many():
            raise Refusal(
                pb.ERROR_REASON_LIMIT, "Too many calls are open at this server; nothing was changed: try again soon."
            )
        thread = threading.get_ident()
        self._waiting[thread] = (time.monotonic(), context)
        try:
            return next(requests, None)
        finally:
            del self._waiting[thread]

    def close(self, tell: Callable[[], threading.Event]) -> threading.Event:
        """Lets no call in any more. `tell` tells every client; what it returns is returned."""
        self._open = False
        self._ended.wait(_HOLD_SECONDS)
        stopped = tell()
        self._told.set()
        return stopped

    def end(self) -> None:
        """Sends the watchman home."""
        self._ended.set()
        self._watchman.join()

    def _watch(self) -> None:
        while not self._ended.wait(_LOOK_SECONDS):
            now = time.monotonic()
            late = [(since, context) for since, context in tuple(self._waiting.values()) if now - since > _LOOK_SECONDS]
            # Twice as many, since whoever is silent seldom comes alone: others may wait behind as many again.
            self._executor.resize(self._usual_threads + min(2 * len(late), _MOST_EXTRA_THREADS))
            late.sort(key=lambda waiting: waiting[0])
            for number, (since, context) in enumerate(late):
                if now - since > self._patience or number < len(late) - _MOST_SILENT:
                    context.cancel()
