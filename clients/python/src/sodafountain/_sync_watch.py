"""The watch of ordinary code, which waits for each update."""

import sys
import threading
from collections.abc import Callable, Iterator
from time import monotonic
from types import TracebackType
from typing import Final, Self

import grpc
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls
from sodafountain._watch_plan import ENDED, SILENCE, Heard, Open, Pause, Read, Step, Update, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

NEVER: Final = float("inf")


class Stream:
    """A stream of messages.

    Attributes:
        messages: the messages, to iterate over.
        due: when it is to be cancelled if nothing has been heard by then, on the monotonic clock.
        silent: whether it was cancelled for that.
    """

    def __init__(self, call: Call, stub: GameServiceStub) -> None:
        method: grpc.UnaryStreamMultiCallable[Message, pb.WatchGameResponse] = getattr(stub, call.rpc)
        # No deadline: it lasts as long as the game.
        self.messages = method(call.request, metadata=call.metadata)
        self.due = NEVER
        self.silent = False


class Streams:
    """The streams of a client.

    While any is open there is a thread that cancels those that are silent for too long.
    """

    def __init__(self, stub: GameServiceStub, calls: ClientCalls) -> None:
        self.calls = calls
        self._stub = stub
        # Reentrant: the collector may close a forgotten watch at any moment, in any thread.
        self._changed = threading.Condition(threading.RLock())
        self._open: set[Stream] = set()
        self._guard: threading.Thread | None = None
        self._looks_at = NEVER

    def begin(self, call: Call) -> Stream:
        """Begins a stream.

        Raises:
            ClientClosed: the client is closed.
        """
        try:
            stream = Stream(call, self._stub)
        except ValueError:
            # What a closed channel raises.
            if self.calls.closed:
                raise self.calls.closed_while_watching() from None
            raise
        guard = None
        with self._changed:
            self._open.add(stream)
            if self._guard is None:
                guard = self._guard = threading.Thread(
                    target=self._cancel_the_silent, name="sodafountain-watch", daemon=True
                )
        if guard is not None:
            # Without the lock: who starts a thread waits for it, and the collector may close a forgotten watch in it.
            guard.start()
        return stream

    def read(self, stream: Stream, seconds: float) -> Heard:
        """Waits for the next message of a stream, for so many seconds."""
        self._expect(stream, monotonic() + seconds)
        try:
            return next(stream.messages)
        except StopIteration:
            return ENDED
        except grpc.RpcError as failure:
            return None if stream.silent else failure
        finally:
            self._expect(stream, NEVER)

    def end(self, stream: Stream) -> None:
        """Ends a stream."""
        stream.messages.cancel()
        with self._changed:
            self._open.discard(stream)
            if not self._open:
                self._changed.notify_all()

    def pause(self, watch: "Watch", seconds: float) -> None:
        """Waits, unless the watch or the client is closed."""
        with self._changed:
            self._changed.wait_for(lambda: watch.closed or self.calls.closed, seconds)

    def wake(self) -> None:
        """Has those who pause look whether they are still to."""
        with self._changed:
            self._changed.notify_all()

    def _expect(self, stream: Stream, due: float) -> None:
        with self._changed:
            stream.due = due
            if due < self._looks_at:
                self._changed.notify_all()

    def _cancel_the_silent(self) -> None:
        with self._changed:
            while self._open:
                for stream in tuple(self._open):
                    if stream.due <= monotonic():
                        stream.silent, stream.due = True, NEVER
                        stream.messages.cancel()
                self._looks_at = min((stream.due for stream in tuple(self._open)), default=NEVER)
                self._looks_at = min(self._looks_at, monotonic() + SILENCE)
                self._changed.wait(self._looks_at - monotonic())
            self._guard = None
            self._looks_at = NEVER


class Watch(Iterator[Update]):
    """A game that is being followed: iterate over it, once, for its updates. See `Seat.watch`.

    One thread iterates; any may close it. It is closed at the end of its loop if nobody else holds it, and of a `with`
    statement. An iteration that was interrupted, by Ctrl-C for instance, may be gone on with: nothing is lost.
    """

    def __init__(self, streams: Streams, plan: WatchPlan) -> None:
        self._closed = False
        self._streams = streams
        self._plan = plan
        self._stream: Stream | None = None
        self._heard: Heard = None
        self._closing = threading.RLock()

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Ends the watch, also one that waits in another thread: it has no more updates."""
        with self._closing:
            self._closed = True
            self._end_stream()
        self._streams.wake()

    def __next__(self) -> Update:
        self._plan.be_patient()
        # What the plan is to hear if this is interrupted: nothing that was under way will come.
        heard, self._heard = self._heard, ENDED
        try:
            while not self._closed and (step := self._plan.step(heard)) is not None:
                if isinstance(step, Update):
                    self._heard = None
                    return step
                heard = self._take(step)
        except BaseException:
            self._end_stream()
            raise
        self._end_stream()
        raise StopIteration

    def _take(self, step: Step) -> Heard:
        calls = self._streams.calls
        if calls.closed:
            raise calls.closed_while_watching()
        match step:
            case Open(call):
                with self._closing:
                    self._end_stream()
                    self._stream = None if self._closed else self._streams.begin(call)
            case Pause(seconds):
                self._end_stream()
                self._streams.pause(self, seconds)
            case Read(seconds):
                stream = self._stream
                heard = ENDED if stream is None else self._streams.read(stream, seconds)
                if calls.closed:
                    raise calls.closed_while_watching()
                return heard
        return None

    def _end_stream(self) -> None:
        with self._closing:
            stream, self._stream = self._stream, None
        if stream is not None:
            self._streams.end(stream)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self, _is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        # When the interpreter ends, the guard may have been stopped for good with the lock in its hands.
        if not _is_finalizing():
            self.close()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self._plan.game_id}>"
