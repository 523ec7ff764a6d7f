"""Whether one can listen at an address, and how to call who does: gRPC would only say that one cannot."""

import errno
import socket

from service.server.composition import CannotListen


def check_address(host: str, port: int) -> None:
    """Makes sure that one can listen there.

    Raises:
        CannotListen: the address is taken or not ours.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind, protocol) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reasons = {errno.EADDRINUSE: "is something else serving there?", socket.EAI_NONAME: "there is no such host"}
        reason = reasons.get(error.errno or 0, error.strerror)
        raise CannotListen(f"cannot listen on {host}:{port}: {reason}") from None


def reachable(host: str) -> str:
    """Names an address under which this machine reaches what listens on `host`, as URLs write it."""
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 - compared only
    return f"[{host}]" if ":" in host else host
