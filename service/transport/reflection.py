"""Server reflection, for tools such as grpcurl, on auxiliary threads.

A reflection stream occupies a thread as long as the tool keeps it open. On the threads that process game calls, a few
idle tools would block the service.
"""

from collections.abc import Iterable

import grpc
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

from service.transport.auxiliary import AuxiliaryThreads


def add_reflection(server: grpc.Server, services: Iterable[str], threads: AuxiliaryThreads) -> None:
    """Add reflection of the services, and of reflection itself, to a server."""
    servicer = reflection.ReflectionServicer((*services, reflection.SERVICE_NAME))
    handler: grpc.RpcMethodHandler[bytes, ServerReflectionResponse] = grpc.stream_stream_rpc_method_handler(
        threads.request_stream(ServerReflectionRequest, servicer.ServerReflectionInfo),
        response_serializer=ServerReflectionResponse.SerializeToString,
    )
    server.add_registered_method_handlers(reflection.SERVICE_NAME, {"ServerReflectionInfo": handler})
