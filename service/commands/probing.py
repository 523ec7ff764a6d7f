"""`sodafountain probe`: asks a service for its health, for whoever cannot speak gRPC's health protocol."""

from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

_SECONDS: Final = 10.0


class NotServing(Exception):
    """It does not answer, or says that it is not well; the text says which."""


def probe(target: str, name: str) -> None:
    """Asks the service at `target`, host:port, for the health of one of the names in `service.transport.health`.

    Raises:
        NotServing: it is not SERVING, or has not said anything within ten seconds.
    """
    with grpc.insecure_channel(target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            status = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=_SECONDS).status
        except grpc.RpcError as error:
            raise NotServing(f"{target} does not tell its health: {error.details()}") from None
    if status != health_pb2.HealthCheckResponse.SERVING:
        raise NotServing(f"{target} is {health_pb2.HealthCheckResponse.ServingStatus.Name(status)}")
