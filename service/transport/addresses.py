"""The address of a caller, behind proxies that are trusted to name it."""

import ipaddress
from collections.abc import Sequence
from typing import Final, TypeAlias
from urllib.parse import unquote

Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address
Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

_IPV4: Final = 4
_SITE_BITS: Final = 64
"""A caller with IPv6 usually has all addresses of a network of this size."""


def caller_address(peer: str, forwarded_for: str, trusted: Sequence[Network]) -> str:
    """Return the address of a caller; for IPv6, its network. Empty for a caller on this machine.

    Args:
        peer: the peer as gRPC names it, such as `ipv4:127.0.0.1:50051`. Who connects to a Unix socket is trusted.
        forwarded_for: the value of `x-forwarded-for`, to which each proxy adds the address from which it was called.
        trusted: the networks of the proxies whose addition counts.
    """
    hops = [hop for part in forwarded_for.split(",") if (hop := part.strip())]
    kind, _, rest = peer.partition(":")
    if kind in {"ipv4", "ipv6"}:
        hops.append(unquote(rest.rpartition(":")[0]).strip("[]").partition("%")[0])
    address = None
    while hops and (address := _parse(hops.pop())) and any(address in network for network in trusted):
        pass
    return "" if address is None else _site(address)


def _parse(text: str) -> Address | None:
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return None
    return getattr(address, "ipv4_mapped", None) or address


def _site(address: Address) -> str:
    if address.version == _IPV4:
        return str(address)
    return str(ipaddress.ip_network((int(address), _SITE_BITS), strict=False))
