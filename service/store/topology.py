"""The topology of a store: one server, the primary that sentinels name, or the nodes of a cluster."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import monotonic
from typing import Any, Final

import structlog
from redis.backoff import NoBackoff
from redis.connection import UnixDomainSocketConnection
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot
from redis.retry import Retry

from service.store.connection import Connection, ConnectionSettings, ConnectionType, Failure, Reply
from service.store.errors import StoreUnavailable
from service.store.sentinels import Address, Sentinels

__all__ = ["Address", "Cluster", "Sentinel", "Standalone", "Topology"]

_log: Final = structlog.get_logger()


class Topology(ABC):
    """Knows which server holds a key. Shared by all threads."""

    def __init__(self, connection_type: ConnectionType, settings: ConnectionSettings) -> None:
        self._connection_type = connection_type
        self._settings = settings
        self._listeners: list[Callable[[], None]] = []

    @abstractmethod
    def address(self, key: str, deadline: float) -> Address:
        """Return the server that holds a key.

        Raises:
            StoreUnavailable: the server cannot be determined before the deadline.
        """

    @abstractmethod
    def servers(self, deadline: float) -> Sequence[Address]:
        """Return every server that accepts writes. Raises like `address`."""

    @abstractmethod
    def forget(self, address: Address) -> None:
        """Record that a server is unreachable, or no longer accepts the commands for its keys."""

    def suspect(self) -> None:  # noqa: B027
        """Record that a server may have been replaced, although it answers."""

    def serves(self, address: Address) -> bool:  # noqa: ARG002
        """Return whether a server may hold keys. Connections to one that does not are closed."""
        return True

    def on_change(self, listener: Callable[[], None]) -> None:
        """Call a function, in another thread, when another server has become the primary."""
        self._listeners.append(listener)

    def close(self) -> None:  # noqa: B027
        """Close what the topology holds open."""

    def moved(self, slot: int, address: Address) -> None:  # noqa: ARG002
        """Record that a slot of a cluster has moved.

        Raises:
            StoreUnavailable: this topology is not a cluster.
        """
        raise StoreUnavailable("the server is part of a cluster: the store URL must be redis+cluster://…")

    def connection(self, address: Address) -> Connection:
        """Return a connection that is not open yet."""
        return Connection(self._connection_type, self._settings_for(address, self._settings))

    def subscriber(self, address: Address, *, timeout: float) -> Any:
        """Return a redis-py connection that can subscribe to channels and is not open yet."""
        return self._subscriber(self._settings_for(address, self._settings), timeout)

    def _subscriber(self, settings: ConnectionSettings, timeout: float) -> Any:
        return self._connection_type(
            **settings,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            health_check_interval=0,
            driver_info=None,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
        )

    def _settings_for(self, address: Address, settings: ConnectionSettings) -> ConnectionSettings:
        host, port = address
        if issubclass(self._connection_type, UnixDomainSocketConnection):
            return {**settings, "path": host}
        return {**settings, "host": host, "port": port}


class Standalone(Topology):
    """One server at one address."""

    def __init__(self, address: Address, connection_type: ConnectionType, settings: ConnectionSettings) -> None:
        super().__init__(connection_type, settings)
        self._address = address

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002, D102
        return self._address

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: ARG002, D102
        return (self._address,)

    def forget(self, address: Address) -> None:  # noqa: D102
        pass  # there is no other server


class Sentinel(Topology):
    """The primary that sentinels name. They are followed from the first use on, and asked when the primary fails."""

    def __init__(
        self,
        sentinels: Sequence[Address],
        primary: str,
        connection_type: ConnectionType,
        settings: ConnectionSettings,
        sentinel_settings: ConnectionSettings,
    ) -> None:
        super().__init__(connection_type, settings)
        self._sentinels = Sentinels(
            sentinels,
            primary,
            lambda address: Connection(connection_type, self._settings_for(address, sentinel_settings)),
            lambda address, timeout: self._subscriber(self._settings_for(address, sentinel_settings), timeout),
        )
        self._known: Address | None = None
        self._resolving = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:  # noqa: ARG002, D102
        known = self._known
        if known is None:
            with _acquired(self._resolving, deadline):
                known = self._known
                if known is None:
                    known = self._known = self._sentinels.ask(deadline)
                self._sentinels.follow(self._named)
        return known

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: D102
        return (self.address("", deadline),)

    def forget(self, address: Address) -> None:  # noqa: D102
        if self._known == address:
            self._known = None

    def suspect(self) -> None:  # noqa: D102
        self._sentinels.ask_soon()

    def serves(self, address: Address) -> bool:  # noqa: D102
        return address == self._known

    def close(self) -> None:  # noqa: D102
        self._sentinels.close()

    def _named(self, address: Address) -> None:
        """Use the primary that the sentinels name now."""
        known, self._known = self._known, address
        if known not in {None, address}:
            _log.warning("primary_changed", host=address[0], port=address[1])
            for listener in tuple(self._listeners):
                listener()


class Cluster(Topology):
    """The primaries of a cluster, by slot."""

    def __init__(self, seeds: Sequence[Address], connection_type: ConnectionType, settings: ConnectionSettings) -> None:
        super().__init__(connection_type, settings)
        self._seeds = seeds
        self._primaries: Sequence[Address] = ()
        self._slots: list[Address | None] = []  # empty: unknown
        self._querying = threading.Lock()

    def address(self, key: str, deadline: float) -> Address:  # noqa: D102
        slot = key_slot(key.encode())
        address = (self._slots or self._query(deadline))[slot]
        if address is None:
            self._slots = []
            raise StoreUnavailable(f"no node of the cluster serves slot {slot}")
        return address

    def servers(self, deadline: float) -> Sequence[Address]:  # noqa: D102
        if not self._slots:
            self._query(deadline)
        return self._primaries

    def forget(self, address: Address) -> None:  # noqa: D102
        if address in self._primaries:
            self._slots = []

    def moved(self, slot: int, address: Address) -> None:  # noqa: D102
        slots = self._slots
        if slots:
            slots[slot] = address

    def _query(self, deadline: float) -> list[Address | None]:
        """Query the nodes in turn until one reports the slots. Each gets an equal share of the remaining time."""
        with _acquired(self._querying, deadline):
            if self._slots:
                return self._slots
            nodes = list(dict.fromkeys((*self._seeds, *self._primaries)))
            problems = []
            for number, node in enumerate(nodes):
                now = monotonic()
                connection = self.connection(node)
                try:
                    [reply] = connection.exchange(
                        [("CLUSTER", "SLOTS")], now + (deadline - now) / (len(nodes) - number)
                    )
                except Failure as failure:
                    reply = failure
                finally:
                    connection.close()
                if not isinstance(reply, Exception):
                    self._slots = _slots(reply, node)
                    self._primaries = sorted({primary for primary in self._slots if primary is not None})
                    return self._slots
                problems.append(f"{node[0]}:{node[1]}: {reply}")
        raise StoreUnavailable(f"no node of the cluster reports its slots: {'; '.join(problems)}")


def _slots(ranges: Reply, queried: Address) -> list[Address | None]:
    """Parse the reply to CLUSTER SLOTS: first and last slot, then the primary, then its replicas."""
    slots: list[Address | None] = [None] * REDIS_CLUSTER_HASH_SLOTS
    for first, last, primary, *_replicas in ranges:
        host, port, *_ = primary
        address = (host.decode() if host else queried[0], port)  # no host: the queried node's
        slots[first : last + 1] = [address] * (last + 1 - first)
    return slots


@contextmanager
def _acquired(lock: threading.Lock, deadline: float) -> Iterator[None]:
    if not lock.acquire(timeout=max(deadline - monotonic(), 0)):
        raise StoreUnavailable("no time left: another call is still resolving the store's address")
    try:
        yield
    finally:
        lock.release()
