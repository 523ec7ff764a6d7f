"""Reflection, for tools such as grpcurl, on threads of its own.

A reflection stream holds its thread for as long as the tool keeps it open: among the threads that run the calls a few
forgotten tools would stop the service.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import grpc
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

_THREADS: Final = 2


class _Described:
    """A handler with its own threads, by the attribute under which gRPC looks for them."""

    def __init__(self, services: Iterable[str], threads: ThreadPoolExecutor) -> None:
        self._answers = reflection.ReflectionServicer(services).ServerReflectionInfo
        self.experimental_thread_pool = threads

    def __call__(
        self, requests: Iterator[ServerReflectionRequest], context: grpc.ServicerContext
    ) -> Iterator[ServerReflectionResponse]:
        answers: Any = self._answers(requests, context)
        yield from answers


def add_reflection(server: grpc.Server, services: Iterable[str]) -> ThreadPoolExecutor:
    """Offers the descriptions of the services and of reflection itself; returns the threads, to be shut down."""
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="reflection")
    handler = grpc.stream_stream_rpc_method_handler(
        _Described((*services, reflection.SERVICE_NAME), threads),
        request_deserializer=ServerReflectionRequest.FromString,
        response_serializer=ServerReflectionResponse.SerializeToString,
    )
    server.add_registered_method_handlers(reflection.SERVICE_NAME, {"ServerReflectionInfo": handler})
    return threads
