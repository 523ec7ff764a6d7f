"""A game that is watched: what was last read of it, and what each of its watchers has yet to be told."""

import threading
from collections.abc import Sequence
from time import monotonic
from typing import NamedTuple

from service.games.game import Table
from service.watching import messages
from service.watching.messages import Happened
from service.watching.watcher import Audience, EndReason, Watcher
from sodafountain.v1 import game_service_pb2 as pb


class Outgoing(NamedTuple):
    """A message to a watcher, and why the stream ends after it, if it does."""

    message: bytes
    end: EndReason | None = None


class WatchedGame:
    """A game with its watchers.

    Attributes:
        lock: guards all of it, and the watchers' attributes.
        table: the game as it was last read.
        watchers: who watches.
        reading: whether somebody reads the game, or is about to.
        again: whether it must be read once more.
        beating: whether the next reading is to be followed by signs of life.
        due: when it is to be looked at without a hint, on the monotonic clock.
    """

    def __init__(self, table: Table) -> None:
        self.lock = threading.Lock()
        self.table = table
        self.watchers: set[Watcher] = set()
        self.reading = False
        self.again = False
        self.beating = False
        self.due = 0.0
        self._end: EndReason | None = pb.WATCH_END_REASON_FINISHED if table.finished else None
        self._branch = 0
        self._happened: list[Happened] = []  # at least everything that a watcher has yet to be told
        self._built: dict[tuple[Audience, int], bytes] = {}  # messages that lead to `table`, by whom and from where

    def join(self, watcher: Watcher, table: Table, first: bytes) -> bool:
        """Lets a watcher in whose first message tells of `table`; False: that is old news. Needs the lock."""
        if table.version < self.table.version:
            return False
        watcher.first = first
        watcher.head, watcher.branch = table.head, self._branch
        self.watchers.add(watcher)
        return True

    def advance(self, table: Table, happened: Sequence[Happened] | None) -> None:
        """Takes note of what was read: the game, and what happened since it was last read. Needs the lock.

        Without `happened` what was read before was lost, and everybody starts anew.
        """
        if happened is None:
            self._branch += 1
            self._happened.clear()
            self._end = None  # that the game was over, or gone, may have been lost as well
        else:
            self._happened += happened
            oldest = min((watcher.version for watcher in self.watchers), default=table.version)
            while self._happened and self._happened[0].version <= oldest:
                del self._happened[0]
        self.table = table
        self._built.clear()
        if table.finished:
            self._end = pb.WATCH_END_REASON_FINISHED

    def end(self, reason: EndReason) -> None:
        """Takes note that there is nothing more to tell. Needs the lock."""
        self._end = self._end or reason

    def beat(self, quiet_since: float) -> None:
        """Has a sign of life sent to everybody who was told nothing since then. Needs the lock."""
        for watcher in self.watchers:
            watcher.beat = watcher.told_at < quiet_since

    def waiting(self) -> list[Watcher]:
        """Finds the watchers that have something to be told and nobody who tells it; they count as busy from now on.

        Needs the lock.
        """
        found = [watcher for watcher in self.watchers if not watcher.busy and self._lacks(watcher)]
        for watcher in found:
            watcher.busy = True
        return found

    def next(self, watcher: Watcher) -> Outgoing | None:
        """Makes the next message to a watcher; None: there is none now, and it is no longer busy."""
        with self.lock:
            if watcher.gone or not self._lacks(watcher):
                watcher.busy = False
                return None
            watcher.beat = False
            watcher.told_at = monotonic()
            if watcher.first is not None:
                first, watcher.first = watcher.first, None
                return Outgoing(first)
            if watcher.end is not None:
                return Outgoing(messages.end(watcher.head, watcher.end), watcher.end)
            if self._news_for(watcher):
                message = self._news(watcher)
                watcher.head, watcher.branch = self.table.head, self._branch
                return Outgoing(message)
            if self._end is not None:
                return Outgoing(messages.end(watcher.head, self._end), self._end)
            return Outgoing(messages.heartbeat(watcher.head))

    def more_for(self, watcher: Watcher) -> bool:
        """Tells whether there is more to be told to a watcher; if not, it is no longer busy."""
        with self.lock:
            watcher.busy = not watcher.gone and self._lacks(watcher)
            return watcher.busy

    def _lacks(self, watcher: Watcher) -> bool:
        return (
            watcher.first is not None
            or watcher.beat
            or watcher.end is not None
            or self._end is not None
            or self._news_for(watcher)
        )

    def _news_for(self, watcher: Watcher) -> bool:
        return watcher.branch != self._branch or watcher.version < self.table.version

    def _news(self, watcher: Watcher) -> bytes:
        known = watcher.version if watcher.branch == self._branch else 0
        built = self._built.get((watcher.audience, known))
        if built is None:
            if known:
                happened = [one for one in self._happened if one.version > known]
                built = messages.update(self.table, happened, watcher.audience)
            else:
                built = messages.snapshot(self.table, watcher.audience)
            self._built[watcher.audience, known] = built
        return built
