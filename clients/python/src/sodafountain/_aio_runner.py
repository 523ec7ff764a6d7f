"""Make the calls of the asyncio client's plans."""

import asyncio
import weakref
from typing import TypeVar

import grpc.aio
from google.protobuf.message import Message

from sodafountain._aio_watch import Watch
from sodafountain._calls import Call, ClientCalls, Plan
from sodafountain._watch_plan import WatchPlan
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

T = TypeVar("T")


class Runner:
    """Makes the calls of plans over a channel, one after another."""

    def __init__(self, channel: grpc.aio.Channel, calls: ClientCalls) -> None:
        self._stub = GameServiceStub(channel)
        self._calls = calls
        # One event for each watch, set to end its pause.
        self._wake_events: weakref.WeakSet[asyncio.Event] = weakref.WeakSet()

    def watch(self, plan: WatchPlan) -> Watch:
        """Return the watch that executes a plan."""
        wake_event = asyncio.Event()
        self._wake_events.add(wake_event)
        return Watch(self._stub, self._calls, plan, wake_event)

    def wake_watches(self) -> None:
        """Wake paused watches, so that they notice that the client is closed."""
        for wake_event in tuple(self._wake_events):
            wake_event.set()

    async def run(self, plan: Plan[T]) -> T:
        """Execute a plan and return its result."""
        try:
            call = next(plan)
            while True:
                call = plan.send(await self._make(call))
        except StopIteration as stop:
            result: T = stop.value
            return result

    async def _make(self, call: Call) -> Message:
        if self._calls.closed:
            raise self._calls.closed_before(call)
        method: grpc.aio.UnaryUnaryMultiCallable[Message, Message] = getattr(self._stub, call.rpc)
        rpc = method(call.request, timeout=call.timeout, metadata=call.metadata)
        try:
            return await rpc
        except grpc.aio.AioRpcError as failure:
            raise self._calls.error_from(failure, call) from failure
        except asyncio.CancelledError:
            # Closing the channel cancels its calls, which raise the same error as a cancelled task.
            task = asyncio.current_task()
            if self._calls.closed and not (task and task.cancelling()):
                raise self._calls.closed_during(call) from None
            raise
