"""How a server accepts connections: its addresses, and the limits of each connection and of all."""

import resource
from typing import Any, Final

import grpc
import structlog

from service.network import CannotListen
from service.server.settings import Settings
from service.server.tls import server_credentials

RESERVED_DESCRIPTORS: Final = 192
"""File descriptors that are kept for anything but callers: the store, threads, metrics, health checks, files."""

_MAX_RECEIVE_BYTES: Final = 512 * 1024
"""gRPC rejects larger requests, since it buffers a request until it is complete; smaller ones get an error with a
reason."""
_MAX_SEND_BYTES: Final = 8 * 1024 * 1024
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _MAX_RECEIVE_BYTES),
    ("grpc.max_send_message_length", _MAX_SEND_BYTES),
    # Bandwidth probing would let each caller send 32 MiB before it is read.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.max_metadata_size", 16 * 1024),
    ("grpc.absolute_max_metadata_size", 16 * 1024),
    # One connection cannot fill the queue; gRPC clients wait, and proxies open another connection.
    ("grpc.max_concurrent_streams", 256),
    # A connection without a valid opening is closed.
    ("grpc.server_handshake_timeout_ms", 10_000),
    # Callers may ping once a second, even without calls, and so notice a server that does not answer.
    ("grpc.http2.min_ping_interval_without_data_ms", 500),
    ("grpc.keepalive_permit_without_calls", 1),
    ("grpc.http2.max_ping_strikes", 2),
    # A caller that does not answer for a minute is gone.
    ("grpc.keepalive_time_ms", 40_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.ping_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
)

_log = structlog.get_logger()


def server_options(settings: Settings, connections: int) -> tuple[tuple[str, Any], ...]:
    """Return the options of a gRPC server that accepts so many connections.

    A connection without calls is closed when it is idle for too long. An old connection is closed when its calls have
    ended, but at the latest after the same time again, so that callers spread over servers that are added.
    """
    age_ms = int(settings.connection_age_seconds * 1000)
    return (
        *_OPTIONS,
        ("grpc.so_reuseport", int(settings.share_port)),
        ("grpc.max_allowed_incoming_connections", connections),
        ("grpc.max_connection_idle_ms", int(settings.connection_idle_seconds * 1000)),
        ("grpc.max_connection_age_ms", age_ms),
        ("grpc.max_connection_age_grace_ms", age_ms),
    )


def max_connections(wanted: int) -> int:
    """Return how many connections can be open, for which the limit of file descriptors is raised if necessary.

    Without a limit, connections could take all descriptors, and the process could not even reach the store.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = wanted + RESERVED_DESCRIPTORS
    if soft != resource.RLIM_INFINITY and soft < needed:
        soft = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    if soft == resource.RLIM_INFINITY or soft >= needed:
        return wanted
    possible = max(soft - RESERVED_DESCRIPTORS, soft // 2)
    _log.warning(
        "connections_limited", max_connections=possible, problem=f"at most {soft} file descriptors", advice="ulimit -n"
    )
    return possible


def listen(server: grpc.Server, settings: Settings) -> int:
    """Listen on the addresses of the settings; return the port.

    Raises:
        CannotListen: an address is in use or not local.
        CannotReadCertificate: the certificate is not valid.
    """
    credentials = None if settings.tls is None else server_credentials(settings.tls)
    port = add_port(server, settings.host, settings.port, credentials)
    if settings.socket is not None:
        try:
            server.add_insecure_port(f"unix:{settings.socket}")
        except RuntimeError:
            raise CannotListen(f"cannot listen on {settings.socket}: the socket cannot be created") from None
    return port


def add_port(server: grpc.Server, host: str, port: int, credentials: grpc.ServerCredentials | None = None) -> int:
    """Listen on an address, with TLS if there are credentials; return the port.

    Raises:
        CannotListen: the address is in use or not local.
    """
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    try:
        if credentials is None:
            actual = server.add_insecure_port(address)
        else:
            actual = server.add_secure_port(address, credentials)
    except RuntimeError:
        actual = 0
    if not actual:
        raise CannotListen(f"cannot listen on {host}:{port}: the address is in use or not local")
    return actual
