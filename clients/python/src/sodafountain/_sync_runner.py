"""Make the calls of the sync client's plans."""

from typing import TypeVar

import grpc
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls, Plan
from sodafountain._sync_watch import Streams, Watch
from sodafountain._watch_plan import WatchPlan
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

T = TypeVar("T")


class Runner:
    """Makes the calls of plans over a channel, one after another."""

    def __init__(self, channel: grpc.Channel, calls: ClientCalls) -> None:
        self._stub = GameServiceStub(channel)
        self._calls = calls
        self._streams = Streams(self._stub, calls)

    def watch(self, plan: WatchPlan) -> Watch:
        """Return the watch that executes a plan."""
        return Watch(self._streams, plan)

    def wake_watches(self) -> None:
        """Wake paused watches, so that they notice that the client is closed."""
        self._streams.wake()

    def run(self, plan: Plan[T]) -> T:
        """Execute a plan and return its result."""
        try:
            call = next(plan)
            while True:
                call = plan.send(self._make(call))
        except StopIteration as stop:
            result: T = stop.value
            return result

    def _make(self, call: Call) -> Message:
        if self._calls.closed:
            raise self._calls.closed_before(call)
        method: grpc.UnaryUnaryMultiCallable[Message, Message] = getattr(self._stub, call.rpc)
        try:
            return method(call.request, timeout=call.timeout, metadata=call.metadata)
        except grpc.RpcError as failure:
            raise self._calls.error_from(failure, call) from failure
        except ValueError:
            # A closed channel raises this: another thread has just closed the client.
            if self._calls.closed:
                raise self._calls.closed_before(call) from None
            raise
