"""Addresses: whether the process can listen on one, and how a local client reaches it."""

import errno
import socket


class CannotListen(Exception):
    """The process cannot listen on an address, or cannot publish it; the text says why."""


def check_address(host: str, port: int) -> None:
    """Check that the process can listen on an address. gRPC itself reports no reason if it cannot.

    Raises:
        CannotListen: the address is in use, not local, or cannot be resolved.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reasons = {
            errno.EADDRINUSE: "the address is in use by another process",
            socket.EAI_NONAME: "the host name cannot be resolved",
        }
        reason = reasons.get(error.errno or 0, error.strerror)
        raise CannotListen(f"cannot listen on {host}:{port}: {reason}") from None


def local_url_host(host: str) -> str:
    """Return the host part of a URL with which a client on this machine reaches a server that listens on `host`."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    return f"[{host}]" if ":" in host else host
