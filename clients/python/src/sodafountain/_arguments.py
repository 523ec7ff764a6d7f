"""What callers give that no service should see: addresses, timeouts and secrets that cannot be right."""

import re
from typing import Any

import grpc

from sodafountain._errors import ApiKeyInvalid, TokenInvalid
from sodafountain._reasons import Reason

# A host, or an IPv6 address in brackets, and a port.
HOST_AND_PORT = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^\s:/@\[\]]+):(?P<port>[0-9]{1,5})")
# gRPC's own way of naming a host: dns:///host:port, dns://resolver/host:port or dns:host:port.
DNS = re.compile(r"dns:(?://[^/]*/)?(?P<host_and_port>.*)")
# The other ways, which name what only gRPC understands.
OTHER_SCHEMES = ("unix:", "unix-abstract:", "ipv4:", "ipv6:", "vsock:", "xds:", "google-c2p:")
# Those that name a file or a cluster, which may have any name.
PATHS = ("unix:", "unix-abstract:", "xds:", "google-c2p:")
LARGEST_PORT = 65535
# Beyond it gRPC's clock overflows.
LONGEST_TIMEOUT = 1_000_000_000
# All but visible ASCII, of which every token and key consists. Of the rest gRPC lets only spaces pass, and HTTP may
# drop those at the ends on the way.
UNFIT = re.compile(r"[^\x21-\x7e]")


def checked_target(target: Any) -> str:  # Any: what callers without a type checker give
    """Returns an address that a channel can be made of.

    Raises:
        TypeError: it is no str.
        ValueError: it is neither `host:port` nor a gRPC target.
    """
    if not isinstance(target, str):
        raise TypeError(f"target must be a str, 'localhost:50051' for instance, not {type(target).__name__}")
    right = "give host:port, 'localhost:50051' for instance, or a gRPC target such as 'dns:///host:port' or 'unix:path'"
    if not target:
        raise ValueError(f"target is empty: {right}")
    if "@" in target and not target.startswith(PATHS):
        # What stands before it may be a password.
        raise ValueError(
            f"target names a user before …{target[target.rindex('@') :]!r}, which no service asks for: {right}"
        )
    if re.search(r"[\s\x00-\x1f\x7f]", target):
        raise ValueError(f"target {target!r} has white space or control characters in it: {right}")
    if other := next((scheme for scheme in OTHER_SCHEMES if target.startswith(scheme)), None):
        if target.removeprefix(other).strip("/"):
            return target
        raise ValueError(f"target {target!r} says nothing after {other!r}: {right}")
    dns = DNS.fullmatch(target)
    if dns is None and "://" in target:
        raise ValueError(f"target {target!r} is a URL, or has a scheme that gRPC does not know: {right}")
    named = HOST_AND_PORT.fullmatch(dns["host_and_port"] if dns else target)
    if named is None:
        raise ValueError(f"target {target!r} is not host:port (an IPv6 address stands in brackets): {right}")
    if not 1 <= int(named["port"]) <= LARGEST_PORT:
        raise ValueError(f"target {target!r} has no port from 1 to {LARGEST_PORT}: {right}")
    return target


def checked_timeout(timeout: Any, name: str = "timeout") -> float:  # Any: as above
    """Returns a deadline in seconds that can be kept.

    Args:
        timeout: the deadline.
        name: what the caller calls it.

    Raises:
        TypeError: it is no number.
        ValueError: it is not positive, or longer than gRPC can count.
    """
    if isinstance(timeout, bool) or not isinstance(timeout, int | float):
        raise TypeError(f"{name} must be a number of seconds, 2.5 for instance, not {type(timeout).__name__}")
    if not 0 < timeout <= LONGEST_TIMEOUT:
        raise ValueError(f"{name} must be more than 0 and at most {LONGEST_TIMEOUT} seconds, not {timeout!r}")
    return timeout


def checked_token(token: Any) -> str:  # Any: as above
    """Returns a token that can travel.

    Raises:
        TokenInvalid: it cannot.
    """
    if problem := unfitness(token, "token"):
        raise TokenInvalid(problem, code=grpc.StatusCode.UNAUTHENTICATED, reason=Reason.TOKEN_INVALID)
    return str(token)


def checked_api_key(api_key: Any) -> str | None:  # Any: as above
    """Returns an API key that can travel, or None where there is none.

    Raises:
        ApiKeyInvalid: it cannot.
    """
    if api_key is None:
        return None
    if problem := unfitness(api_key, "API key"):
        raise ApiKeyInvalid(problem, code=grpc.StatusCode.UNAUTHENTICATED, reason=Reason.API_KEY_INVALID)
    return str(api_key)


def unfitness(secret: object, name: str) -> str | None:
    """Says in a sentence why a secret cannot travel, and nothing else of it; None where it can."""
    if not isinstance(secret, str):
        return f"The {name} must be a str, not {type(secret).__name__}."
    if not secret:
        return f"The {name} is empty."
    if unfit := UNFIT.search(secret):
        return (
            f"The {name} must consist of visible ASCII characters, and number {unfit.start() + 1} of its {len(secret)} "
            f"is U+{ord(unfit[0]):04X}: nothing is stripped, not even white space at its ends."
        )
    return None
