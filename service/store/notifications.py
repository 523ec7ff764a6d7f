"""Notifications of changes: one connection per process, subscribed to the channels of the watched games.

Delivery is not guaranteed: notifications sent while the connection is down are lost. Therefore every game is reported
as changed whenever its channel has been subscribed, for the first time or again, and a subscriber that must not miss a
change polls at long intervals.
"""

import select
import socket
import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from time import monotonic
from typing import Any, Final

import structlog
from redis.exceptions import RedisError, ResponseError

from service.observability.logs import frames
from service.store.errors import StoreUnavailable
from service.store.keys import game_keys, game_of_channel
from service.store.topology import Address, Topology

_REPLY_SECONDS: Final = 2.0
"""Timeout for connecting, and for the reply to a ping."""
_IDLE_SECONDS: Final = 5.0
"""Seconds without a message after which the server is pinged."""
_RECONNECT_SECONDS: Final = 0.2
"""Pause between two attempts to connect."""
_CHANNELS_PER_COMMAND: Final = 500

_log = structlog.get_logger()


class Notifications:
    """Notifications of changes of the subscribed games. Thread-safe.

    `on_change` is called with the id of a game, in a separate thread, and must not block.

    Attributes:
        connected: whether the connection is open.
    """

    def __init__(self, topology: Topology, on_change: Callable[[str], None]) -> None:
        self._topology = topology
        self._on_change = on_change
        self._subscribed: set[str] = set()
        self._changed = True
        self._lock = threading.Lock()
        self._wakeups, self._wakeup = socket.socketpair()
        self._wakeups.setblocking(False)
        self._wakeup.setblocking(False)
        self._closed = threading.Event()
        self.connected = False
        topology.on_change(self._wake)
        self._thread = threading.Thread(target=self._run, name="notifications", daemon=True)
        self._thread.start()

    def subscribe(self, game_id: str) -> None:
        """Subscribe to a game."""
        with self._lock:
            self._subscribed.add(game_id)
            self._changed = True
        self._wake()

    def unsubscribe(self, game_id: str) -> None:
        """Unsubscribe from a game."""
        with self._lock:
            self._subscribed.discard(game_id)
            self._changed = True
        self._wake()

    def close(self) -> None:
        """Close the connection and end the thread."""
        self._closed.set()
        self._wake()
        self._thread.join()
        self._wakeups.close()
        self._wakeup.close()

    def _wake(self) -> None:
        with suppress(OSError):  # enough wake-ups are pending, or it was closed
            self._wakeup.send(b"\0")

    def _run(self) -> None:
        was_connected = True
        while not self._closed.is_set():
            try:
                with _Subscription(self._topology) as subscription:
                    if not was_connected:
                        _log.info("notifications_reconnected")
                    was_connected = self.connected = True
                    self._receive(subscription)
            except (RedisError, OSError, StoreUnavailable) as error:
                if was_connected and not self._closed.is_set():
                    _log.warning("notifications_disconnected", problem=str(error))
                was_connected = False
            except Exception as error:  # noqa: BLE001 - without this thread no subscriber is notified any more
                _log.error("notifications_failed", error=type(error).__name__, frames=frames(error))
                was_connected = False
            self.connected = False
            self._closed.wait(_RECONNECT_SECONDS)

    def _receive(self, subscription: "_Subscription") -> None:
        with self._lock:
            self._changed = True  # a new connection has no subscriptions
        poll = select.poll()  # unlike select.select, it accepts descriptors of any number
        poll.register(self._wakeups, select.POLLIN)
        poll.register(subscription.socket, select.POLLIN)
        while not self._closed.is_set():
            with self._lock:
                subscribed = frozenset(self._subscribed) if self._changed else None
                self._changed = False
            if subscribed is not None:
                subscription.update(subscribed)
            ready = poll.poll(subscription.idle_timeout() * 1000)
            if any(number == self._wakeups.fileno() for number, _ in ready):
                self._wakeups.recv(4096)
                subscription.check_server()
            for game_id in subscription.received():
                self._on_change(game_id)


class _Subscription:
    """An open connection. Raises RedisError or OSError if it breaks, StoreUnavailable if it cannot be opened."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._address: Address = topology.address("sodafountain:hint", monotonic() + _REPLY_SECONDS)
        self._connection: Any = topology.subscriber(self._address, timeout=_REPLY_SECONDS)
        self._channels: frozenset[str] = frozenset()
        self._last_message = monotonic()
        self._pinged = False

    def __enter__(self) -> "_Subscription":
        try:
            self._connection.connect()
        except RedisError:
            self._topology.forget(self._address)
            raise
        self.socket: socket.socket = self._connection._sock  # noqa: SLF001  # to poll it together with the wake-ups
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            self._topology.forget(self._address)
        self._connection.disconnect()

    def update(self, games: frozenset[str]) -> None:
        """Subscribe to the channels of exactly these games."""
        self._send("SUBSCRIBE", games - self._channels)
        self._send("UNSUBSCRIBE", self._channels - games)
        self._channels = games

    def check_server(self) -> None:
        """Check that the server has not been replaced.

        Raises:
            ConnectionError: it has been.
        """
        if not self._topology.serves(self._address):
            raise ConnectionError("another server has become the primary")

    def idle_timeout(self) -> float:
        """Return how long to wait for the next message, in seconds. Ping the server if it has been idle for long.

        Raises:
            TimeoutError: the server did not answer the ping.
        """
        idle = monotonic() - self._last_message
        if idle < _IDLE_SECONDS:
            return _IDLE_SECONDS - idle
        if not self._pinged:
            self._connection.send_command("PING")
            self._pinged = True
        if idle > _IDLE_SECONDS + _REPLY_SECONDS:
            raise TimeoutError("the server does not answer")
        return _IDLE_SECONDS + _REPLY_SECONDS - idle

    def received(self) -> Iterable[str]:
        """Yield the games that may have changed, according to the messages received."""
        while self._connection.can_read(0):
            self._last_message = monotonic()
            self._pinged = False
            try:
                kind, *rest = self._connection.read_response(timeout=_REPLY_SECONDS)
            except ResponseError as error:  # no permission for channels: watchers then rely on polling
                _log.error("notifications_refused", problem=str(error))
                continue
            if kind in {b"message", b"subscribe"}:
                yield game_of_channel(rest[0].decode())

    def _send(self, command: str, games: frozenset[str]) -> None:
        channels = [game_keys(game_id).channel for game_id in games]
        for start in range(0, len(channels), _CHANNELS_PER_COMMAND):
            self._connection.send_command(command, *channels[start : start + _CHANNELS_PER_COMMAND])
