"""Services beside the games': with threads of their own, so that whoever holds theirs holds up no game.

They are gRPC's own (health, reflection), but what reaches them comes through a door like the games': no caller that is
silent holds a thread for long, and bytes that do not parse are refused in our own words.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn, ParamSpec, TypeVar

import grpc
from google.protobuf.message import Message

from service.threads.executor import LeanExecutor
from service.transport.admission import Admission
from service.transport.errors import STATUS_KEY, Refusal
from service.transport.handlers import Behaviour, parse

P = ParamSpec("P")
T = TypeVar("T")


class Apart:
    """The threads of such services, and their door."""

    def __init__(self, executor: LeanExecutor, admission: Admission) -> None:
        self._threads = _Threads(executor)
        self._admission = admission

    def of_one(
        self, request_type: type[Message], behave: Callable[..., Any], *, non_blocking: bool = False
    ) -> Behaviour:
        """Wraps a handler of one request, for gRPC to call as one of a stream of requests."""

        def of_bytes(requests: Iterator[bytes], context: grpc.ServicerContext, *send: Any) -> Any:
            try:
                return behave(parse(request_type, self._admission.request(requests, context)), context, *send)
            except Refusal as refusal:
                _refuse(refusal, context)

        return Behaviour(of_bytes, non_blocking=non_blocking, threads=self._threads)

    def of_many(self, request_type: type[Message], behave: Callable[..., Iterator[Any]]) -> Behaviour:
        """Wraps a handler of a stream of requests and a stream of responses."""

        def of_bytes(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[Any]:
            def parsed() -> Iterator[Message]:
                while (data := self._admission.next_request(requests, context)) is not None:
                    yield parse(request_type, data)

            try:
                yield from behave(parsed(), context)
            except Refusal as refusal:
                _refuse(refusal, context)

        return Behaviour(of_bytes, threads=self._threads)


class _Threads(ThreadPoolExecutor):
    """A LeanExecutor of the type that gRPC insists on: of any other it takes no notice. Has no threads of its own."""

    def __init__(self, executor: LeanExecutor) -> None:
        super().__init__(max_workers=1)
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queues a task."""
        return self._executor.submit(fn, *args, **kwargs)


def _refuse(refusal: Refusal, context: grpc.ServicerContext) -> NoReturn:
    context.set_trailing_metadata(((STATUS_KEY, refusal.status().SerializeToString()),))
    context.abort(refusal.code, refusal.sentence)
