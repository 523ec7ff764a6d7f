"""Send commands to the server that holds a key, over the calling thread's own connection.

**Silent servers.** A server that hangs would block every thread until the deadline of its call. Therefore no call waits
longer than `FIRST_REPLY_SECONDS` for the first reply. While a server is known to be silent, one call at a time waits
for it, and all others fail immediately.
"""

import itertools
import threading
from collections.abc import Sequence
from time import monotonic

from redis.exceptions import AskError, MovedError, NoScriptError, ResponseError

from service.store.connection import Command, Connection, NotAnswered, NotSent, Refused, Reply
from service.store.errors import AccessDenied, StoreError, StoreFull, StoreUnavailable, Unconfirmed
from service.store.rights import is_refusal
from service.store.scripts import Script
from service.store.topology import Address, Topology

FIRST_REPLY_SECONDS = 1.0
"""How long a call waits for the first reply of a server."""
_SILENT_AFTER = 0.5  # seconds without a reply after which a server counts as silent
_MAX_REDIRECTIONS = 5  # more than a slot that is being migrated can cause
_UNAVAILABLE = frozenset(
    {
        "BUSY",
        "CLUSTERDOWN",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "NOREPLICAS",
        "READONLY",
        "TRYAGAIN",
    }
)
"""Error codes with which a server refuses a command before it changes anything, temporarily or until reconfigured."""
_DENIED = frozenset({"NOAUTH", "NOPERM", "WRONGPASS"})
"""Error codes with which a server refuses the user."""
_IS_REPLICA = frozenset({"MASTERDOWN", "READONLY"})
"""Error codes of a server that has become a replica."""


class Client:
    """A client of the store's servers. Thread-safe.

    Every thread has its own connections, since contention on a shared pool is the largest cost under load.
    """

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._threads = threading.local()
        self._closed = False
        self._silent: dict[Address, threading.Lock] = {}  # each with the lock of the one call that waits for it

    def run_script(
        self,
        script: Script,
        keys: Sequence[str],
        arguments: Command,
        *,
        then: Sequence[Command] = (),
        writes: bool,
        deadline: float,
    ) -> list[Reply]:
        """Run a script, and further commands directly after it; see `execute`."""
        rest = (len(keys), *keys, *arguments)
        replies = self._send(keys[0], [(b"EVALSHA", script.sha, *rest), *then], writes, deadline)
        if isinstance(replies[0], NoScriptError):  # the server has restarted, and has run nothing
            replies = self._send(keys[0], [(b"EVAL", script.source, *rest), *then], writes, deadline)
        return _checked(replies, writes=writes)

    def execute(self, key: str, commands: Sequence[Command], *, writes: bool, deadline: float) -> list[Reply]:
        """Send commands that concern one key, and return their replies. The first reply is not an error.

        If a connection broke while it was idle, it is replaced once, provided that repeating the commands is safe.

        Raises:
            StoreUnavailable: no reply; nothing changed.
            AccessDenied: the server refuses the user.
            Unconfirmed: no reply to a write that was sent.
            StoreFull: the server is out of memory.
            StoreError: the server refused for another reason.
        """
        return _checked(self._send(key, commands, writes, deadline), writes=writes)

    def servers(self, deadline: float) -> Sequence[Address]:
        """Return every server that accepts writes. Raises like `execute`."""
        return self._topology.servers(deadline)

    def query_server(self, address: Address, commands: Sequence[Command], deadline: float) -> list[Reply]:
        """Send read-only commands to one server, over a separate connection.

        Raises:
            StoreUnavailable: no reply.
            AccessDenied: the server refuses the user.
        """
        connection = self._topology.connection(address)
        try:
            return connection.exchange(commands, deadline)
        except Refused as failure:
            raise _refused(failure) from failure
        except (NotSent, NotAnswered) as failure:
            raise StoreUnavailable(str(failure)) from failure
        finally:
            connection.close()

    def key_at(self, address: Address, pattern: str, deadline: float) -> str:
        """Return a key that a server holds, from a pattern with a place for a number. Raises like `execute`."""
        numbers = itertools.count()
        return next(key for number in numbers if self._topology.address(key := pattern % number, deadline) == address)

    def is_silent(self, key: str) -> bool:
        """Return whether the server that holds a key is known to be silent."""
        return bool(self._silent) and self._topology.address(key, monotonic()) in self._silent

    def close(self) -> None:
        """Close the connections of all threads; those in use are closed when their call ends."""
        self._closed = True
        self._threads = threading.local()
        self._topology.close()

    def _send(self, key: str, commands: Sequence[Command], writes: bool, deadline: float) -> list[Reply]:
        replaced = False
        asking: Address | None = None
        for _ in range(_MAX_REDIRECTIONS):
            address = asking or self._topology.address(key, deadline)
            connection = self._connection(address)
            proven = connection.proven
            try:
                if asking is None:
                    replies = self._exchange(address, connection, commands, deadline)
                else:
                    replies = self._exchange(address, connection, [(b"ASKING",), *commands], deadline)[1:]
            except Refused as failure:
                self._topology.forget(address)
                raise _refused(failure) from failure
            except (NotSent, NotAnswered) as failure:
                self._topology.forget(address)
                if writes and isinstance(failure, NotAnswered):
                    raise Unconfirmed(f"a write was sent but not answered: {failure}") from failure
                if failure.timed_out or replaced or not proven:
                    raise StoreUnavailable(str(failure)) from failure
                replaced = True
                continue
            first = replies[0]
            if isinstance(first, MovedError):
                self._topology.moved(first.slot_id, (first.host or address[0], first.port))
                asking = None
            elif isinstance(first, AskError):
                asking = (first.host or address[0], first.port)
            else:
                if isinstance(first, ResponseError) and _code(first) in _IS_REPLICA:
                    connection.close()
                    self._topology.forget(address)
                return replies
        raise StoreUnavailable("the cluster's nodes redirect to each other")

    def _exchange(
        self, address: Address, connection: Connection, commands: Sequence[Command], deadline: float
    ) -> list[Reply]:
        lock = self._silent.get(address)
        if lock is not None and not lock.acquire(blocking=False):
            raise StoreUnavailable("the server is silent, and another call waits for its first reply")
        started = monotonic()
        try:
            replies = connection.exchange(commands, deadline, first=min(started + FIRST_REPLY_SECONDS, deadline))
        except (NotSent, NotAnswered) as failure:
            if failure.timed_out and monotonic() > started + _SILENT_AFTER:
                self._silent.setdefault(address, threading.Lock())
            raise
        finally:
            if lock is not None:
                lock.release()
        if self._silent:
            self._silent.pop(address, None)
        return replies

    def _connection(self, address: Address) -> Connection:
        if self._closed:
            raise StoreUnavailable("the store was closed")
        try:
            connections: dict[Address, Connection] = self._threads.connections
        except AttributeError:
            connections = self._threads.connections = {}
        connection = connections.get(address)
        if connection is None:
            for other in [other for other in connections if not self._topology.serves(other)]:
                connections.pop(other).close()
            connection = connections[address] = self._topology.connection(address)
        return connection


def _refused(failure: Refused) -> StoreUnavailable:
    """Return the exception for a server that refused a connection."""
    text = str(failure)
    return AccessDenied(text) if text.partition(" ")[0] in _DENIED else StoreUnavailable(text)


def _checked(replies: list[Reply], *, writes: bool) -> list[Reply]:
    first = replies[0]
    if not isinstance(first, ResponseError):
        return replies
    code = _code(first)
    text = f"the server refused: {code} {first}"
    if code == "OOM":
        raise StoreFull(str(first))
    if code in _DENIED:
        raise AccessDenied(text)
    if is_refusal(text):  # in a script, which may have written before
        raise Unconfirmed(text) if writes else AccessDenied(text)
    raise StoreUnavailable(text) if code in _UNAVAILABLE else StoreError(text)


def _code(error: ResponseError) -> str:
    """Return the error code, in capitals, that a server's error begins with; redis-py removes the codes it knows."""
    return error.status_code or str(error).partition(" ")[0]
