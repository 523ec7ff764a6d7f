"""`sodafountain probe`."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from service.commands.parameters import fail
from service.commands.tls import credentials, tls_options
from service.server.settings import PREFIX

if TYPE_CHECKING:  # its import takes long
    import grpc

_SECONDS: Final = 10.0


class NotServing(Exception):
    """The service does not answer, or reports a status other than SERVING; the text says which."""


@click.command(short_help="Check whether a service accepts calls.")
@click.argument("name", default="")
@click.option(
    "--target",
    help="host:port of the service.  [default: 127.0.0.1, with the port in SODAFOUNTAIN_HEALTH_PORT or "
    "SODAFOUNTAIN_LISTEN_PORT, or 50051]",
)
@tls_options
def probe(name: str, target: str | None, *, tls: bool, tls_ca: Path | None) -> None:
    """Check whether a service accepts calls.

    NAME selects another check: `liveness`, that the process is alive; `store`, that its store answers. For callers that
    cannot use the gRPC health protocol, such as container engines. Exit status: 0 SERVING, 1 anything else.
    """
    try:
        check_health(target or f"127.0.0.1:{_local_port()}", name, credentials(tls=tls, tls_ca=tls_ca))
    except NotServing as error:
        fail(str(error), status=1)
    click.echo("SERVING")


def _local_port() -> str:
    return os.environ.get(PREFIX + "HEALTH_PORT") or os.environ.get(PREFIX + "LISTEN_PORT") or "50051"


def check_health(target: str, name: str, credentials: "grpc.ChannelCredentials | None" = None) -> None:
    """Check the health of a service.

    Args:
        target: its address, host:port.
        name: a name from `service.transport.health`.
        credentials: the credentials for TLS; None means no TLS.

    Raises:
        NotServing: the service is not SERVING, or has not answered within ten seconds.
    """
    import grpc
    from grpc_health.v1 import health_pb2, health_pb2_grpc

    opened = grpc.insecure_channel(target) if credentials is None else grpc.secure_channel(target, credentials)
    with opened as channel:
        stub: Any = health_pb2_grpc.HealthStub(channel)
        try:
            status = stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=_SECONDS).status
        except grpc.RpcError as error:
            if error.code() is grpc.StatusCode.NOT_FOUND:
                raise NotServing(f"{target} has no health check {name!r}; the checks are liveness and store") from None
            raise NotServing(f"{target} does not report its health: {error.details()}") from None
    if status != health_pb2.HealthCheckResponse.SERVING:
        raise NotServing(f"{target} is {health_pb2.HealthCheckResponse.ServingStatus.Name(status)}")
