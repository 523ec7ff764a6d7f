"""Auxiliary services (health, reflection) run on separate threads, so that their callers cannot starve games.

They are gRPC's own services, behind an admission control like the one of the games: silent callers hold no thread for
long, and malformed requests get the same errors.
"""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn, ParamSpec, TypeVar

import grpc
from google.protobuf.message import Message

from service.threads import LeanExecutor
from service.transport.admission import Admission
from service.transport.errors import StatusError
from service.transport.requests import parse_request

P = ParamSpec("P")
T = TypeVar("T")


class Handler:
    """A callable with the attributes that select gRPC's mode of calling it.

    Attributes:
        experimental_non_blocking: whether the handler of a stream returns immediately, and sends later by a callback.
        experimental_thread_pool: the threads that run it; None means those of the server.
    """

    def __init__(
        self, handle: Callable[..., Any], *, non_blocking: bool = False, threads: ThreadPoolExecutor | None = None
    ) -> None:
        self._handle = handle
        self.experimental_non_blocking = non_blocking
        self.experimental_thread_pool = threads

    def __call__(self, *arguments: Any) -> Any:
        """Handle a call."""
        return self._handle(*arguments)


class AuxiliaryThreads:
    """The threads and the admission control of an auxiliary service."""

    def __init__(self, executor: LeanExecutor, admission: Admission) -> None:
        self._threads = _Threads(executor)
        self._admission = admission

    def single_request(
        self, request_type: type[Message], handle: Callable[..., Any], *, non_blocking: bool = False
    ) -> Handler:
        """Wrap a handler of one request. gRPC must call the result as a handler of a stream of requests."""

        def handle_bytes(requests: Iterator[bytes], context: grpc.ServicerContext, *send: Any) -> Any:
            try:
                response = handle(
                    parse_request(request_type, self._admission.request(requests, context)), context, *send
                )
            except StatusError as error:
                self._admission.responded(context)
                _abort(error, context)
            if not non_blocking:
                self._admission.responded(context)
            return response

        return Handler(handle_bytes, non_blocking=non_blocking, threads=self._threads)

    def request_stream(self, request_type: type[Message], handle: Callable[..., Iterator[Any]]) -> Handler:
        """Wrap a handler of a stream of requests and a stream of responses."""

        def handle_bytes(requests: Iterator[bytes], context: grpc.ServicerContext) -> Iterator[Any]:
            def parsed() -> Iterator[Message]:
                while (data := self._admission.next_request(requests, context)) is not None:
                    yield parse_request(request_type, data)

            try:
                yield from self._admission.send_blocking(handle(parsed(), context), context)
            except StatusError as error:
                self._admission.responded(context)
                _abort(error, context)
            self._admission.responded(context)

        return Handler(handle_bytes, threads=self._threads)


class _Threads(ThreadPoolExecutor):
    """A LeanExecutor as a ThreadPoolExecutor, since gRPC ignores other types. It has no threads itself."""

    def __init__(self, executor: LeanExecutor) -> None:
        super().__init__(max_workers=1)
        self._executor = executor

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        """Queue a task."""
        return self._executor.submit(fn, *args, **kwargs)


def _abort(error: StatusError, context: grpc.ServicerContext) -> NoReturn:
    context.set_trailing_metadata(error.trailing_metadata())
    context.abort(error.code, error.message)
