"""All watchers of a process, and the games that they watch."""

import heapq
import itertools
import random
import threading
import time
from time import monotonic
from typing import Final

import structlog

from service.games.game import Table, version_of
from service.games.repository import Lost, Seen, Tables
from service.observability.logs import frames
from service.store import StoreError
from service.threads.executor import LeanExecutor
from service.transport.call import Call
from service.transport.errors import Refusal
from service.watching import messages
from service.watching.game import WatchedGame
from service.watching.messages import Happened
from service.watching.senders import Senders
from service.watching.watcher import Audience, EndReason, Stream, Watcher
from sodafountain.v1 import errors_pb2 as reasons
from sodafountain.v1 import game_service_pb2 as pb

_TICK: Final = 0.05
"""Seconds between two looks at the clock, and at slow readers."""
_READERS: Final = 2
_READ_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 1.0
"""How soon a game is read again that the store did not give."""
_NEVER: Final = -1.0
_MOST_OUTDATED: Final = 1000
"""How many outdated entries of the clock are put up with."""
_SHORTEST_REST: Final = 0.25
_JUST_EXPIRED: Final = 0.02
"""Seconds after its expiry at which a game is looked at."""

_log = structlog.get_logger()


class Watchers:
    """Opens, feeds and ends the streams of WatchGame."""

    def __init__(self, tables: Tables, *, most: int, heartbeat_seconds: float) -> None:
        """`most` is how many may watch at once."""
        self._tables = tables
        self._most = most
        self._period = heartbeat_seconds
        self._games: dict[str, WatchedGame] = {}
        self._count = 0
        self._draining = False
        self._lock = threading.Lock()  # guards all of the above; taken before a game's
        self._due: list[tuple[float, int, WatchedGame]] = []  # a heap; an entry counts if its time is still the game's
        self._due_lock = threading.Lock()
        self._order = itertools.count()
        self._chance = random.Random()  # noqa: S311  # spreads heartbeats over time
        self._senders = Senders()
        self._readers = LeanExecutor(_READERS, name="watch-read")
        self._hints = tables.hints(self._hear)
        self._closed = threading.Event()
        self._clock = threading.Thread(target=self._tick, name="watch-clock", daemon=True)
        self._clock.start()

    @property
    def count(self) -> int:
        """How many watch now."""
        return self._count

    def open(self, table: Table, audience: Audience, known: str | None, stream: Stream, call: Call) -> None:
        """Begins to tell of a game, from a head on that the watcher knows.

        Args:
            table: the game, just read.
            audience: who watches.
            known: the head; None for a watcher who knows nothing.
            stream: the stream to the watcher.
            call: the call that asks for it.

        Raises:
            Refusal: LIMIT, as many watch already as may; GAME_NOT_FOUND.
        """
        watcher = Watcher(audience, stream)
        with self._lock:
            if self._count >= self._most:
                raise Refusal(
                    reasons.ERROR_REASON_LIMIT, "Too many watch games at this server already: try again, or elsewhere."
                )
            self._count += 1
        try:
            game = self._join(watcher, table, known, call)
        except BaseException:
            with self._lock:
                self._count -= 1
            raise
        stream.when_gone(lambda: self._leave(game, watcher))
        self._serve(game)

    def drain(self) -> None:
        """Tells every watcher to go elsewhere, and those who come from now on too."""
        with self._lock:
            self._draining = True
            games = tuple(self._games.values())
        for game in games:
            with game.lock:
                for watcher in game.watchers:
                    watcher.end = watcher.end or pb.WATCH_END_REASON_DRAINING
            self._serve(game)

    def close(self) -> None:
        """Stops all threads. What is not told by then is not told."""
        self._closed.set()
        self._clock.join()
        self._hints.close()
        self._readers.shutdown()
        self._senders.close()

    def _join(self, watcher: Watcher, table: Table, known: str | None, call: Call) -> WatchedGame:
        is_news = False
        while True:
            first = self._first(watcher.audience, table, known, call)
            with self._lock:
                game = self._games.get(table.game_id)
                is_new = game is None
                if game is None:
                    game = self._games[table.game_id] = WatchedGame(table)
                with game.lock:
                    joined = game.join(watcher, table, first)
                    watcher.end = pb.WATCH_END_REASON_DRAINING if self._draining else None
                    is_news |= game.table.head != table.head
                    newer = game.table
                if is_new:
                    self._hints.follow(table.game_id)
            if joined:
                break
            table = self._tables.get(table.game_id, call)
            if table.version < newer.version:  # the store has lost what the game's watchers know: about to be noticed
                table, known = newer, None
        if is_new:
            self._schedule(game, self._rest(game) * self._chance.uniform(0.5, 1.0))
        if is_new or is_news:
            self._look(game)  # for a new game this is not idle: hints may have been missed until it was followed
        return game

    def _first(self, audience: Audience, table: Table, known: str | None, call: Call) -> bytes:
        """Makes the first message: what happened since the known head, or else a snapshot."""
        if known is None:
            return messages.snapshot(table, audience)
        if known == table.head:
            return messages.heartbeat(table.head)
        if version_of(known) < table.version:
            entries = self._tables.log_since(table, known, call)
            if entries is not None:
                happened = [Happened.of(table.kind, entry) for entry in entries]
                return messages.update(table, happened, audience)
        return messages.snapshot(table, audience)

    def _leave(self, game: WatchedGame, watcher: Watcher) -> None:
        with self._lock:
            self._count -= 1
            with game.lock:
                watcher.gone = True
                game.watchers.discard(watcher)
                empty = not game.watchers
            if empty and self._games.get(game.table.game_id) is game:
                del self._games[game.table.game_id]
                self._hints.forget(game.table.game_id)
                game.due = _NEVER

    def _serve(self, game: WatchedGame) -> None:
        """Has everybody told who has something to be told."""
        with game.lock:
            waiting = game.waiting()
        for watcher in waiting:
            self._senders.send(game, watcher)

    # --- Reading games ------------------------------------------------------------------------------------------------

    def _hear(self, game_id: str) -> None:
        game = self._games.get(game_id)
        if game is not None:
            self._look(game)

    def _look(self, game: WatchedGame) -> None:
        """Has the game read: once more, if that has begun already."""
        with game.lock:
            game.again = True
            if game.reading:
                return
            game.reading = True
        self._readers.submit(self._read, game)

    def _read(self, game: WatchedGame) -> None:
        while True:
            with game.lock:
                if not game.again or not game.watchers:
                    game.reading = False
                    return
                game.again = False
                table = game.table
                extend = not table.finished and any(one.audience.viewer is not None for one in game.watchers)
                beating, game.beating = game.beating, False
            try:
                found = self._tables.follow(table, extend=extend, timeout=_READ_SECONDS)
                self._note(game, found, beating=beating)
            except StoreError:  # health tells the operator
                self._schedule(game, _RETRY_SECONDS)
                continue
            except Exception as error:  # noqa: BLE001 - a game that cannot be read must not stop the others
                _log.error("watch_failed", game_id=table.game_id, error=type(error).__name__, frames=frames(error))
                with game.lock:
                    failed = tuple(game.watchers)
                for watcher in failed:
                    watcher.stream.fail()
                continue
            self._serve(game)

    def _note(self, game: WatchedGame, found: Seen | Lost, *, beating: bool) -> None:
        """Takes note of what was found in the store."""
        happened: list[Happened] | None = None
        if isinstance(found, Seen) and found.entries is not None:
            happened = [Happened.of(found.table.kind, entry) for entry in found.entries]
        with game.lock:
            if isinstance(found, Lost):
                game.end(_REASONS[found])
            elif found.table.head != game.table.head or happened is None:
                game.advance(found.table, happened)
            else:
                game.table = found.table  # it may live longer now
            if beating:
                game.beat(monotonic() - self._pace / 2)

    # --- The clock ----------------------------------------------------------------------------------------------------

    @property
    def _pace(self) -> float:
        """Seconds between two heartbeats, and so between two extensions of a game's life."""
        return min(self._period, self._tables.idle_ms / 3000)

    def _schedule(self, game: WatchedGame, seconds: float) -> None:
        with self._due_lock:
            game.due = monotonic() + seconds
            heapq.heappush(self._due, (game.due, next(self._order), game))
            if len(self._due) > 2 * len(self._games) + _MOST_OUTDATED:
                self._due = [entry for entry in self._due if entry[0] == entry[2].due]
                heapq.heapify(self._due)

    def _tick(self) -> None:
        while not self._closed.wait(_TICK):
            try:
                self._senders.watch()
                for game in self._those_due():
                    self._beat(game)
            except Exception as error:  # noqa: BLE001 - without the clock no reader would be cut off any more
                _log.error("watch_failed", error=type(error).__name__, frames=frames(error))

    def _those_due(self) -> list[WatchedGame]:
        found = []
        with self._due_lock:
            while self._due and self._due[0][0] <= monotonic():
                due, _, game = heapq.heappop(self._due)
                if due == game.due:
                    found.append(game)
        return found

    def _beat(self, game: WatchedGame) -> None:
        with game.lock:
            if not game.watchers:
                return
            game.beating = True
        self._schedule(game, self._rest(game))
        self._look(game)

    def _rest(self, game: WatchedGame) -> float:
        """Tells for how many seconds a game need not be looked at."""
        lives = game.table.expires_at / 1000 - time.time() + _JUST_EXPIRED
        return min(self._pace, max(lives, _SHORTEST_REST))


_REASONS: Final[dict[Lost, EndReason]] = {
    Lost.DELETED: pb.WATCH_END_REASON_DELETED,
    Lost.EXPIRED: pb.WATCH_END_REASON_EXPIRED,
}
