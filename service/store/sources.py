"""Where the store is: one server, the master that sentinels name, or the nodes of a cluster."""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, NoReturn, Protocol, cast

from redis.backoff import NoBackoff
from redis.connection import SSLConnection, UnixDomainSocketConnection
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import RedisError, ResponseError
from redis.retry import Retry
from redis.sentinel import Sentinel as SentinelClient

from service.store.connection import Answer, Connection, Failure, Kind, Settings
from service.store.values import StoreUnavailable

Address = tuple[str, int]
"""Host and port; for a Unix socket its path and 0."""


class Source(Protocol):
    """Knows which server to ask, and forgets it when that proves wrong. Shared by all threads."""

    def address(self, key: str, deadline: float) -> Address:
        """Says where a key lives.

        Raises:
            StoreUnavailable: nobody can say before the deadline.
        """

    def servers(self, deadline: float) -> Sequence[Address]:
        """Lists every server that takes writes.

        Raises:
            StoreUnavailable: nobody can say before the deadline.
        """

    def connection(self, address: Address) -> Connection:
        """Makes a connection, not open yet."""

    def forget(self, address: Address) -> None:
        """Takes note that this server is not there, or no longer the one to ask."""

    def moved(self, slot: int, address: Address) -> None:
        """Takes note of where a slot of a cluster has gone."""


class Standalone:
    """One server at one address."""

    def __init__(self, address: Address, kind: Kind, settings: Settings) -> None:
        self._address = address
        self._kind = kind
        self._settings = settings

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002
        """See `Source`."""
        return self._address

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: ARG002
        """See `Source`."""
        return (self._address,)

    def connection(self, address: Address) -> Connection:
        """See `Source`."""
        return _connection(self._kind, address, self._settings)

    def forget(self, address: Address) -> None:
        """See `Source`: there is no other."""

    def moved(self, slot: int, address: Address) -> NoReturn:
        """See `Source`."""
        del slot, address
        raise StoreUnavailable("the server is part of a cluster: the store URL must be redis+cluster://…")


class Sentinel:
    """The master that sentinels name, asked for again whenever it is lost."""

    def __init__(
        self, sentinels: Sequence[Address], master: str, kind: Kind, settings: Settings, sentinel_settings: Settings
    ) -> None:
        self._sentinels = sentinels
        self._master = master
        self._kind = kind
        self._settings = settings
        self._sentinel_settings = sentinel_settings
        self._known: Address | None = None
        self._lock = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002
        """See `Source`."""
        known = self._known
        if known is not None:
            return known
        with _locked(self._lock, deadline):
            if self._known is None:
                self._known = self._resolve(deadline)
            return self._known

    def servers(self, deadline: float) -> Sequence[Address]:
        """See `Source`."""
        return (self.address("", deadline),)

    def connection(self, address: Address) -> Connection:
        """See `Source`."""
        return _connection(self._kind, address, self._settings)

    def forget(self, address: Address) -> None:
        """See `Source`."""
        with self._lock:
            if self._known == address:
                self._known = None

    def moved(self, slot: int, address: Address) -> NoReturn:
        """See `Source`."""
        del slot, address
        raise StoreUnavailable("the server is part of a cluster: the store URL must be redis+cluster://…")

    def _resolve(self, deadline: float) -> Address:
        share = (deadline - monotonic()) / len(self._sentinels)
        if share <= 0:
            raise StoreUnavailable("no time left to ask the sentinels for the master")
        client = cast("Any", SentinelClient)(  # redis-py has no types here
            list(self._sentinels),
            sentinel_kwargs={
                **self._sentinel_settings,
                "ssl": issubclass(self._kind, SSLConnection),
                "retry": Retry(NoBackoff(), 0),
                "socket_timeout": share,
                "socket_connect_timeout": share,
            },
        )
        try:
            host, port = client.discover_master(self._master)
        except RedisError as error:
            raise StoreUnavailable(f"the sentinels name no master: {error}") from error
        finally:
            client.close()
        return str(host), int(port)


class Cluster:
    """The nodes of a cluster, by slot."""

    def __init__(self, seeds: Sequence[Address], kind: Kind, settings: Settings) -> None:
        self._seeds = seeds
        self._kind = kind
        self._settings = settings
        self._slots: list[Address | None] = []
        self._lock = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:
        """See `Source`."""
        slot = key_slot(key.encode())
        slots = self._slots or self._refresh(deadline)
        address = slots[slot]
        if address is None:
            self._slots = []
            raise StoreUnavailable(f"no node of the cluster serves slot {slot}")
        return address

    def servers(self, deadline: float) -> Sequence[Address]:
        """See `Source`."""
        return sorted({address for address in self._slots or self._refresh(deadline) if address is not None})

    def connection(self, address: Address) -> Connection:
        """See `Source`."""
        return _connection(self._kind, address, self._settings)

    def forget(self, address: Address) -> None:
        """See `Source`."""
        if address in self._slots:
            self._slots = []

    def moved(self, slot: int, address: Address) -> None:
        """See `Source`."""
        slots = self._slots
        if slots:
            slots[slot] = address

    def _refresh(self, deadline: float) -> list[Address | None]:
        with _locked(self._lock, deadline):
            if self._slots:
                return self._slots
            problems = []
            for left, seed in zip(range(len(self._seeds), 0, -1), self._seeds, strict=True):
                now = monotonic()
                connection = self.connection(seed)
                try:
                    answer = connection.exchange([("CLUSTER", "SLOTS")], now + (deadline - now) / left)[0]
                except Failure as failure:
                    problems.append(f"{seed[0]}:{seed[1]}: {failure}")
                    continue
                finally:
                    connection.close()
                if isinstance(answer, ResponseError):
                    problems.append(f"{seed[0]}:{seed[1]}: {answer}")
                    continue
                self._slots = _slots(answer, seed)
                return self._slots
        raise StoreUnavailable(f"no node of the cluster tells its slots: {'; '.join(problems)}")


def _slots(ranges: Answer, asked: Address) -> list[Address | None]:
    """Reads the answer to CLUSTER SLOTS: first and last slot, then the master, then its replicas."""
    slots: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
    for first, last, master, *_replicas in ranges:
        host, port, *_ = master
        address = (host.decode() if host else asked[0], port)  # no host: the one that was asked
        slots[first : last + 1] = [address] * (last + 1 - first)
    return slots


def _connection(kind: Kind, address: Address, settings: Settings) -> Connection:
    host, port = address
    if issubclass(kind, UnixDomainSocketConnection):
        return Connection(kind, {**settings, "path": host})
    return Connection(kind, {**settings, "host": host, "port": port})


@contextmanager
def _locked(lock: threading.Lock, deadline: float) -> Iterator[None]:
    if not lock.acquire(timeout=max(deadline - monotonic(), 0)):
        raise StoreUnavailable("no time left: another call is still finding out where the store is")
    try:
        yield
    finally:
        lock.release()
