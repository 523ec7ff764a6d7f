"""The watch of the asyncio client."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from types import TracebackType
from typing import Self

import grpc.aio
from google.protobuf.message import Message

from sodafountain._calls import ClientCalls
from sodafountain._watch_plan import STREAM_ENDED, Open, Pause, Read, Received, Step, Update, WatchPlan
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub


class Watch(AsyncIterator[Update]):
    """The updates of a game, to iterate over once. See `sodafountain.Seat.watch`.

    Leaving a loop that holds the only reference closes the watch, and so does the end of an `async with` statement.
    Cancelling a task that waits for an update cancels the stream; the next iteration continues without loss.
    """

    def __init__(self, stub: GameServiceStub, calls: ClientCalls, plan: WatchPlan, wake_event: asyncio.Event) -> None:
        self._closed = False
        self._stub = stub
        self._calls = calls
        self._plan = plan
        self._wake_event = wake_event
        self._stream: grpc.aio.UnaryStreamCall[Message, pb.WatchGameResponse] | None = None
        self._received: Received = None

    @property
    def closed(self) -> bool:
        """Whether the watch was closed."""
        return self._closed

    async def close(self) -> None:
        """Close the watch. An iteration that waits in another task ends."""
        self._closed = True
        self._close_stream()
        self._wake_event.set()

    async def __anext__(self) -> Update:
        self._plan.restart_idle_timer()
        # If this iteration is interrupted, its stream is closed: the plan then continues as after the end of a stream.
        received, self._received = self._received, STREAM_ENDED
        try:
            while not self._closed and (step := self._plan.step(received)) is not None:
                if isinstance(step, Update):
                    self._received = None
                    return step
                received = await self._execute(step)
        except BaseException:
            self._close_stream()
            raise
        self._close_stream()
        raise StopAsyncIteration

    async def _execute(self, step: Step) -> Received:
        if self._calls.closed:
            raise self._calls.closed_during_watch()
        match step:
            case Open(call):
                self._close_stream()
                method: grpc.aio.UnaryStreamMultiCallable[Message, pb.WatchGameResponse] = getattr(self._stub, call.rpc)
                # No timeout: the stream lasts as long as the game.
                self._stream = method(call.request, metadata=call.metadata)
            case Pause(seconds):
                self._close_stream()
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await self._wake_event.wait()
            case Read(seconds):
                received = await self._read(seconds)
                if self._calls.closed:
                    raise self._calls.closed_during_watch()
                return received
        return None

    async def _read(self, seconds: float) -> Received:
        if self._stream is None:
            return STREAM_ENDED
        try:
            async with asyncio.timeout(seconds):
                message = await self._stream.read()
        except TimeoutError:
            return None
        except grpc.aio.AioRpcError as failure:
            return failure
        except asyncio.CancelledError:
            # A stream also raises this when it was cancelled, by closing its watch or the channel.
            task = asyncio.current_task()
            if task and task.cancelling():
                raise
            return STREAM_ENDED
        return message if isinstance(message, pb.WatchGameResponse) else STREAM_ENDED

    def _close_stream(self) -> None:
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.cancel()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __del__(self) -> None:
        # A closed event loop has already ended its streams; cancelling one would raise RuntimeError.
        with suppress(RuntimeError):
            self._close_stream()

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of game {self._plan.game_id}>"
