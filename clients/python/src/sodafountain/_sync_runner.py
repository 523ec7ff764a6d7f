"""Carries out what the ordinary client plans, one call after the other."""

from typing import TypeVar

import grpc
from google.protobuf.message import Message

from sodafountain._calls import Call, ClientCalls, Plan
from sodafountain._sync_watch import Streams, Watch
from sodafountain._watch_plan import WatchPlan
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub

T = TypeVar("T")


class Runner:
    """Makes the calls of plans over a channel, one after the other."""

    def __init__(self, channel: grpc.Channel, calls: ClientCalls) -> None:
        self._stub = GameServiceStub(channel)
        self._calls = calls
        self._streams = Streams(self._stub, calls)

    def watch(self, plan: WatchPlan) -> Watch:
        """Lets a watch be iterated over."""
        return Watch(self._streams, plan)

    def end_watches(self) -> None:
        """Ends every watch of a client that is closed."""
        self._streams.wake()

    def run(self, plan: Plan[T]) -> T:
        """Carries a plan out and returns its result."""
        try:
            call = next(plan)
            while True:
                call = plan.send(self._answer(call))
        except StopIteration as end:
            result: T = end.value
            return result

    def _answer(self, call: Call) -> Message:
        if self._calls.closed:
            raise self._calls.closed_before(call)
        method: grpc.UnaryUnaryMultiCallable[Message, Message] = getattr(self._stub, call.rpc)
        try:
            return method(call.request, timeout=call.timeout, metadata=call.metadata)
        except grpc.RpcError as failure:
            raise self._calls.explained(failure, call) from failure
        except ValueError:
            # What a closed channel raises: another thread closed it in between.
            if self._calls.closed:
                raise self._calls.closed_before(call) from None
            raise
