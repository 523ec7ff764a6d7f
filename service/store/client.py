"""Asks the right server, over the calling thread's own connection, and says in the store's words what went wrong.

**Silent servers.** A server that hangs would make every thread wait until the deadline of its call, and the calls
behind them until theirs are over, even those that need no store. So nobody waits long for a first word, and while a
server is known to be silent, one call at a time waits for it; the others are told at once that it is away.
"""

import threading
from collections.abc import Sequence
from time import monotonic

from redis.exceptions import AskError, MovedError, NoScriptError, ResponseError

from service.store.connection import Answer, Command, Connection, NotAnswered, NotSent, TurnedAway
from service.store.layout import Script
from service.store.topology import Address, Source
from service.store.values import StoreError, StoreFull, StoreUnavailable, Unconfirmed

PATIENCE = 1.0
"""Seconds that any call waits for a server's first word."""
_SILENCE = 0.5  # seconds; a server is silent when a call has waited for so long in vain, whether its time was up or not
_REDIRECTIONS = 5  # more than a slot that moves while it is asked for can need
_AWAY = frozenset(
    {
        "BUSY",
        "CLUSTERDOWN",
        "LOADING",
        "MASTERDOWN",
        "MISCONF",
        "NOAUTH",
        "NOPERM",
        "NOREPLICAS",
        "READONLY",
        "TRYAGAIN",
        "WRONGPASS",
    }
)
"""The codes with which a server refuses before it changes anything, for reasons that pass or that an operator mends."""
_REPLICA = frozenset({"MASTERDOWN", "READONLY"})
"""The codes of a server that has become a replica."""


class Caller:
    """Carries commands to the server that holds a key.

    Every thread has its own connections: a pool that threads share is what costs most under load.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._threads = threading.local()
        self._closed = False
        self._silent: dict[Address, threading.Lock] = {}  # each with the lock of the one call that waits for it

    def run(
        self,
        script: Script,
        keys: Sequence[str],
        arguments: Command,
        *,
        then: Sequence[Command] = (),
        writes: bool,
        deadline: float,
    ) -> list[Answer]:
        """Runs a script, and commands right behind it; see `ask`."""
        rest = (len(keys), *keys, *arguments)
        answers = self._ask(keys[0], [(b"EVALSHA", script.sha, *rest), *then], writes, deadline)
        if isinstance(answers[0], NoScriptError):  # the server is new, or lost its scripts, and ran nothing
            answers = self._ask(keys[0], [(b"EVAL", script.source, *rest), *then], writes, deadline)
        return self._accepted(answers)

    def ask(self, key: str, commands: Sequence[Command], *, writes: bool, deadline: float) -> list[Answer]:
        """Sends commands that all concern one key and returns their answers, of which the first is no error.

        A connection that broke while it was idle is replaced, once, where it is certain that nothing was run or
        that running it again changes nothing.

        Raises:
            StoreUnavailable: no answer, nothing changed.
            Unconfirmed: no answer to a write that was sent.
            StoreFull: the server has no memory left.
            StoreError: the server refused for another reason.
        """
        return self._accepted(self._ask(key, commands, writes, deadline))

    def servers(self, deadline: float) -> Sequence[Address]:
        """Lists every server that takes writes; raises what `ask` raises."""
        return self._source.servers(deadline)

    def ask_server(self, address: Address, commands: Sequence[Command], deadline: float) -> list[Answer]:
        """Asks one server, over a connection of its own, what changes nothing.

        Raises:
            StoreUnavailable: no answer.
        """
        connection = self._source.connection(address)
        try:
            return connection.exchange(commands, deadline)
        except (NotSent, NotAnswered, TurnedAway) as failure:
            raise StoreUnavailable(str(failure)) from failure
        finally:
            connection.close()

    def silent(self, key: str) -> bool:
        """Tells whether the server that holds a key is known to be silent."""
        return bool(self._silent) and self._source.address(key, monotonic()) in self._silent

    def close(self) -> None:
        """Closes the connections of all threads; of those that are in a call, when it ends."""
        self._closed = True
        self._threads = threading.local()

    def _ask(self, key: str, commands: Sequence[Command], writes: bool, deadline: float) -> list[Answer]:
        replaced = False
        asking: Address | None = None
        for _ in range(_REDIRECTIONS):
            address = asking or self._source.address(key, deadline)
            connection = self._connection(address)
            proven = connection.proven
            try:
                if asking is None:
                    answers = self._exchange(address, connection, commands, deadline)
                else:
                    answers = self._exchange(address, connection, [(b"ASKING",), *commands], deadline)[1:]
            except TurnedAway as failure:
                self._source.forget(address)
                raise StoreUnavailable(str(failure)) from failure
            except (NotSent, NotAnswered) as failure:
                self._source.forget(address)
                if writes and isinstance(failure, NotAnswered):
                    raise Unconfirmed(f"a write was sent but not answered: {failure}") from failure
                if failure.timed_out or replaced or not proven:
                    raise StoreUnavailable(str(failure)) from failure
                replaced = True
                continue
            first = answers[0]
            if isinstance(first, MovedError):
                self._source.moved(first.slot_id, (first.host or address[0], first.port))
                asking = None
            elif isinstance(first, AskError):
                asking = (first.host or address[0], first.port)
            else:
                if isinstance(first, ResponseError) and _code(first) in _REPLICA:
                    connection.close()
                    self._source.forget(address)
                return answers
        raise StoreUnavailable("the nodes of the cluster send from one to another")

    def _exchange(
        self, address: Address, connection: Connection, commands: Sequence[Command], deadline: float
    ) -> list[Answer]:
        lock = self._silent.get(address)
        if lock is not None and not lock.acquire(blocking=False):
            raise StoreUnavailable("the server is silent, and another call waits for its first word")
        started = monotonic()
        try:
            answers = connection.exchange(commands, deadline, first=min(started + PATIENCE, deadline))
        except (NotSent, NotAnswered) as failure:
            if failure.timed_out and monotonic() > started + _SILENCE:
                self._silent.setdefault(address, threading.Lock())
            raise
        finally:
            if lock is not None:
                lock.release()
        if self._silent:
            self._silent.pop(address, None)
        return answers

    def _connection(self, address: Address) -> Connection:
        if self._closed:
            raise StoreUnavailable("the store was closed")
        try:
            connections: dict[Address, Connection] = self._threads.connections
        except AttributeError:
            connections = self._threads.connections = {}
        connection = connections.get(address)
        if connection is None:
            connection = connections[address] = self._source.connection(address)
        return connection

    @staticmethod
    def _accepted(answers: list[Answer]) -> list[Answer]:
        first = answers[0]
        if not isinstance(first, ResponseError):
            return answers
        code = _code(first)
        if code == "OOM":
            raise StoreFull(str(first))
        if code in _AWAY:
            raise StoreUnavailable(f"the server refused: {code} {first}")
        raise StoreError(f"the server refused: {code} {first}")


def _code(error: ResponseError) -> str:
    """Returns the word in capitals with which a server's error begins; redis-py has cut it off where it knows it."""
    return error.status_code or str(error).partition(" ")[0]
