"""Hears that games have changed: one connection, on which the channels of the games that are followed are subscribed.

A hint is only a hint. Those that are sent while the connection is away are lost, so every game counts as changed
whenever its channel has been subscribed, for the first time or again; and who must not miss a change looks by itself
from time to time.
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
from service.store.layout import game_of, keys_of
from service.store.topology import Address, Source
from service.store.values import StoreUnavailable

_PATIENCE: Final = 2.0
"""Seconds that a server may take to answer: to a connection, and to the question whether it is still there."""
_QUIET: Final = 5.0
"""Seconds without a word after which it is asked."""
_PAUSE: Final = 0.2
"""Seconds between two attempts to connect."""
_CHUNK: Final = 500
"""How many channels are named in one command."""

_log = structlog.get_logger()


class Hints:
    """The hints of the games that are followed. All threads may use it at once.

    `heard` is called with a game's id, in a thread of its own, and must not block.

    Attributes:
        connected: whether the connection is there.
    """

    def __init__(self, source: Source, heard: Callable[[str], None]) -> None:
        self._source = source
        self._heard = heard
        self._followed: set[str] = set()
        self._changed = True
        self._lock = threading.Lock()
        self._awake, self._wake = socket.socketpair()
        self._awake.setblocking(False)
        self._wake.setblocking(False)
        self._closed = threading.Event()
        self.connected = False
        self._thread = threading.Thread(target=self._listen, name="hints", daemon=True)
        self._thread.start()

    def follow(self, game_id: str) -> None:
        """Begins to listen for a game."""
        with self._lock:
            self._followed.add(game_id)
            self._changed = True
        self._nudge()

    def forget(self, game_id: str) -> None:
        """Listens for a game no more."""
        with self._lock:
            self._followed.discard(game_id)
            self._changed = True
        self._nudge()

    def close(self) -> None:
        """Listens no more."""
        self._closed.set()
        self._nudge()
        self._thread.join()
        self._awake.close()
        self._wake.close()

    def _nudge(self) -> None:
        with suppress(BlockingIOError):  # it has been nudged often enough to notice
            self._wake.send(b"\0")

    def _listen(self) -> None:
        was_well = True
        while not self._closed.is_set():
            try:
                with _Subscription(self._source) as subscription:
                    if not was_well:
                        _log.info("hints_back")
                    was_well = self.connected = True
                    self._serve(subscription)
            except (RedisError, OSError, StoreUnavailable) as error:
                if was_well and not self._closed.is_set():
                    _log.warning("hints_away", problem=str(error))
                was_well = False
            except Exception as error:  # noqa: BLE001 - without this thread nobody would hear of anything any more
                _log.error("hints_failed", error=type(error).__name__, frames=frames(error))
                was_well = False
            self.connected = False
            self._closed.wait(_PAUSE)

    def _serve(self, subscription: "_Subscription") -> None:
        with self._lock:
            self._changed = True  # to this connection everything is new
        waiting = select.poll()  # unlike select.select, it takes whatever number a socket has
        waiting.register(self._awake, select.POLLIN)
        waiting.register(subscription.socket, select.POLLIN)
        while not self._closed.is_set():
            with self._lock:
                followed = frozenset(self._followed) if self._changed else None
                self._changed = False
            if followed is not None:
                subscription.change(followed)
            ready = waiting.poll(subscription.patience() * 1000)
            if any(number == self._awake.fileno() for number, _ in ready):
                self._awake.recv(4096)
            for game_id in subscription.hear():
                self._heard(game_id)


class _Subscription:
    """A connection while it lasts. Raises RedisError or OSError when it breaks, StoreUnavailable when it cannot be."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._address: Address = source.address("sodafountain:hint", monotonic() + _PATIENCE)
        self._connection: Any = source.subscriber(self._address, timeout=_PATIENCE)
        self._channels: frozenset[str] = frozenset()
        self._spoke = monotonic()
        self._asked = False

    def __enter__(self) -> "_Subscription":
        try:
            self._connection.connect()
        except RedisError:
            self._source.forget(self._address)
            raise
        self.socket: socket.socket = self._connection._sock  # noqa: SLF001  # to wait for it together with other things
        return self

    def __exit__(self, *error: object) -> None:
        if error[0] is not None:
            self._source.forget(self._address)
        self._connection.disconnect()

    def change(self, followed: frozenset[str]) -> None:
        """Subscribes the channels of these games and no others."""
        self._send("SUBSCRIBE", followed - self._channels)
        self._send("UNSUBSCRIBE", self._channels - followed)
        self._channels = followed

    def patience(self) -> float:
        """Tells how long to wait for the server's next word, and asks for one when it has been quiet for long."""
        quiet = monotonic() - self._spoke
        if quiet < _QUIET:
            return _QUIET - quiet
        if not self._asked:
            self._connection.send_command("PING")
            self._asked = True
        if quiet > _QUIET + _PATIENCE:
            raise TimeoutError("the server has fallen silent")
        return _QUIET + _PATIENCE - quiet

    def hear(self) -> Iterable[str]:
        """Tells which games may have changed, by what has arrived."""
        while self._connection.can_read(0):
            self._spoke = monotonic()
            self._asked = False
            try:
                kind, *rest = self._connection.read_response(timeout=_PATIENCE)
            except ResponseError as error:  # no right to channels: then games are looked at only from time to time
                _log.error("hints_refused", problem=str(error))
                continue
            if kind in {b"message", b"subscribe"}:
                yield game_of(rest[0].decode())

    def _send(self, command: str, games: frozenset[str]) -> None:
        channels = [keys_of(game_id).hint for game_id in games]
        for start in range(0, len(channels), _CHUNK):
            self._connection.send_command(command, *channels[start : start + _CHUNK])
