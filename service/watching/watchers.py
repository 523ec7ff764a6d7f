"""All watchers of a process, and the games that they watch."""

import heapq
import itertools
import random
import threading
import time
from time import monotonic
from typing import Final

import structlog

from service.contract import game_service_pb2 as pb
from service.games import Deadline, GameRepository, GameUpdate, Removal, StoredGame, version_of
from service.games.errors import UnreadableRecord
from service.observability.logs import frames
from service.store import StoreUnavailable, Unconfirmed, UnknownLayout
from service.threads import LeanExecutor
from service.translation import Projection
from service.watching.limits import Claim, Limits, Places
from service.watching.messages import Messages, heartbeat
from service.watching.senders import Senders
from service.watching.watched_game import WatchedGame
from service.watching.watcher import Audience, EndReason, Stream, Watcher

_TICK_SECONDS: Final = 0.05
"""Interval of the timer that checks schedules and slow readers."""
_READER_THREADS: Final = 2
_READ_SECONDS: Final = 2.0
_RETRY_SECONDS: Final = 1.0
"""Pause before a game is read again after the store failed."""
_NEVER: Final = -1.0
_MAX_OUTDATED: Final = 1000
"""How many outdated entries the schedule may keep."""
_MIN_CHECK_SECONDS: Final = 0.25
_EXPIRY_MARGIN_SECONDS: Final = 0.02
"""How long after its expiry a game is read."""

_log = structlog.get_logger()


class Watchers:
    """Starts, feeds and ends the streams of WatchGame. Thread-safe."""

    def __init__(
        self, games: GameRepository, projection: Projection, *, limits: Limits, heartbeat_seconds: float
    ) -> None:
        self._repository = games
        self._messages = Messages(projection)
        self._places = Places(limits)
        self._heartbeat_seconds = heartbeat_seconds
        self._games: dict[str, WatchedGame] = {}
        self._draining = False
        self._lock = threading.Lock()  # guards all of the above; acquired before the lock of a game
        # A heap. An entry is valid while its time equals the `next_check` of its game.
        self._schedule: list[tuple[float, int, WatchedGame]] = []
        self._schedule_lock = threading.Lock()
        self._order = itertools.count()
        self._jitter = random.Random()  # noqa: S311  # spreads heartbeats over time
        self._senders = Senders()
        self._readers = LeanExecutor(_READER_THREADS, name="watch-read")
        self._notifications = games.notifications(self._on_change)
        self._closed = threading.Event()
        self._timer = threading.Thread(target=self._run_timer, name="watch-timer", daemon=True)
        self._timer.start()

    @property
    def count(self) -> int:
        """The number of watchers."""
        return self._places.taken

    def add(
        self,
        game: StoredGame,
        audience: Audience,
        known_head: str | None,
        claim: Claim,
        stream: Stream,
        deadline: Deadline,
    ) -> None:
        """Add a watcher.

        Args:
            game: the game, just read.
            audience: who watches.
            known_head: the head up to which the watcher knows the game; None if it knows nothing.
            claim: what the watcher is counted for.
            stream: the stream to the watcher.
            deadline: the deadline for the first message.

        Raises:
            WatchLimitReached: a limit is reached.
            GameNotFound: the game was deleted or has expired since it was read.
        """
        watcher = Watcher(audience, stream)
        self._places.take(claim)
        try:
            watched = self._join(watcher, game, known_head, deadline)
        except BaseException:
            self._places.release(claim)
            raise

        def ended() -> None:
            self._places.release(claim)
            self._remove(watched, watcher)

        stream.on_end(ended)
        self._send_pending(watched)

    def drain(self) -> None:
        """End all streams with DRAINING, including those that are added later."""
        with self._lock:
            self._draining = True
            games = tuple(self._games.values())
        for watched in games:
            with watched.lock:
                for watcher in watched.watchers:
                    watcher.end = watcher.end or pb.WATCH_END_REASON_DRAINING
            self._send_pending(watched)

    def close(self) -> None:
        """End all threads. Pending messages are discarded."""
        self._closed.set()
        self._timer.join()
        self._notifications.close()
        self._readers.shutdown()
        self._senders.close()

    def _join(self, watcher: Watcher, game: StoredGame, known_head: str | None, deadline: Deadline) -> WatchedGame:
        is_newer = False
        while True:
            first = self._first_message(watcher.audience, game, known_head, deadline)
            with self._lock:
                watched = self._games.get(game.game_id)
                is_new = watched is None
                if watched is None:
                    watched = self._games[game.game_id] = WatchedGame(game, self._messages)
                with watched.lock:
                    added = watched.add(watcher, game, first)
                    watcher.end = pb.WATCH_END_REASON_DRAINING if self._draining else None
                    is_newer |= watched.game.head != game.head
                    last_read = watched.game
                if is_new:
                    self._notifications.subscribe(game.game_id)
            if added:
                break
            game = self._repository.get(game.game_id, deadline)
            if game.version < last_read.version:  # the store lost commits; the next read of the game detects that
                game, known_head = last_read, None
        if is_new:
            self._schedule_check(watched, self._check_interval(watched) * self._jitter.uniform(0.5, 1.0))
        if is_new or is_newer:
            self._request_read(watched)  # notifications may have been missed before the subscription
        return watched

    def _first_message(self, audience: Audience, game: StoredGame, known_head: str | None, deadline: Deadline) -> bytes:
        """Return the first message: the commits since the known head, or else a snapshot."""
        if known_head is None:
            return self._messages.snapshot(game, audience)
        if known_head == game.head:
            return heartbeat(game.head)
        if version_of(known_head) < game.version:
            changes = self._repository.log_since(game, known_head, deadline)
            if changes is not None:
                return self._messages.update(game, changes, audience)
        return self._messages.snapshot(game, audience)

    def _remove(self, watched: WatchedGame, watcher: Watcher) -> None:
        with self._lock:
            with watched.lock:
                watcher.gone = True
                watched.watchers.discard(watcher)
                is_empty = not watched.watchers
            if is_empty and self._games.get(watched.game.game_id) is watched:
                del self._games[watched.game.game_id]
                self._notifications.unsubscribe(watched.game.game_id)
                watched.next_check = _NEVER

    def _send_pending(self, watched: WatchedGame) -> None:
        with watched.lock:
            pending = watched.take_pending()
        for watcher in pending:
            self._senders.send(watched, watcher)

    # --- Reading games ------------------------------------------------------------------------------------------------

    def _on_change(self, game_id: str) -> None:
        watched = self._games.get(game_id)
        if watched is not None:
            self._request_read(watched)

    def _request_read(self, watched: WatchedGame) -> None:
        """Request a read of the game. If a read is in progress, another one follows it."""
        with watched.lock:
            watched.read_again = True
            if watched.reading:
                return
            watched.reading = True
        self._readers.submit(self._read, watched)

    def _read(self, watched: WatchedGame) -> None:
        while True:
            with watched.lock:
                if not watched.read_again or not watched.watchers:
                    watched.reading = False
                    return
                watched.read_again = False
                game = watched.game
                heartbeats, watched.heartbeat_due = watched.heartbeat_due, False
            try:
                update = self._repository.follow(game, timeout=_READ_SECONDS)
                self._record(watched, update, heartbeats=heartbeats)
            except (UnreadableRecord, UnknownLayout) as error:  # a later release serves the game now
                _log.warning("watch_ended", game_id=game.game_id, problem=getattr(error, "problem", str(error)))
                with watched.lock:
                    watched.end(pb.WATCH_END_REASON_DRAINING)
            except (StoreUnavailable, Unconfirmed):  # the health service reports it
                self._schedule_check(watched, _RETRY_SECONDS)
                continue
            except Exception as error:  # noqa: BLE001 - a game that cannot be read must not stop the others
                _log.error("watch_failed", game_id=game.game_id, error=type(error).__name__, frames=frames(error))
                with watched.lock:
                    failed = tuple(watched.watchers)
                for watcher in failed:
                    watcher.stream.fail()
                continue
            self._send_pending(watched)

    def _record(self, watched: WatchedGame, update: GameUpdate | Removal, *, heartbeats: bool) -> None:
        """Record the result of a read."""
        with watched.lock:
            if isinstance(update, Removal):
                watched.end(_END_REASONS[update])
            elif update.game.head != watched.game.head or update.changes is None:
                watched.advance(update.game, update.changes)
            if heartbeats:
                watched.request_heartbeats(monotonic() - self._heartbeat_seconds / 2)

    # --- The timer ----------------------------------------------------------------------------------------------------

    def _schedule_check(self, watched: WatchedGame, seconds: float) -> None:
        with self._schedule_lock:
            watched.next_check = monotonic() + seconds
            heapq.heappush(self._schedule, (watched.next_check, next(self._order), watched))
            if len(self._schedule) > 2 * len(self._games) + _MAX_OUTDATED:
                self._schedule = [entry for entry in self._schedule if entry[0] == entry[2].next_check]
                heapq.heapify(self._schedule)

    def _run_timer(self) -> None:
        while not self._closed.wait(_TICK_SECONDS):
            try:
                self._senders.check_slow_readers()
                for watched in self._take_due():
                    self._check(watched)
            except Exception as error:  # noqa: BLE001 - without the timer no slow reader would be evicted
                _log.error("watch_failed", error=type(error).__name__, frames=frames(error))

    def _take_due(self) -> list[WatchedGame]:
        due = []
        with self._schedule_lock:
            while self._schedule and self._schedule[0][0] <= monotonic():
                at, _, watched = heapq.heappop(self._schedule)
                if at == watched.next_check:
                    due.append(watched)
        return due

    def _check(self, watched: WatchedGame) -> None:
        with watched.lock:
            if not watched.watchers:
                return
            watched.heartbeat_due = True
        self._schedule_check(watched, self._check_interval(watched))
        self._request_read(watched)

    def _check_interval(self, watched: WatchedGame) -> float:
        """Return the seconds until a game is read even without a notification."""
        until_expiry = watched.game.expires_at / 1000 - time.time() + _EXPIRY_MARGIN_SECONDS
        return min(self._heartbeat_seconds, max(until_expiry, _MIN_CHECK_SECONDS))


_END_REASONS: Final[dict[Removal, EndReason]] = {
    Removal.DELETED: pb.WATCH_END_REASON_DELETED,
    Removal.EXPIRED: pb.WATCH_END_REASON_EXPIRED,
}
