"""The response stream of a call."""

import threading
import time
from collections.abc import Callable

import grpc
import structlog

from service.transport.call import Call
from service.transport.errors import internal_error

_log = structlog.get_logger()


class ResponseStream:
    """A stream of encoded messages to the caller; implements `service.watching.Stream`."""

    def __init__(
        self,
        call: Call,
        game_id: str,
        trace_fields: dict[str, str],
        context: grpc.ServicerContext,
        send: "Callable[[bytes | None], None]",
    ) -> None:
        self._call = call
        self._game_id = game_id
        self._trace_fields = trace_fields
        self._context = context
        self._send = send
        self._started = time.perf_counter_ns()
        self._messages = 0
        self._code = grpc.StatusCode.CANCELLED
        self._reason = ""
        self._ended = threading.Lock()  # the thread that ends the stream keeps it: gRPC allows one end

    def send(self, message: bytes) -> None:
        """Send a message; block until the transport accepts it."""
        self._messages += 1
        self._send(message)

    def end(self, reason: str) -> None:
        """End the stream with status OK, unless it has ended."""
        if self._ended.acquire(blocking=False):
            self._code, self._reason = grpc.StatusCode.OK, reason
            self._send(None)

    def fail(self) -> None:
        """End the stream with an error, unless it has ended."""
        if not self._ended.acquire(blocking=False):
            return
        error = internal_error(self._call)
        self._code, self._reason = error.code, error.reason_name
        self._context.set_code(error.code)
        self._context.set_details(error.message)
        self._context.set_trailing_metadata(error.trailing_metadata())
        self._send(None)

    def cancel(self, reason: str) -> None:
        """Cancel the stream, and any message in progress."""
        self._reason = reason
        self._context.cancel()

    def on_end(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the stream has ended; immediately if it has."""
        if not self._context.add_callback(callback):
            callback()

    @property
    def outcome(self) -> str:
        """Why the stream ended: a reason of the service, or CANCELLED if the caller ended it."""
        return self._reason or self._code.name

    def log(self) -> None:
        """Log the stream, which has ended."""
        _log.info(
            "rpc",
            method=self._call.method,
            code=self._code.name,
            reason=self._reason,
            game_id=self._game_id,
            call_id=self._call.call_id,
            messages=self._messages,
            ms=(time.perf_counter_ns() - self._started) / 1e6,
            **self._trace_fields,
        )
