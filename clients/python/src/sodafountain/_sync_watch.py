"""The watch of the sync client."""

import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from types import TracebackType
from typing import Final, Self

import grpc
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls
from sodafountain._watch_plan import (
    STREAM_ENDED,
    STREAM_IDLE_TIMEOUT,
    Open,
    Pause,
    Read,
    Received,
    Step,
    Update,
    WatchPlan,
)
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

NEVER: Final = float("inf")


class Stream:
    """A stream of messages.

    Attributes:
        messages: an iterator over the messages.
        deadline: the time on the monotonic clock at which to cancel the stream unless a message has arrived.
        timed_out: whether the stream was cancelled at its deadline.
    """

    def __init__(self, call: Call, stub: GameServiceStub) -> None:
        method: grpc.UnaryStreamMultiCallable[Message, pb.WatchGameResponse] = getattr(stub, call.rpc)
        # No timeout: the stream lasts as long as the game.
        self.messages = method(call.request, metadata=call.metadata)
        self.deadline = NEVER
        self.timed_out = False


class Streams:
    """The open streams of a client.

    While any stream is open, a monitor thread cancels the streams that reach their deadline.
    """

    def __init__(self, stub: GameServiceStub, calls: ClientCalls) -> None:
        self.calls = calls
        self._stub = stub
        # Reentrant: garbage collection may close a watch at any moment, in any thread.
        self._changed = threading.Condition(threading.RLock())
        self._open: set[Stream] = set()
        self._monitor: threading.Thread | None = None
        self._next_check = NEVER

    def open(self, call: Call) -> Stream:
        """Open a stream.

        Raises:
            ClientClosed: the client is closed.
        """
        try:
            stream = Stream(call, self._stub)
        except ValueError:
            # A closed channel raises this.
            if self.calls.closed:
                raise self.calls.closed_during_watch() from None
            raise
        monitor = None
        with self._changed:
            self._open.add(stream)
            if self._monitor is None:
                monitor = self._monitor = threading.Thread(
                    target=self._cancel_at_deadline, name="sodafountain-watch", daemon=True
                )
        if monitor is not None:
            # Start it without the lock: `start` waits for the new thread, where garbage collection may close a watch.
            monitor.start()
        return stream

    def read(self, stream: Stream, seconds: float) -> Received:
        """Return the next message of a stream; None after this many seconds."""
        self._set_deadline(stream, monotonic() + seconds)
        try:
            return next(stream.messages)
        except StopIteration:
            return STREAM_ENDED
        except grpc.RpcError as failure:
            return None if stream.timed_out else failure
        finally:
            self._set_deadline(stream, NEVER)

    def close(self, stream: Stream) -> None:
        """Cancel a stream."""
        stream.messages.cancel()
        with self._changed:
            self._open.discard(stream)
            if not self._open:
                self._changed.notify_all()

    def pause(self, watch: "Watch", seconds: float) -> None:
        """Wait for this many seconds, or until the watch or the client is closed."""
        with self._changed:
            self._changed.wait_for(lambda: watch.closed or self.calls.closed, seconds)

    def wake(self) -> None:
        """Wake all paused watches, so that they check whether they are closed."""
        with self._changed:
            self._changed.notify_all()

    def _set_deadline(self, stream: Stream, deadline: float) -> None:
        with self._changed:
            stream.deadline = deadline
            if deadline < self._next_check:
                self._changed.notify_all()

    def _cancel_at_deadline(self) -> None:
        with self._changed:
            while self._open:
                for stream in tuple(self._open):
                    if stream.deadline <= monotonic():
                        stream.timed_out, stream.deadline = True, NEVER
                        stream.messages.cancel()
                self._next_check = min((stream.deadline for stream in tuple(self._open)), default=NEVER)
                self._next_check = min(self._next_check, monotonic() + STREAM_IDLE_TIMEOUT)
                self._changed.wait(self._next_check - monotonic())
            self._monitor = None
            self._next_check = NEVER


class Watch(Iterator[Update]):
    """The updates of a game, to iterate over once. See `Seat.watch`.

    One thread iterates; any thread may close the watch. Leaving a loop that holds the only reference closes it, and so
    does the end of a `with` statement. If an iteration is interrupted, for example by Ctrl-C, the next one
    continues without loss.
    """

    def __init__(self, streams: Streams, plan: WatchPlan) -> None:
        self._closed = False
        self._streams = streams
        self._plan = plan
        self._stream: Stream | None = None
        self._received: Received = None
        self._stream_lock = threading.RLock()

    @property
    def closed(self) -> bool:
        """Whether the watch was closed."""
        return self._closed

    def close(self) -> None:
        """Close the watch. An iteration that waits in another thread ends."""
        with self._stream_lock:
            self._closed = True
            self._close_stream()
        self._streams.wake()

    def __next__(self) -> Update:
        self._plan.restart_idle_timer()
        # If this iteration is interrupted, its stream is closed: the plan then continues as after the end of a stream.
        received, self._received = self._received, STREAM_ENDED
        try:
            while not self._closed and (step := self._plan.step(received)) is not None:
                if isinstance(step, Update):
                    self._received = None
                    return step
                received = self._execute(step)
        except BaseException:
            self._close_stream()
            raise
        self._close_stream()
        raise StopIteration

    def _execute(self, step: Step) -> Received:
        calls = self._streams.calls
        if calls.closed:
            raise calls.closed_during_watch()
        match step:
            case Open(call):
                with self._stream_lock:
                    self._close_stream()
                    self._stream = None if self._closed else self._streams.open(call)
            case Pause(seconds):
                self._close_stream()
                self._streams.pause(self, seconds)
            case Read(seconds):
                stream = self._stream
                received = STREAM_ENDED if stream is None else self._streams.read(stream, seconds)
                if calls.closed:
                    raise calls.closed_during_watch()
                return received
        return None

    def _close_stream(self) -> None:
        with self._stream_lock:
            stream, self._stream = self._stream, None
        if stream is not None:
            self._streams.close(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # At interpreter shutdown the monitor may have been stopped while it held the lock.
        if not _is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self._plan.game_id}>"
