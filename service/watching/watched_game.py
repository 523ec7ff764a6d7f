"""A watched game: its newest known state, and the messages that each of its watchers has yet to receive."""

import threading
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from service.contract import game_service_pb2 as pb
from service.games import Change, StoredGame
from service.watching import messages
from service.watching.messages import Messages
from service.watching.watcher import Audience, EndReason, Watcher


class Outgoing(NamedTuple):
    """A message to a watcher; `end` is the reason if the stream ends after it, otherwise None."""

    message: bytes
    end: EndReason | None = None


class WatchedGame:
    """A game with its watchers.

    Attributes:
        lock: guards everything here, and the attributes of the watchers.
        game: the game as last read.
        watchers: its watchers.
        reading: whether a reader is reading the game, or is about to.
        read_again: whether it must be read again.
        heartbeat_due: whether heartbeats must follow the next read.
        next_check: when it is read even without a notification, on the monotonic clock.
    """

    def __init__(self, game: StoredGame, messages: Messages) -> None:
        self.lock = threading.Lock()
        self.game = game
        self.watchers: set[Watcher] = set()
        self.reading = False
        self.read_again = False
        self.heartbeat_due = False
        self.next_check = 0.0
        self._messages = messages
        self._end: EndReason | None = pb.WATCH_END_REASON_FINISHED if game.finished else None
        self._branch = 0
        self._commits: list[Change] = []  # at least those that a watcher has yet to receive
        self._built: dict[tuple[Audience, int], bytes] = {}  # messages that lead to `game`, by audience and version

    def add(self, watcher: Watcher, game: StoredGame, first: bytes) -> bool:
        """Add a watcher whose first message shows `game`; return False if `game` is outdated. Requires the lock."""
        if game.version < self.game.version:
            return False
        watcher.first = first
        watcher.head, watcher.branch = game.head, self._branch
        self.watchers.add(watcher)
        return True

    def advance(self, game: StoredGame, commits: Sequence[Change] | None) -> None:
        """Record the game as it was read, and the commits since the last read. Requires the lock.

        If `commits` is None, the store has lost what was read before, and every watcher receives a snapshot.
        """
        if commits is None:
            self._branch += 1
            self._commits.clear()
            self._end = None  # the end, or the removal, may have been lost as well
        else:
            self._commits += commits
            oldest = min((watcher.version for watcher in self.watchers), default=game.version)
            while self._commits and self._commits[0].version <= oldest:
                del self._commits[0]
        self.game = game
        self._built.clear()
        if game.finished:
            self._end = pb.WATCH_END_REASON_FINISHED

    def end(self, reason: EndReason) -> None:
        """Record that the game has ended for its watchers. Requires the lock."""
        self._end = self._end or reason

    def request_heartbeats(self, idle_since: float) -> None:
        """Request a heartbeat for every watcher that has received nothing since `idle_since`. Requires the lock."""
        for watcher in self.watchers:
            watcher.needs_heartbeat = watcher.sent_at < idle_since

    def take_pending(self) -> list[Watcher]:
        """Return the watchers that have something to receive and are not busy, and mark them as busy.

        Requires the lock.
        """
        pending = [watcher for watcher in self.watchers if not watcher.busy and self._is_pending(watcher)]
        for watcher in pending:
            watcher.busy = True
        return pending

    def next_message(self, watcher: Watcher) -> Outgoing | None:
        """Return the next message to a watcher. Without one, mark it as no longer busy and return None."""
        with self.lock:
            if watcher.gone or not self._is_pending(watcher):
                watcher.busy = False
                return None
            watcher.needs_heartbeat = False
            watcher.sent_at = monotonic()
            if watcher.first is not None:
                first, watcher.first = watcher.first, None
                return Outgoing(first)
            if watcher.end is not None:
                return Outgoing(messages.end(watcher.head, watcher.end), watcher.end)
            if self._is_behind(watcher):
                message = self._build(watcher)
                watcher.head, watcher.branch = self.game.head, self._branch
                return Outgoing(message)
            if self._end is not None:
                return Outgoing(messages.end(watcher.head, self._end), self._end)
            return Outgoing(messages.heartbeat(watcher.head))

    def has_more(self, watcher: Watcher) -> bool:
        """Return whether a watcher has more to receive; if not, it is no longer busy."""
        with self.lock:
            watcher.busy = not watcher.gone and self._is_pending(watcher)
            return watcher.busy

    def _is_pending(self, watcher: Watcher) -> bool:
        return (
            watcher.first is not None
            or watcher.needs_heartbeat
            or watcher.end is not None
            or self._end is not None
            or self._is_behind(watcher)
        )

    def _is_behind(self, watcher: Watcher) -> bool:
        return watcher.branch != self._branch or watcher.version < self.game.version

    def _build(self, watcher: Watcher) -> bytes:
        known = watcher.version if watcher.branch == self._branch else 0
        built = self._built.get((watcher.audience, known))
        if built is None:
            if known:
                commits = [commit for commit in self._commits if commit.version > known]
                built = self._messages.update(self.game, commits, watcher.audience)
            else:
                built = self._messages.snapshot(self.game, watcher.audience)
            self._built[watcher.audience, known] = built
        return built
