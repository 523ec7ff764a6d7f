"""Reflection, for tools such as grpcurl, apart from the games.

A reflection stream holds its thread for as long as the tool keeps it open: among the threads that run the calls a few
forgotten tools would stop the service.
"""

from collections.abc import Iterable

import grpc
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

from service.transport.auxiliary import Apart


def add_reflection(server: grpc.Server, services: Iterable[str], apart: Apart) -> None:
    """Offers the descriptions of the services and of reflection itself."""
    described = reflection.ReflectionServicer((*services, reflection.SERVICE_NAME))
    handler: grpc.RpcMethodHandler[bytes, ServerReflectionResponse] = grpc.stream_stream_rpc_method_handler(
        apart.of_many(ServerReflectionRequest, described.ServerReflectionInfo),
        response_serializer=ServerReflectionResponse.SerializeToString,
    )
    server.add_registered_method_handlers(reflection.SERVICE_NAME, {"ServerReflectionInfo": handler})
