"""Server reflection, for tools such as grpcurl, on auxiliary threads.

A reflection stream occupies a thread as long as the tool keeps it open. On the threads that process game calls, a few
idle tools would block the service.
"""

from collections.abc import Iterable
from typing import Final

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from grpc_reflection.v1alpha import reflection
from grpc_reflection.v1alpha.reflection_pb2 import DESCRIPTOR, ServerReflectionRequest, ServerReflectionResponse

from service.transport.auxiliary import AuxiliaryThreads

_NEWEST: Final = "grpc.reflection.v1.ServerReflection"
SERVICE_NAMES: Final = (_NEWEST, reflection.SERVICE_NAME)
"""Two versions of one service. Their messages have the same fields; gRPC's Python package has the older one only."""


def add_reflection(server: grpc.Server, services: Iterable[str], threads: AuxiliaryThreads) -> None:
    """Add reflection of the services, and of reflection itself, to a server."""
    _describe_newest()
    servicer = reflection.ReflectionServicer((*services, *SERVICE_NAMES))
    handler: grpc.RpcMethodHandler[bytes, ServerReflectionResponse] = grpc.stream_stream_rpc_method_handler(
        threads.request_stream(ServerReflectionRequest, servicer.ServerReflectionInfo),
        response_serializer=ServerReflectionResponse.SerializeToString,
    )
    for name in SERVICE_NAMES:
        server.add_registered_method_handlers(name, {"ServerReflectionInfo": handler})


def _describe_newest() -> None:
    """Add the newer version's descriptor to the pool, so that tools can describe everything that is listed."""
    older, newer = (name.rpartition(".")[0] for name in (reflection.SERVICE_NAME, _NEWEST))
    file = FileDescriptorProto.FromString(DESCRIPTOR.serialized_pb)
    file.name, file.package = "grpc/reflection/v1/reflection.proto", newer
    for message in (*file.message_type, *file.service):
        for part in (*getattr(message, "field", ()), *getattr(message, "method", ())):
            for name in ("type_name", "input_type", "output_type"):
                if getattr(part, name, ""):
                    setattr(part, name, getattr(part, name).replace(older, newer))
    descriptor_pool.Default().Add(file)
