"""The repository of games: creates, reads, changes and deletes the games in the store."""

import secrets
import threading
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from engine.rng import Rng
from service.games.cache import GameCache, GameLocks
from service.games.deadline import Deadline
from service.games.errors import Contention, GameError, GameNotFound, RequestIdReused
from service.games.formats import Change, RawEntry, Values
from service.games.game import Meta, NewGame, RequestedMove, StoredGame, digest
from service.games.heads import first_head, leads_to, next_head, version_of
from service.games.quotas import Quotas
from service.games.reservations import Reservations
from service.store import (
    Commit,
    Committed,
    Confirmed,
    Deleted,
    Fold,
    GameStore,
    Gone,
    Log,
    Notifications,
    Record,
    Stale,
    StoreError,
    StoreUnavailable,
    Unchanged,
)

REQUEST_TTL_MS: Final = 24 * 3600 * 1000
"""The maximum time for which NewGame remembers a request id, and the life of a tombstone, in milliseconds."""

_REQUEST_BYTES: Final = 8
"""The length of the hash by which the repeat of a request is recognized."""
_ARCHIVED_REQUEST_BYTES: Final = 4
"""The same after the end of the game, when only repeats are recognized and none is committed."""

_LOCK_POLL_SECONDS: Final = 0.05
"""The interval at which a move that waits for its game's lock checks whether the store has stopped answering."""


class Counters(Protocol):
    """Counts the events of the repository; see `service.observability.metrics`."""

    def created(self, game: str) -> None:
        """Count a new game."""

    def moved(self, game: str, *, finished: bool) -> None:
        """Count a committed move."""

    def repeated(self) -> None:
        """Count a repeated request."""

    def lost_race(self) -> None:
        """Count a commit that another move preceded."""

    def looked_up(self, *, hit: bool) -> None:
        """Count a lookup in the cache."""


class AppliedMove(NamedTuple):
    """A committed move.

    Attributes:
        game: the game as it is now; after a repeat it may be newer than the move.
        version: the version that the move created.
        committed_at: when it was committed, in Unix milliseconds by the store's clock.
        events: all events of the move.
        repeated: whether an earlier call with the same request id committed it.
    """

    game: StoredGame
    version: int
    committed_at: int
    events: tuple[Any, ...]
    repeated: bool


class GameUpdate(NamedTuple):
    """A game as it is now, and what changed since an earlier version.

    Attributes:
        game: the game.
        changes: its commits since that version, in order; None if that version is no longer part of its history.
    """

    game: StoredGame
    changes: list[Change] | None


class Removal(Enum):
    """Why a game does not exist any more."""

    DELETED = "deleted"
    EXPIRED = "expired"


class GameRepository:
    """All games in the store. Thread-safe.

    Methods raise the errors of `service.games.errors`, and StoreError.
    """

    def __init__(
        self,
        store: GameStore,
        values: Values,
        *,
        reservations: Reservations,
        quotas: Quotas,
        counters: Counters,
        cached: int,
        idle_ms: int,
        finished_ms: int,
    ) -> None:
        self._store = store
        self._values = values
        self._reservations = reservations
        self._quotas = quotas
        self._counters = counters
        self._cache = GameCache(cached)
        self._locks = GameLocks()
        self._idle_ms = idle_ms
        self._finished_ms = finished_ms

    def create(self, new: NewGame, deadline: Deadline) -> StoredGame:
        """Deal and store a new game, or return the one that the same request created before.

        Raises:
            engine.errors.InvalidOptions: the engine rejects the options or the number of seats.
            RequestIdReused: the request id was used with another payload.
            GameNotFound: the game that the request id created was deleted.
            QuotaExceeded: the API key has reached a quota.
        """
        kind, meta = new.kind, new.meta()
        state, events = kind.game.new_game(new.options, new.seat_count, Rng(new.seed))
        request = digest(new.owner, new.request_id) if new.request_id else None
        # A reservation must not outlive its game: a repeated request would then create another game with the same id.
        ttl_ms = min(REQUEST_TTL_MS, self._idle_ms, self._finished_ms)
        game_id = ""
        try:
            game_id = self._reservations.reserve(new.owner, request, ttl_ms, deadline)
            return self._create(game_id, new, meta, state, events, deadline)
        except (GameError, StoreError) as error:
            error.game_id = error.game_id or game_id
            error.game_kind = kind.name
            raise

    def _create(
        self, game_id: str, new: NewGame, meta: Meta, state: Any, events: tuple[Any, ...], deadline: Deadline
    ) -> StoredGame:
        """Store a new game, or return the one that the same request created before."""
        kind, head = new.kind, first_head(meta.seed, game_id)
        game = StoredGame(game_id, kind, meta, head, state, dict.fromkeys(kind.game.to_act(state), head), 0, 0, 0)
        found = self._store.create(
            game_id,
            head=head,
            meta=self._values.meta(game_id, meta),
            state=self._values.state(game),
            entry=self._values.entry_value(game_id, self._values.entry(kind, 1, None, None, events)),
            ttl_ms=self._idle_ms,
            tombstone_ttl_ms=REQUEST_TTL_MS,
            timeout=deadline.timeout,
        )
        if found is None:
            raise GameNotFound("The game that this request_id created was deleted.")
        record, created = found
        if created:
            self._counters.created(meta.kind)
            game = game.at(record.updated_at, record.expires_at)
            self._cache.put(game)
            return game
        game = self._load(game_id, record)
        if not game.meta.has_request_of(meta):
            raise RequestIdReused
        return game

    def get(self, game_id: str, deadline: Deadline) -> StoredGame:
        """Return a game as it is now.

        Raises:
            GameNotFound: the game does not exist.
        """
        cached = self._cache.get(game_id)
        known = (cached.head, cached.updated_at) if cached else None
        found = self._store.read(game_id, known=known, timeout=deadline.timeout)
        if found is None:
            self._cache.remove(game_id)
            raise GameNotFound
        self._counters.looked_up(hit=isinstance(found, Unchanged))
        if isinstance(found, Unchanged):
            assert cached is not None, "the store returns Unchanged only if it received a head"
            return cached
        return self._load(game_id, found)

    def apply(
        self, game_id: str, seat: int, requested: RequestedMove, etag: str, request_id: str, deadline: Deadline
    ) -> AppliedMove:
        """Make a move exactly once.

        A move can be *accepted* on a cached game, since the store compares the head. It is *rejected* only after this
        call has read the game, and whether the request id is committed: if the call is a retry, the first attempt may
        have been committed.

        Raises:
            GameNotFound: the game does not exist.
            RequestIdReused: the request id was used for another move.
            Contention: other moves were committed first until the deadline.
            GameError: `StoredGame.apply` rejects the move.
        """
        request = digest(str(seat), request_id or secrets.token_hex(16))[:_REQUEST_BYTES]
        lock = self._locks.of(game_id)
        if not lock.acquire(blocking=False):
            self._acquire(lock, game_id, deadline)
        try:
            return self._apply(game_id, seat, requested, etag, request, deadline)
        finally:
            lock.release()

    def _acquire(self, lock: threading.Lock, game_id: str, deadline: Deadline) -> None:
        """Acquire the lock of a game.

        Raises:
            Contention: other moves were committed first until the deadline.
            StoreUnavailable: the game did not change, so the move that holds the lock is waiting for the store.
        """
        before = self._cache.get(game_id)
        while not self._store.is_silent(game_id):
            remaining = deadline.remaining()
            if lock.acquire(timeout=min(max(remaining, 0), _LOCK_POLL_SECONDS)):
                return
            if remaining <= 0:
                now = self._cache.get(game_id)
                if before is None or now is None or before.head != now.head:
                    raise Contention
                break
        raise StoreUnavailable("another move of the same game waits for the store")

    def _apply(
        self, game_id: str, seat: int, requested: RequestedMove, etag: str, request: bytes, deadline: Deadline
    ) -> AppliedMove:
        """Retry until the move is committed, or rejected on fresh state."""
        game = self._cache.get(game_id)
        self._counters.looked_up(hit=game is not None)
        fresh = False  # whether `game` was read in this call, and the request was not committed at that time
        while True:
            if game is None:
                found = self._store.read_for_request(game_id, request, timeout=deadline.timeout)
                if found is None:
                    raise GameNotFound
                record, committed = found
                game, fresh = self._load(game_id, record), True
                if committed:
                    return self._confirm(game, request, seat, requested, deadline)
            try:
                state, events = game.apply(seat, requested, etag)
            except GameError:
                if fresh:
                    raise
                game = None
                continue
            entry = self._values.entry(game.kind, game.version + 1, seat, requested.move, events)
            after = game.after(seat, state, next_head(game.meta.seed, game.head, seat, entry.move))
            fold = None
            if after.finished and (fold := self._fold(game, entry, request, deadline)) is None:
                game = None
                continue
            commit = Commit(
                expected_head=game.head,
                new_head=after.head,
                state=self._values.state(after),
                entry=b"" if fold else self._values.entry_value(game_id, entry),
                request=request,
                ttl_ms=self._finished_ms if after.finished else self._idle_ms,
                fold=fold,
            )
            match self._store.commit(game_id, commit, timeout=deadline.timeout):
                case Committed(committed_at, expires_at):
                    after = after.at(committed_at, expires_at)
                    self._cache.put(after)
                    self._counters.moved(after.meta.kind, finished=after.finished)
                    if after.finished:
                        self._quotas.release(after.meta.owner, game_id, deadline)
                    return AppliedMove(after, after.version, committed_at, events, repeated=False)
                case Confirmed() as confirmed:
                    return self._repeated(game_id, confirmed, seat, requested)
                case Gone():
                    self._cache.remove(game_id)
                    raise GameNotFound
                case Stale(record):
                    self._counters.lost_race()
                    # The script looked up the request before it compared the heads, so this state is fresh.
                    game, fresh = self._load(game_id, record), True
            if deadline.remaining() <= 0:
                raise Contention

    def _fold(self, game: StoredGame, entry: RawEntry, request: bytes, deadline: Deadline) -> Fold | None:
        """Return the archive with which a game ends; None if the game has changed."""
        found = self._store.read_all(game.game_id, timeout=deadline.timeout)
        if found is None:
            raise GameNotFound
        if found.record.head != game.head:
            return None
        entries = [*self._values.raw_entries(game.game_id, found.log), entry]
        requests = found.requests + request
        starts = range(0, len(requests), _REQUEST_BYTES)
        shortened = b"".join(requests[start : start + _ARCHIVED_REQUEST_BYTES] for start in starts)
        return Fold(self._values.archive_value(game.game_id, entries), shortened)

    def _confirm(
        self, game: StoredGame, request: bytes, seat: int, requested: RequestedMove, deadline: Deadline
    ) -> AppliedMove:
        """Return the result of a request that was committed before."""
        match self._store.confirm(game.game_id, request, timeout=deadline.timeout):
            case Confirmed() as confirmed:
                return self._repeated(game.game_id, confirmed, seat, requested)
        raise GameNotFound

    def _repeated(self, game_id: str, confirmed: Confirmed, seat: int, requested: RequestedMove) -> AppliedMove:
        """Return the result of a confirmed request.

        Raises:
            RequestIdReused: the request made another move.
        """
        game = self._load(game_id, confirmed.record)
        game.check_request(seat, requested)
        [change] = self._changes(game, confirmed.log, first=confirmed.version, count=1)
        if (change.seat, change.move) != (seat, requested.move):
            raise RequestIdReused
        self._counters.repeated()
        return AppliedMove(game, change.version, change.committed_at, change.events, repeated=True)

    def _changes(self, game: StoredGame, log: Log, *, first: int, count: int) -> list[Change]:
        """Decode at most `count` versions of a part of a log, from version `first` on."""
        entries = [
            entry for entry in self._values.raw_entries(game.game_id, log) if first <= entry.version < first + count
        ]
        return self._values.changes(game.kind, entries)

    def log(self, game: StoredGame, *, first: int, count: int, deadline: Deadline) -> list[Change]:
        """Return at most `count` versions of a game as it was read, from version `first` on, in order.

        Raises:
            GameNotFound: it was deleted or has expired since it was read.
            StoreUnavailable: the store has lost changes since then.
        """
        count = min(count, game.version - first + 1)
        if count < 1:
            return []
        found = self._store.read_log(game.game_id, first=first, count=count, timeout=deadline.timeout)
        if found is None or isinstance(found, Deleted):
            raise GameNotFound
        changes = self._changes(game, found.log, first=first, count=count)
        if len(changes) < count:
            if version_of(found.record.head) < game.version:
                raise StoreUnavailable("the store has lost changes since the game was read")
            raise StoreError("the log of a game is incomplete")
        return changes

    def log_since(self, game: StoredGame, head: str, deadline: Deadline) -> list[Change] | None:
        """Return the commits after an earlier head of a game; None if that head is not part of its history.

        Raises:
            GameNotFound: it was deleted or has expired since it was read.
        """
        first, count = version_of(head) + 1, game.version - version_of(head)
        found = self._store.read_log(game.game_id, first=first, count=count, timeout=deadline.timeout)
        if found is None or isinstance(found, Deleted):
            raise GameNotFound
        return self._branch(game, head, found.log)

    def _branch(self, game: StoredGame, head: str, log: Log) -> list[Change] | None:
        """Return the commits that lead from a head to a game, decoded; None if they do not."""
        first = version_of(head) + 1
        entries: Sequence[RawEntry] = [
            entry for entry in self._values.raw_entries(game.game_id, log) if first <= entry.version <= game.version
        ]
        moves = [(entry.seat, entry.move) for entry in entries if entry.seat is not None]
        return self._values.changes(game.kind, entries) if leads_to(game.meta.seed, head, moves, game.head) else None

    def notifications(self, on_change: Callable[[str], None]) -> Notifications:
        """Subscribe to changes of games, made by any process."""
        return self._store.notifications(on_change)

    def follow(self, game: StoredGame, *, timeout: float) -> GameUpdate | Removal:
        """Read the commits after the given version of a game.

        Raises:
            StoreError: the store did not answer.
        """
        found = self._store.read_log(game.game_id, first=game.version + 1, timeout=timeout)
        if found is None or isinstance(found, Deleted):
            self._cache.remove(game.game_id)
            return Removal.EXPIRED if found is None else Removal.DELETED
        now = self._load(game.game_id, found.record)
        return GameUpdate(now, self._branch(now, game.head, found.log))

    def delete(self, game_id: str, deadline: Deadline) -> None:
        """Delete a game permanently. Deleting a deleted game again succeeds while its id is reserved.

        Raises:
            GameNotFound: the game does not exist.
        """
        meta = self._store.delete(game_id, tombstone_ttl_ms=REQUEST_TTL_MS, timeout=deadline.timeout)
        self._cache.remove(game_id)
        if meta is None:
            raise GameNotFound
        if not isinstance(meta, Deleted) and (owner := self._values.owner(game_id, meta)) is not None:
            self._quotas.release(owner, game_id, deadline)

    def _load(self, game_id: str, record: Record) -> StoredGame:
        """Return the game of a record, and cache it. Decode the record only if the cache has another head."""
        cached = self._cache.get(game_id)
        if cached is not None and (cached.head, cached.updated_at) == (record.head, record.updated_at):
            return cached
        game = self._values.game(game_id, record)
        self._cache.put(game)
        return game
