"""The sentinels of a primary. They are asked which server it is at intervals, and at once when one announces a change.

A primary that was replaced may answer for a long time: after a planned failover, or when it is cut off from its
replicas and the sentinels. What it acknowledges then is lost. So its failure must not be the only cause to ask.
"""

import select
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Final

import structlog
from redis.exceptions import RedisError

from service.observability.logs import frames
from service.store.connection import Connection, Failure
from service.store.errors import StoreUnavailable

Address = tuple[str, int]

_INTERVAL_SECONDS: Final = 1.0
_REPLY_SECONDS: Final = 0.5
"""How long one sentinel may take to reply in the background."""
_CHANNEL: Final = b"+switch-master"

_log = structlog.get_logger()


class Sentinels:
    """The sentinels of one primary. Thread-safe.

    Args:
        addresses: the sentinels.
        primary: the name of the primary.
        connection: returns a connection to a sentinel that is not open yet.
        subscriber: the same, for a redis-py connection that can subscribe, with a timeout in seconds.
    """

    def __init__(
        self,
        addresses: Sequence[Address],
        primary: str,
        connection: Callable[[Address], Connection],
        subscriber: Callable[[Address, float], Any],
    ) -> None:
        self._addresses = addresses
        self._primary = primary
        self._connection = connection
        self._subscriber = subscriber
        self._subscriptions: dict[Address, Any] = {}
        self._wakeup: socket.socket | None = None
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def ask(self, deadline: float) -> Address:
        """Return the primary, asking all sentinels. Each gets an equal share of the remaining time.

        Sentinels that were cut off from the others may name an earlier primary: the newest configuration counts.

        Raises:
            StoreUnavailable: no sentinel names one.
        """
        named: list[tuple[int, Address]] = []
        problems = []
        for number, address in enumerate(self._addresses):
            now = monotonic()
            connection = self._connection(address)
            try:
                share = (deadline - now) / (len(self._addresses) - number)
                [reply] = connection.exchange([("SENTINEL", "MASTER", self._primary)], now + share)
            except Failure as failure:
                reply = failure
            finally:
                connection.close()
            if isinstance(reply, Exception):
                problems.append(f"{address[0]}:{address[1]}: {reply}")
            else:
                facts = dict(zip(reply[::2], reply[1::2], strict=True))
                named.append((int(facts[b"config-epoch"]), (facts[b"ip"].decode(), int(facts[b"port"]))))
        if not named:
            raise StoreUnavailable(f"the sentinels name no primary: {'; '.join(problems)}")
        return max(named, key=lambda one: one[0])[1]

    def follow(self, on_primary: Callable[[Address], None]) -> None:
        """Call a function with the primary from now on, in a separate thread: at intervals, and on every change."""
        if self._thread is None:
            wakeups, self._wakeup = socket.socketpair()
            wakeups.setblocking(False)
            self._wakeup.setblocking(False)
            arguments = (wakeups, on_primary)
            self._thread = threading.Thread(target=self._run, args=arguments, name="sentinels", daemon=True)
            self._thread.start()

    def ask_soon(self) -> None:
        """Let the thread ask at once."""
        if self._wakeup is not None:
            with suppress(OSError):  # enough wake-ups are pending, or it was closed
                self._wakeup.send(b"\0")

    def close(self) -> None:
        """Close all connections and end the thread."""
        self._closed.set()
        self.ask_soon()
        if self._thread is not None and self._wakeup is not None:
            self._thread.join()
            self._wakeup.close()

    def _run(self, wakeups: socket.socket, on_primary: Callable[[Address], None]) -> None:
        with wakeups:
            self._follow(wakeups, on_primary)
        for subscription in self._subscriptions.values():
            subscription.disconnect()

    def _follow(self, wakeups: socket.socket, on_primary: Callable[[Address], None]) -> None:
        while not self._closed.is_set():
            try:
                self._subscribe()
                with suppress(StoreUnavailable):
                    on_primary(self.ask(monotonic() + _REPLY_SECONDS * len(self._addresses)))
                self._wait(wakeups)
            except Exception as error:  # noqa: BLE001 - without this thread no change is noticed any more
                _log.error("sentinels_failed", error=type(error).__name__, frames=frames(error))
                self._closed.wait(_INTERVAL_SECONDS)

    def _subscribe(self) -> None:
        for address in self._addresses:
            if address not in self._subscriptions:
                connection = self._subscriber(address, _REPLY_SECONDS)
                try:
                    connection.connect()
                    connection.send_command("SUBSCRIBE", _CHANNEL)
                except RedisError:
                    connection.disconnect()
                else:
                    self._subscriptions[address] = connection

    def _wait(self, wakeups: socket.socket) -> None:
        """Wait for the interval, a wake-up or the announcement of a change, the first of them."""
        poll = select.poll()
        poll.register(wakeups, select.POLLIN)
        sockets: Mapping[int, Address] = {
            connection._sock.fileno(): address  # noqa: SLF001 - to poll it together with the wake-ups
            for address, connection in self._subscriptions.items()
        }
        for number in sockets:
            poll.register(number, select.POLLIN)
        end = monotonic() + _INTERVAL_SECONDS
        while (remaining := end - monotonic()) > 0:
            for number, _ in poll.poll(remaining * 1000):
                if number == wakeups.fileno():
                    wakeups.recv(4096)
                    return
                if self._announced(sockets[number]):
                    return

    def _announced(self, address: Address) -> bool:
        """Read what a sentinel has sent; return whether to ask: it announced a change, or its connection broke."""
        connection = self._subscriptions[address]
        announced = False
        try:
            while connection.can_read(0):
                kind, _, content = connection.read_response(timeout=_REPLY_SECONDS)
                announced |= kind == b"message" and content.split(b" ")[0] == self._primary.encode()
        except RedisError:
            connection.disconnect()
            del self._subscriptions[address]
            return True
        return announced
