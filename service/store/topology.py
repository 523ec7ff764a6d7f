"""Where the store is: one server, the master that sentinels name, or the nodes of a cluster."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, cast

from redis.backoff import NoBackoff
from redis.connection import SSLConnection, UnixDomainSocketConnection
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.exceptions import RedisError
from redis.retry import Retry
from redis.sentinel import Sentinel as SentinelClient

from service.store.connection import Answer, Connection, Failure, Kind, Settings
from service.store.values import StoreUnavailable

Address = tuple[str, int]
"""Host and port; for a Unix socket its path and 0."""


class Source(ABC):
    """Knows which server to ask, and forgets it when that proves wrong. Shared by all threads."""

    def __init__(self, kind: Kind, settings: Settings) -> None:
        self._kind = kind
        self._settings = settings

    @abstractmethod
    def address(self, key: str, deadline: float) -> Address:
        """Says where a key lives.

        Raises:
            StoreUnavailable: nobody can say before the deadline.
        """

    @abstractmethod
    def servers(self, deadline: float) -> Sequence[Address]:
        """Lists every server that takes writes; raises what `address` raises."""

    @abstractmethod
    def forget(self, address: Address) -> None:
        """Takes note that this server is not there, or no longer the one to ask."""

    def moved(self, slot: int, address: Address) -> None:  # noqa: ARG002
        """Takes note of where a slot of a cluster has gone.

        Raises:
            StoreUnavailable: we were not told that it is a cluster.
        """
        raise StoreUnavailable("the server is part of a cluster: the store URL must be redis+cluster://…")

    def connection(self, address: Address) -> Connection:
        """Makes a connection, not open yet."""
        return Connection(self._kind, self._to(address))

    def subscriber(self, address: Address, *, timeout: float) -> Any:
        """Makes a connection that can subscribe to channels, one of redis-py's own, not open yet."""
        return self._kind(
            **self._to(address),
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            health_check_interval=0,
            driver_info=None,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
        )

    def _to(self, address: Address) -> Settings:
        host, port = address
        if issubclass(self._kind, UnixDomainSocketConnection):
            return {**self._settings, "path": host}
        return {**self._settings, "host": host, "port": port}


class Standalone(Source):
    """One server at one address."""

    def __init__(self, address: Address, kind: Kind, settings: Settings) -> None:
        super().__init__(kind, settings)
        self._address = address

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002, D102
        return self._address

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: ARG002, D102
        return (self._address,)

    def forget(self, address: Address) -> None:  # noqa: D102
        pass  # there is no other


class Sentinel(Source):
    """The master that sentinels name, asked for again whenever it is lost."""

    def __init__(
        self, sentinels: Sequence[Address], master: str, kind: Kind, settings: Settings, sentinel_settings: Settings
    ) -> None:
        super().__init__(kind, settings)
        self._sentinels = sentinels
        self._master = master
        self._sentinel_settings = sentinel_settings
        self._known: Address | None = None
        self._resolving = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002, D102
        known = self._known
        if known is None:
            with _held(self._resolving, deadline):
                known = self._known = self._known or self._resolve(deadline)
        return known

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: D102
        return (self.address("", deadline),)

    def forget(self, address: Address) -> None:  # noqa: D102
        if self._known == address:
            self._known = None

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


class Cluster(Source):
    """The masters of a cluster, by slot."""

    def __init__(self, seeds: Sequence[Address], kind: Kind, settings: Settings) -> None:
        super().__init__(kind, settings)
        self._seeds = seeds
        self._masters: Sequence[Address] = ()
        self._slots: list[Address | None] = []  # empty: to be asked for
        self._asking = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:  # noqa: D102
        slot = key_slot(key.encode())
        address = (self._slots or self._ask(deadline))[slot]
        if address is None:
            self._slots = []
            raise StoreUnavailable(f"no node of the cluster serves slot {slot}")
        return address

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: D102
        if not self._slots:
            self._ask(deadline)
        return self._masters

    def forget(self, address: Address) -> None:  # noqa: D102
        if address in self._masters:
            self._slots = []

    def moved(self, slot: int, address: Address) -> None:  # noqa: D102
        slots = self._slots
        if slots:
            slots[slot] = address

    def _ask(self, deadline: float) -> list[Address | None]:
        """Asks node after node which slots are whose, each for its share of the time that is left."""
        with _held(self._asking, deadline):
            if self._slots:
                return self._slots
            nodes = list(dict.fromkeys((*self._seeds, *self._masters)))
            problems = []
            for number, node in enumerate(nodes):
                now = monotonic()
                connection = self.connection(node)
                try:
                    [answer] = connection.exchange(
                        [("CLUSTER", "SLOTS")], now + (deadline - now) / (len(nodes) - number)
                    )
                except Failure as failure:
                    answer = failure
                finally:
                    connection.close()
                if not isinstance(answer, Exception):
                    self._slots = _slots(answer, node)
                    self._masters = sorted({master for master in self._slots if master is not None})
                    return self._slots
                problems.append(f"{node[0]}:{node[1]}: {answer}")
        raise StoreUnavailable(f"no node of the cluster tells its slots: {'; '.join(problems)}")


def _slots(ranges: Answer, asked: Address) -> list[Address | None]:
    """Reads the answer to CLUSTER SLOTS: first and last slot, then the master, then its replicas."""
    slots: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
    for first, last, master, *_replicas in ranges:
        host, port, *_ = master
        address = (host.decode() if host else asked[0], port)  # no host: the one that was asked
        slots[first : last + 1] = [address] * (last + 1 - first)
    return slots


@contextmanager
def _held(lock: threading.Lock, deadline: float) -> Iterator[None]:
    if not lock.acquire(timeout=max(deadline - monotonic(), 0)):
        raise StoreUnavailable("no time left: another call is still finding out where the store is")
    try:
        yield
    finally:
        lock.release()
