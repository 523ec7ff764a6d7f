"""The repository of games: creates, reads, changes and deletes the games in the store."""

import secrets
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, Final, NamedTuple, Protocol

from engine.codec import encode
from engine.rng import Rng
from service.games.cache import GameCache, GameLocks
from service.games.deadline import Deadline
from service.games.errors import Contention, GameError, GameNotFound, RequestIdReused
from service.games.game import (
    Meta,
    NewGame,
    RequestedMove,
    StoredGame,
    digest,
    first_head,
    nonce_of,
    owner_of,
    version_of,
)
from service.games.kinds import Kind
from service.games.quotas import Quotas
from service.games.reservations import Reservations
from service.store import (
    Commit,
    Committed,
    Confirmed,
    Entry,
    Followed,
    GameStore,
    Gone,
    Notifications,
    Record,
    Reused,
    Stale,
    StoreError,
    StoreUnavailable,
    Unchanged,
)

REQUEST_TTL_MS: Final = 24 * 3600 * 1000
"""The maximum time for which NewGame remembers a request id, and the life of a tombstone, in milliseconds."""

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
        events: all events of the move.
        repeated: whether an earlier call with the same request id committed it.
    """

    game: StoredGame
    version: int
    events: tuple[Any, ...]
    repeated: bool


class GameUpdate(NamedTuple):
    """A game as it is now, and what changed since an earlier version.

    Attributes:
        game: the game.
        entries: its commits since that version, in order; None if that version is no longer part of its history.
    """

    game: StoredGame
    entries: list[Entry] | None


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
        kinds: Mapping[str, Kind],
        *,
        reservations: Reservations,
        quotas: Quotas,
        counters: Counters,
        cached: int,
        idle_ms: int,
        finished_ms: int,
    ) -> None:
        self._store = store
        self._kinds = kinds
        self._reservations = reservations
        self._quotas = quotas
        self._counters = counters
        self._cache = GameCache(cached)
        self._locks = GameLocks()
        self._idle_ms = idle_ms
        self._finished_ms = finished_ms

    @property
    def idle_ms(self) -> int:
        """How long an unfinished game lives without a move, in milliseconds."""
        return self._idle_ms

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
        kind = new.kind
        head = first_head()
        record = self._store.create(
            game_id,
            head=head,
            snapshot=kind.codec.encode_snapshot(state),
            decisions=encode(dict.fromkeys(kind.game.to_act(state), head)),
            meta=encode(meta),
            entry=Entry(1, nonce_of(head), None, b"", encode(events)),
            ttl_ms=self._idle_ms,
            tombstone_ttl_ms=REQUEST_TTL_MS,
            timeout=deadline.timeout,
        )
        if record is None:
            raise GameNotFound("The game that this request_id created was deleted.")
        game = self._load(game_id, record)
        if game.meta.payload != meta.payload:
            raise RequestIdReused
        if game.head == head:
            self._counters.created(meta.kind)
        return game

    def get(self, game_id: str, deadline: Deadline) -> StoredGame:
        """Return a game as it is now.

        Raises:
            GameNotFound: the game does not exist.
        """
        cached = self._cache.get(game_id)
        found = self._store.read(game_id, known_head=cached.head if cached else None, timeout=deadline.timeout)
        if found is None:
            self._cache.remove(game_id)
            raise GameNotFound
        hit = isinstance(found, Unchanged) and cached is not None
        self._counters.looked_up(hit=hit)
        if isinstance(found, Unchanged) and cached is not None:
            return cached if found.expires_at == cached.expires_at else cached.with_expiry(found.expires_at)
        assert isinstance(found, Record), "the store returns Unchanged only if it received a head"
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
        request = digest(str(seat), request_id or secrets.token_hex(16))
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
                    game.check_request(seat, requested)  # the payload does not include the kind of game
                    return self._confirm(game, request, requested, deadline)
            try:
                after, events = game.apply(seat, requested, etag)
            except GameError:
                if fresh:
                    raise
                game = None
                continue
            commit = Commit(
                expected_head=game.head,
                new_head=after.head,
                snapshot=after.snapshot(),
                decisions=encode(after.decisions),
                entry=Entry(after.version, nonce_of(after.head), seat, requested.encoded, encode(events)),
                request=request,
                payload=requested.payload,
                ttl_ms=self._ttl_ms(after),
            )
            match self._store.commit(game_id, commit, timeout=deadline.timeout):
                case Committed(expires_at):
                    after = after.with_expiry(expires_at)
                    self._cache.put(after)
                    self._counters.moved(after.meta.kind, finished=after.finished)
                    if after.finished:
                        self._quotas.release(after.meta.owner, game_id, deadline)
                    return AppliedMove(after, after.version, events, repeated=False)
                case Confirmed(record, entry):
                    return self._repeated(game_id, record, entry)
                case Reused():
                    raise RequestIdReused
                case Gone():
                    self._cache.remove(game_id)
                    raise GameNotFound
                case Stale(record):
                    self._counters.lost_race()
                    # The script looked up the request before it compared the heads, so this state is fresh.
                    game, fresh = self._load(game_id, record), True
            if deadline.remaining() <= 0:
                raise Contention

    def _confirm(self, game: StoredGame, request: bytes, requested: RequestedMove, deadline: Deadline) -> AppliedMove:
        """Return the result of a request that was committed before."""
        confirmed = self._store.confirm(
            game.game_id, request, requested.payload, ttl_ms=self._ttl_ms(game), timeout=deadline.timeout
        )
        match confirmed:
            case Confirmed(record, entry):
                return self._repeated(game.game_id, record, entry)
            case Reused():
                raise RequestIdReused
        raise GameNotFound

    def _repeated(self, game_id: str, record: Record, entry: Entry) -> AppliedMove:
        self._counters.repeated()
        game = self._load(game_id, record)
        return AppliedMove(game, entry.version, game.kind.codec.decode_events(entry.events), repeated=True)

    def _ttl_ms(self, game: StoredGame) -> int:
        return self._finished_ms if game.finished else self._idle_ms

    def log(self, game: StoredGame, *, first: int, count: int, deadline: Deadline) -> list[Entry]:
        """Return at most `count` commits of a game from version `first` on, in order.

        Raises:
            GameNotFound: it was deleted or has expired since it was read.
        """
        entries = self._store.log(game.game_id, first=first, count=count, timeout=deadline.timeout)
        if len(entries) < min(count, game.version - first + 1):
            raise GameNotFound
        return entries

    def log_since(self, game: StoredGame, head: str, deadline: Deadline) -> list[Entry] | None:
        """Return the commits after an earlier head of a game; None if that head is not part of its history.

        Raises:
            GameNotFound: it was deleted or has expired since it was read.
        """
        first = version_of(head)
        known, *entries = self.log(game, first=first, count=game.version - first + 1, deadline=deadline)
        return entries if known.nonce == nonce_of(head) else None

    def notifications(self, on_change: Callable[[str], None]) -> Notifications:
        """Subscribe to changes of games, made by any process."""
        return self._store.notifications(on_change)

    def follow(self, game: StoredGame, *, extend: bool, timeout: float) -> GameUpdate | Removal:
        """Read the commits after the given version of a game; with `extend`, also extend its life as a move would.

        Raises:
            StoreError: the store did not answer.
        """
        found = self._store.follow(
            game.game_id, head=game.head, extend_ms=self._idle_ms if extend else None, timeout=timeout
        )
        if not isinstance(found, Followed):
            self._cache.remove(game.game_id)
            return Removal.EXPIRED if found is None else Removal.DELETED
        now = self._load(game.game_id, found.record)
        match found.entries:
            case [Entry(version, nonce), *entries] if (version, nonce) == (game.version, nonce_of(game.head)):
                return GameUpdate(now, entries)
        return GameUpdate(now, None)

    def delete(self, game_id: str, deadline: Deadline) -> None:
        """Delete a game permanently.

        Raises:
            GameNotFound: the game does not exist.
        """
        meta = self._store.delete(game_id, tombstone_ttl_ms=REQUEST_TTL_MS, timeout=deadline.timeout)
        self._cache.remove(game_id)
        if meta is None:
            raise GameNotFound
        if (owner := owner_of(meta)) is not None:
            self._quotas.release(owner, game_id, deadline)

    def _load(self, game_id: str, record: Record) -> StoredGame:
        """Return the game of a record, and cache it. Decode the record only if the cache has another head."""
        cached = self._cache.get(game_id)
        if cached is not None and cached.head == record.head:
            game = cached.with_expiry(record.expires_at)
        else:
            game = StoredGame.load(game_id, record, self._kinds)
        self._cache.put(game)
        return game
