"""Store URLs. Since a URL may contain a password, errors repeat only the names of its options."""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import SplitResult, parse_qsl, unquote, urlsplit

from redis.connection import Connection as TcpConnection
from redis.connection import SSLConnection, UnixDomainSocketConnection

from service.store.connection import ConnectionSettings, ConnectionType
from service.store.topology import Address, Cluster, Sentinel, Standalone, Topology

_PORT: Final = 6379
_SENTINEL_PORT: Final = 26379

_SCHEMES: Final[dict[str, ConnectionType]] = {
    "redis": TcpConnection,
    "valkey": TcpConnection,
    "rediss": SSLConnection,
    "valkeys": SSLConnection,
    "unix": UnixDomainSocketConnection,
}


def _boolean(text: str) -> bool:
    return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}[text.lower()]


_TLS: Final[dict[str, Callable[[str], object]]] = {
    "ssl_ca_certs": str,
    "ssl_ca_path": str,
    "ssl_certfile": str,
    "ssl_keyfile": str,
    "ssl_cert_reqs": {reqs: reqs for reqs in ("none", "optional", "required")}.__getitem__,
    "ssl_check_hostname": _boolean,
}
"""The TLS options, by redis-py's names, and the parsers of their values."""


def parse(url: str) -> Topology:
    """Return the topology that a URL describes; see `service.store.connect` for the forms.

    Raises:
        ValueError: the URL is invalid; the message is one sentence.
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise ValueError("the store URL is invalid: its host is malformed") from None
    base, _, topology = parts.scheme.partition("+")
    kind = _SCHEMES.get(base)
    if kind is None or topology not in {"", "sentinel", "cluster"} or (topology and base == "unix"):
        raise ValueError(
            "the store URL must begin with redis://, rediss://, unix://, redis+sentinel:// or redis+cluster:// "
            "(valkey is a synonym of redis)"
        )
    if parts.fragment:
        raise ValueError("the store URL contains '#': write it as %23 in a user name or password")
    settings, sentinel_settings = _options(parts, kind, sentinel=topology == "sentinel")
    credentials, _, hosts = parts.netloc.rpartition("@")
    settings |= _credentials(credentials)
    path = [unquote(step) for step in parts.path.split("/")[1:] if step]
    if base == "unix":
        if hosts or not path:
            raise ValueError("a unix:// store URL needs an absolute path, as in unix:///run/valkey/valkey.sock")
        return Standalone((unquote(parts.path), 0), kind, settings)
    if topology == "cluster":
        if path not in ([], ["0"]):
            raise ValueError("a cluster has no numbered databases: the store URL must end after the hosts")
        return Cluster(_addresses(hosts, _PORT), kind, settings)
    if topology == "sentinel":
        if not 1 <= len(path) <= 2:
            raise ValueError(
                "a sentinel store URL needs the name of the primary: redis+sentinel://host1,host2/name or …/name/db"
            )
        settings |= _database(path[1:])
        return Sentinel(_addresses(hosts, _SENTINEL_PORT), path[0], kind, settings, sentinel_settings)
    addresses = _addresses(hosts, _PORT)
    if len(addresses) != 1:
        raise ValueError("the store URL has several hosts, which only redis+sentinel:// and redis+cluster:// allow")
    return Standalone(addresses[0], kind, settings | _database(path))


def _options(
    parts: SplitResult, kind: ConnectionType, *, sentinel: bool
) -> tuple[ConnectionSettings, ConnectionSettings]:
    """Parse the query into settings for connections to servers, and for connections to sentinels."""
    settings: ConnectionSettings = {}
    sentinel_settings: ConnectionSettings = {}
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        if name in _TLS and kind is SSLConnection:
            try:
                settings[name] = _TLS[name](value)
            except KeyError:
                raise ValueError(f"the store URL has an invalid value for option {name}") from None
        elif name == "db" and kind is UnixDomainSocketConnection:
            settings |= _database([value])
        elif name in {"sentinel_username", "sentinel_password"} and sentinel:
            sentinel_settings[name.removeprefix("sentinel_")] = value
        else:
            raise ValueError(f"the store URL has an unknown option: {name}")
    return settings, {**settings, **sentinel_settings}


def _credentials(text: str) -> ConnectionSettings:
    user, colon, password = text.partition(":")
    if not text:
        return {}
    if not colon:
        raise ValueError("the store URL has a user name but no password: write user:password@ or :password@")
    return {"password": unquote(password)} | ({"username": unquote(user)} if user else {})


def _database(path: Sequence[str]) -> ConnectionSettings:
    if not path:
        return {}
    if len(path) > 1 or not path[0].isdecimal():
        raise ValueError("the store URL's database must be a number, as in redis://host/0")
    return {"db": int(path[0])}


def _addresses(hosts: str, port: int) -> list[Address]:
    addresses = []
    for text in hosts.split(","):
        try:
            parts = urlsplit(f"//{text}")
            host, given = parts.hostname or "", parts.port
            host.encode("idna")  # name resolution does this first
        except ValueError:
            raise ValueError("the store URL has an invalid port or a malformed host") from None
        if not host:
            raise ValueError("the store URL has no host")
        addresses.append((host, port if given is None else given))
    return addresses
