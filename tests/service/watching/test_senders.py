"""The sending threads: slow readers and busy games do not block them."""

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, cast

import pytest

from service.watching.senders import Senders
from service.watching.watched_game import Outgoing
from service.watching.watcher import Audience, Watcher
from tests.support.store_servers import eventually

SECONDS = 10.0
MANY = 300


class FakeStream:
    """A stream with a slow reader.

    Attributes:
        received: the number of messages that it has accepted.
        reason: the reason for which it was cut off; empty before.
    """

    def __init__(self, wait: Callable[[], object]) -> None:
        self._wait = wait
        self._cut = threading.Event()
        self.received = 0
        self.reason = ""

    def send(self, message: bytes) -> None:
        self._wait()
        self.received += 1

    def end(self, reason: str) -> None:
        raise AssertionError("no game here ends")

    def fail(self) -> None:
        raise AssertionError("nothing here fails")

    def cancel(self, reason: str) -> None:
        self.reason = reason
        self._cut.set()

    def on_end(self, callback: Callable[[], None]) -> None:
        pass

    def never(self) -> None:
        """Read nothing until it is cut off."""
        self._cut.wait(SECONDS)


class FakeGame:
    """A game with a number of messages for each watcher.

    Attributes:
        lock: the lock of a game.
        remaining: the number of remaining messages by watcher.
        over: whether it has no more messages.
    """

    def __init__(self, each: float) -> None:
        self._each = each
        self.over = False
        self.lock = threading.Lock()
        self.remaining: dict[Watcher, float] = {}

    def next_message(self, watcher: Watcher) -> Outgoing | None:
        """Return the next message."""
        with self.lock:
            self.remaining[watcher] = remaining = self.remaining.get(watcher, self._each) - 1
            return Outgoing(b"x") if remaining >= 0 and not self.over else None

    def has_more(self, watcher: Watcher) -> bool:
        """Return whether a watcher has more messages."""
        with self.lock:
            return self.remaining[watcher] > 0 and not self.over


@pytest.fixture
def senders() -> Iterator[Senders]:
    """Senders that only the test monitors."""
    senders = Senders()
    yield senders
    senders.close()


def reader(wait: Callable[[], object] = lambda: None) -> tuple[FakeStream, Watcher]:
    """Create a watcher that reads."""
    stream = FakeStream(wait)
    return stream, Watcher(Audience(None, legal_moves=False), stream)


def stalled_reader() -> tuple[FakeStream, Watcher]:
    """Create a watcher that does not read."""
    stream, watcher = reader()
    stream._wait = stream.never
    return stream, watcher


def test_a_busy_game_does_not_block_the_threads(senders: Senders) -> None:
    busy: Any = FakeGame(float("inf"))
    quiet: Any = FakeGame(1)
    readers = [reader(lambda: time.sleep(0.01)) for _ in range(20)]
    other, watcher = reader()
    try:
        for _, one in readers:
            senders.send(busy, one)
        senders.send(quiet, watcher)

        eventually(lambda: other.received == 1)
    finally:
        busy.over = True


def test_a_prompt_watcher_does_not_wait_for_slow_ones(senders: Senders) -> None:
    game: Any = FakeGame(1)
    good, watcher = reader()
    senders.send(game, watcher)
    eventually(lambda: good.received == 1)
    readers = [stalled_reader() for _ in range(MANY)]
    for _, slow in readers:
        senders.send(game, slow)

    more: Any = FakeGame(1)
    senders.send(more, watcher)

    eventually(lambda: good.received == 2)
    for stream, _ in readers:
        stream.cancel("")


def test_a_slow_watcher_regains_trust_after_several_fast_messages(senders: Senders) -> None:
    pauses = [0.05, *[0.0] * 11]
    stream, watcher = reader(lambda: time.sleep(pauses.pop(0)))
    trusted = []
    for received in range(1, len(pauses) + 1):
        senders.send(cast("Any", FakeGame(1)), watcher)
        eventually(lambda received=received: stream.received == received)  # type: ignore[misc]  # a default captures it
        senders.check_slow_readers()
        trusted.append(watcher.trust > 0)

    assert not any(trusted[:8])
    assert trusted[-1]


def test_the_more_watchers_stall_the_sooner_they_are_cut_off(senders: Senders) -> None:
    game: Any = FakeGame(1)
    readers = [stalled_reader() for _ in range(MANY)]
    newcomer, watcher = reader()
    started = time.monotonic()
    for _, slow in readers:
        senders.send(game, slow)
    senders.send(game, watcher)

    def readers_checked() -> bool:
        senders.check_slow_readers()
        return newcomer.received == 1

    eventually(readers_checked)
    took = time.monotonic() - started
    assert 20 < sum(bool(stream.reason) for stream, _ in readers) < 200
    assert took < 1.75, "the new watcher had to wait for all stalled watchers"
    for stream, _ in readers:
        stream.cancel("")


def test_a_few_stalled_watchers_are_eventually_cut_off(senders: Senders) -> None:
    game: Any = FakeGame(1)
    readers = [stalled_reader() for _ in range(100)]
    started = time.monotonic()
    for _, slow in readers:
        senders.send(game, slow)

    def readers_checked() -> bool:
        senders.check_slow_readers()
        return all(stream.reason for stream, _ in readers)

    eventually(readers_checked)
    assert time.monotonic() - started > 1.75
