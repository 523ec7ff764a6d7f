"""Durable writes: a write counts as done once enough replicas have it."""

from collections.abc import Callable, Sequence
from time import monotonic

from redis.exceptions import ResponseError

from service.store.connection import Command, Reply
from service.store.errors import StoreUnavailable, Unconfirmed

_REPLY_RESERVE = 0.15  # seconds; a server checks the timeouts of blocked clients only ten times a second


class Durability:
    """How many replicas must confirm a write, and how long to wait for them.

    Args:
        replicas: how many replicas must confirm a write; with 0, the answer of the server itself is enough.
        timeout: how long to wait for the replicas, in seconds.
        on_shortfall: called when too few replicas have confirmed a write: the server may have been replaced.
    """

    def __init__(self, replicas: int, timeout: float, on_shortfall: Callable[[], None] = lambda: None) -> None:
        self.replicas = replicas
        self._timeout = timeout
        self._on_shortfall = on_shortfall

    def commands(self, timeout: float) -> Sequence[Command]:
        """Return the commands to pipeline after a write by a caller that can wait `timeout` seconds.

        WAIT covers only the writes of the connection that it is sent on.
        """
        if not self.replicas:
            return ()
        seconds = min(self._timeout, max(timeout - _REPLY_RESERVE, timeout / 2))
        return ((b"WAIT", self.replicas, max(1, int(seconds * 1000))),)  # 0 would wait forever

    def check(self, replies: list[Reply]) -> None:
        """Check the replies to `commands`.

        Raises:
            Unconfirmed: too few replicas have the write.
        """
        if not replies:
            return
        replicas = replies[-1]
        if isinstance(replicas, ResponseError):
            raise Unconfirmed(f"a write was made, but the server cannot report its replicas: {replicas}")
        if replicas < self.replicas:
            self._on_shortfall()
            raise Unconfirmed(f"a write was made, but {replicas} of {self.replicas} replicas confirmed it in time")


def deadline_after(timeout: float) -> float:
    """Return the time, on the monotonic clock, that is `timeout` seconds from now.

    Raises:
        StoreUnavailable: `timeout` is not positive.
    """
    if timeout <= 0:
        raise StoreUnavailable("no time left")
    return monotonic() + timeout
