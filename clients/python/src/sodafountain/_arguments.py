"""Validate the arguments of the client before any call: targets, timeouts and secrets."""

import re
from ipaddress import ip_address
from typing import Any

import grpc

from sodafountain._errors import ApiKeyInvalid, TokenInvalid
from sodafountain._reasons import Reason

# A host, or an IPv6 address in brackets, and a port.
HOST_AND_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/@\[\]]+):(?P<port>[0-9]{1,5})")
# A gRPC name with the DNS scheme: dns:///host:port, dns://resolver/host:port or dns:host:port.
DNS = re.compile(r"dns:(?://[^/]*/)?(?P<host_and_port>.*)")
# The other schemes. Only gRPC can validate the rest of such a target.
OTHER_SCHEMES = ("unix:", "unix-abstract:", "ipv4:", "ipv6:", "vsock:", "xds:", "google-c2p:")
# The schemes of a file or a cluster, whose names may contain "@".
PATHS = ("unix:", "unix-abstract:", "xds:", "google-c2p:")
# The schemes of sockets of this host.
SOCKETS = ("unix:", "unix-abstract:")
# The schemes of lists of IP addresses.
ADDRESSES = ("ipv4:", "ipv6:")
MAX_PORT = 65535
# A longer timeout overflows gRPC's clock.
MAX_TIMEOUT = 1_000_000_000
COMMITMENT_BYTES = 32
# Tokens and keys consist of visible ASCII characters. Of all others gRPC accepts only spaces, and HTTP may strip those
# at either end.
INVALID_IN_SECRETS = re.compile(r"[^\x21-\x7e]")


def checked_target(target: Any) -> str:  # Any: callers may not use a type checker
    """Return `target` if gRPC can create a channel for it.

    Raises:
        TypeError: `target` is not a str.
        ValueError: `target` is neither `host:port` nor a gRPC target.
    """
    if not isinstance(target, str):
        raise TypeError(f"target must be a str such as 'localhost:50051', not {type(target).__name__}")
    hint = "use host:port, such as 'localhost:50051', or a gRPC target such as 'dns:///host:port' or 'unix:path'"
    if not target:
        raise ValueError(f"target is empty: {hint}")
    if "@" in target and not target.startswith(PATHS):
        # The part before "@" may be a password: do not repeat it.
        raise ValueError(f"target must not contain credentials before {target[target.rindex('@') :]!r}: {hint}")
    if re.search(r"[\s\x00-\x1f\x7f]", target):
        raise ValueError(f"target {target!r} must not contain whitespace or control characters: {hint}")
    if other := next((scheme for scheme in OTHER_SCHEMES if target.startswith(scheme)), None):
        if target.removeprefix(other).strip("/"):
            return target
        raise ValueError(f"target {target!r} has no address after {other!r}: {hint}")
    dns = DNS.fullmatch(target)
    if dns is None and "://" in target:
        raise ValueError(f"target {target!r} is a URL or has an unknown scheme: {hint}")
    named = HOST_AND_PORT.fullmatch(dns["host_and_port"] if dns else target)
    if named is None:
        raise ValueError(f"target {target!r} is not host:port (put an IPv6 address in brackets): {hint}")
    if not 1 <= int(named["port"]) <= MAX_PORT:
        raise ValueError(f"target {target!r} must have a port from 1 to {MAX_PORT}: {hint}")
    return target


def check_not_in_the_clear(target: str) -> None:
    """Check that a plaintext connection to a valid target stays on this host.

    Raises:
        ValueError: tokens and API keys would cross a network in the clear.
    """
    if not is_loopback(target):
        raise ValueError(
            f"target {target!r} is not on this host, and the connection has no TLS: everyone on the network could read "
            "tokens and API keys. Use tls=True or channel credentials. If you trust the network, use "
            "allow_insecure=True"
        )


def is_loopback(target: str) -> bool:
    """Return whether all addresses of a valid target are on this host, as far as its text says."""
    if target.startswith(SOCKETS):
        return True
    if target.startswith(ADDRESSES):
        return all(is_loopback_host(host_of(part)) for part in target.partition(":")[2].strip("/").split(","))
    if target.startswith(OTHER_SCHEMES):
        return False
    dns = DNS.fullmatch(target)
    return is_loopback_host(host_of(dns["host_and_port"] if dns else target))


def host_of(address: str) -> str:
    """Return the host of an address with or without a port."""
    if address.startswith("["):
        return address[1:].partition("]")[0]
    host, _, _port = address.rpartition(":")
    return address if not host or ":" in host else host


def is_loopback_host(host: str) -> bool:
    """Return whether a host is `localhost` or an IP address of the loopback interface."""
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def checked_timeout(timeout: Any, name: str = "timeout") -> float:  # Any: as above
    """Return `timeout`, in seconds, if it is valid.

    Args:
        timeout: the timeout.
        name: the name of the argument, for the error.

    Raises:
        TypeError: `timeout` is not a number.
        ValueError: `timeout` is not positive, or above `MAX_TIMEOUT`.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{name} must be a number of seconds such as 2.5, not {type(timeout).__name__}")
    if not 0 < timeout <= MAX_TIMEOUT:
        raise ValueError(f"{name} must be greater than 0 and at most {MAX_TIMEOUT} seconds, not {timeout!r}")
    return timeout


def checked_token(token: Any) -> str:  # Any: as above
    """Return `token` if it can be sent as metadata.

    Raises:
        TokenInvalid: `token` cannot be sent.
    """
    if problem := secret_problem(token, "token"):
        raise TokenInvalid(problem, code=grpc.StatusCode.UNAUTHENTICATED, reason=Reason.TOKEN_INVALID)
    return str(token)


def checked_api_key(api_key: Any) -> str | None:  # Any: as above
    """Return `api_key` if it is None or can be sent as metadata.

    Raises:
        ApiKeyInvalid: `api_key` cannot be sent.
    """
    if api_key is None:
        return None
    if problem := secret_problem(api_key, "API key"):
        raise ApiKeyInvalid(problem, code=grpc.StatusCode.UNAUTHENTICATED, reason=Reason.API_KEY_INVALID)
    return str(api_key)


def checked_commitment(commitment: Any) -> bytes | None:  # Any: as above
    """Return `commitment` if it is None or a SHA-256.

    Raises:
        TypeError: `commitment` is not bytes.
        ValueError: `commitment` does not have 32 bytes.
    """
    if commitment is None:
        return None
    if not isinstance(commitment, bytes):
        raise TypeError(f"commitment must be bytes, such as `seat.commitment`, not {type(commitment).__name__}")
    if len(commitment) != COMMITMENT_BYTES:
        raise ValueError(f"commitment must have {COMMITMENT_BYTES} bytes, not {len(commitment)}")
    return commitment


def secret_problem(secret: object, name: str) -> str | None:
    """Return a sentence that says why `secret` cannot be sent, without the secret; None if it can be sent."""
    if not isinstance(secret, str):
        return f"The {name} must be a str, not {type(secret).__name__}."
    if not secret:
        return f"The {name} is empty."
    if invalid := INVALID_IN_SECRETS.search(secret):
        return (
            f"The {name} must consist of visible ASCII characters; character {invalid.start() + 1} of {len(secret)} "
            f"is U+{ord(invalid[0]):04X}. Whitespace is not stripped."
        )
    return None
