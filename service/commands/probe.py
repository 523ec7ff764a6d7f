"""`sodafountain probe`."""

import os
from typing import Any, Final

import click

from service.commands.parameters import fail
from service.server.settings import PREFIX

_SECONDS: Final = 10.0


class NotServing(Exception):
    """The service does not answer, or reports a status other than SERVING; the text says which."""


@click.command(short_help="Check whether a service accepts calls.")
@click.argument("name", default="")
@click.option(
    "--target",
    help="host:port of the service.  [default: 127.0.0.1, with the port in SODAFOUNTAIN_LISTEN_PORT, or 50051]",
)
def probe(name: str, target: str | None) -> None:
    """Check whether a service accepts calls.

    NAME selects another check: `liveness`, that the process is alive; `store`, that its store answers. For callers that
    cannot use the gRPC health protocol, such as container engines. Exit status: 0 SERVING, 1 anything else.
    """
    try:
        check_health(target or f"127.0.0.1:{os.environ.get(PREFIX + 'LISTEN_PORT') or 50051}", name)
    except NotServing as error:
        fail(str(error), status=1)
    click.echo("SERVING")


def check_health(target: str, name: str) -> None:
    """Check the health of a service.

    Args:
        target: its address, host:port.
        name: a name from `service.transport.health`.

    Raises:
        NotServing: the service is not SERVING, or has not answered within ten seconds.
    """
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    with grpc.insecure_channel(target) as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            status = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=_SECONDS).status
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                raise NotServing(f"{target} has no health check {name!r}; the checks are liveness and store") from None
            raise NotServing(f"{target} does not report its health: {error.details()}") from None
    if status != health_pb2.HealthCheckResponse.SERVING:
        raise NotServing(f"{target} is {health_pb2.HealthCheckResponse.ServingStatus.Name(status)}")
