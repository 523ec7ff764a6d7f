"""Games between the store and the calls: made, found, changed and deleted."""

import secrets
import threading
from collections.abc import Callable, Mapping
from enum import Enum
from hashlib import blake2b
from typing import Any, Final, NamedTuple

from engine.codec import encode
from service.games.cache import GameLocks, TableCache
from service.games.game import Meta, Table, first_head, nonce_of, owner_of, version_of
from service.games.kinds import Kind
from service.games.quotas import Quotas
from service.games.reservations import Naming
from service.observability.metrics import Metrics
from service.store import (
    Commit,
    Committed,
    Entry,
    Followed,
    Gone,
    Hints,
    Record,
    Repeated,
    Reused,
    Stale,
    Store,
    StoreUnavailable,
    Unchanged,
)
from service.transport.call import Call
from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb
from sodafountain.v1.game_pb2 import Move

REQUEST_TTL_MS: Final = 24 * 3600 * 1000
"""How long NewGame remembers a request id at most, and a deleted game's id stays taken."""

_LINE_SECONDS: Final = 0.05
"""How often a move that waits for its turn looks whether the store answers at all."""


class Played(NamedTuple):
    """A move that was committed: by this call, or (`repeated`) by an earlier one with the same request id.

    Attributes:
        table: the game now; after a repeat it may be newer than the move.
        version: the version that the move made.
        events: what the move brought about, in full.
        repeated: whether nothing changed now.
    """

    table: Table
    version: int
    events: tuple[Any, ...]
    repeated: bool


class Seen(NamedTuple):
    """A game as it is now, seen by somebody who knew it before.

    Attributes:
        table: the game.
        entries: its commits since then, in order; None: what was known is no part of its history any more.
    """

    table: Table
    entries: list[Entry] | None


class Lost(Enum):
    """Why a game is no more."""

    DELETED = "deleted"
    EXPIRED = "expired"


class _Asked(NamedTuple):
    """A move as it was asked for: the engine's value, encoded, and the hash by which a repeat is recognized."""

    move: Any
    encoded: bytes
    payload: bytes

    @classmethod
    def of(cls, table: Table, seat: int, move: Move) -> "_Asked":
        """Reads a move of a seat of this game.

        Raises:
            Refusal: MALFORMED.
        """
        table.check_seat(seat)
        value = table.kind.move_value(move)
        encoded = encode(value)
        return cls(value, encoded, digest(encoded))


class Tables:
    """Every game that the store keeps."""

    def __init__(
        self,
        store: Store,
        kinds: Mapping[str, Kind],
        *,
        cached: int,
        idle_ms: int,
        finished_ms: int,
        quotas: Quotas,
        metrics: Metrics,
    ) -> None:
        self._quotas = quotas
        self._naming = Naming(store, quotas)
        self._metrics = metrics
        self._store = store
        self._kinds = kinds
        self._cache = TableCache(cached)
        self._locks = GameLocks()
        self._idle_ms = idle_ms
        self._finished_ms = finished_ms

    def create(self, kind: Kind, meta: Meta, state: Any, events: tuple[Any, ...], request_id: str, call: Call) -> Table:
        """Stores a new game, or finds the one that the same request id made before.

        Raises:
            Refusal: REQUEST_ID_REUSED; GAME_NOT_FOUND where that game was deleted; LIMIT.
        """
        request = digest(meta.owner, request_id) if request_id else None
        # No longer than any game lives: a reservation without its game would make another under the same id.
        ttl_ms = min(REQUEST_TTL_MS, self._idle_ms, self._finished_ms)
        game_id = self._naming.name(meta.owner, request, ttl_ms, call)
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
            timeout=call.timeout,
        )
        if record is None:
            raise Refusal(pb.ERROR_REASON_GAME_NOT_FOUND, "The game that this request id made has been deleted.")
        table = self._remember(game_id, record)
        if table.meta.payload != meta.payload:
            raise _reused()
        if table.head == head:
            self._metrics.created(meta.kind)
        return table

    def get(self, game_id: str, call: Call) -> Table:
        """Finds a game as it is now.

        Raises:
            Refusal: GAME_NOT_FOUND.
        """
        cached = self._cache.get(game_id)
        found = self._store.read(game_id, known_head=cached.head if cached else None, timeout=call.timeout)
        if found is None:
            self._cache.drop(game_id)
            raise not_found()
        hit = isinstance(found, Unchanged) and cached is not None
        self._metrics.looked_up(hit=hit)
        if isinstance(found, Unchanged) and cached is not None:
            return cached if found.expires_at == cached.expires_at else cached.expiring(found.expires_at)
        assert isinstance(found, Record), "a store that was told no head has nothing to compare"
        return self._remember(game_id, found)

    def play(self, game_id: str, seat: int, move: Move, etag: str, request_id: str, call: Call) -> Played:
        """Makes a move, once.

        A move may be *accepted* on a remembered table, since the store compares the head. It is *rejected* only on a
        table that was fetched in this call together with a look at its request id: a retry's own move has already
        happened.

        Raises:
            Refusal: whatever `Table.play` refuses; GAME_NOT_FOUND, REQUEST_ID_REUSED, CONTENTION.
        """
        request = digest(str(seat), request_id or secrets.token_hex(16))
        lock = self._locks.of(game_id)
        if not lock.acquire(blocking=False):
            self._stand_in_line(lock, game_id, call)
        try:
            return self._play(game_id, seat, move, etag, request, call)
        finally:
            lock.release()

    def _stand_in_line(self, lock: threading.Lock, game_id: str, call: Call) -> None:
        """Waits for the game's lock, to be released by the caller.

        Raises:
            Refusal: CONTENTION, others were faster until the deadline.
            StoreUnavailable: nobody was: whoever holds the lock waits for the store.
        """
        before = self._cache.get(game_id)
        while not self._store.silent(game_id):
            remaining = call.remaining()
            if lock.acquire(timeout=min(max(remaining, 0), _LINE_SECONDS)):
                return
            if remaining <= 0:
                now = self._cache.get(game_id)
                if before is None or now is None or before.head != now.head:
                    raise _contention()
                break
        raise StoreUnavailable("another move of the same game waits for the store")

    def _play(self, game_id: str, seat: int, move: Move, etag: str, request: bytes, call: Call) -> Played:
        """Tries until a table takes the move or refuses it for good."""
        table = self._cache.get(game_id)
        self._metrics.looked_up(hit=table is not None)
        fresh = False  # whether `table` was fetched in this call, together with the news that the request id is new
        while True:
            if table is None:
                found = self._store.read_for_request(game_id, request, timeout=call.timeout)
                if found is None:
                    raise not_found()
                record, known = found
                table, fresh = self._remember(game_id, record), True
                if known is not None:
                    return self._repeat(table, seat, move, request, call)
            try:
                asked = _Asked.of(table, seat, move)
                change = table.play(seat, asked.move, etag)
            except Refusal:
                if fresh:
                    raise
                table = None
                continue
            commit = Commit(
                expected_head=table.head,
                new_head=change.table.head,
                snapshot=change.table.snapshot(),
                decisions=encode(change.table.decisions),
                entry=Entry(
                    change.table.version, nonce_of(change.table.head), seat, asked.encoded, encode(change.events)
                ),
                request=request,
                payload=asked.payload,
                ttl_ms=self._ttl_ms(change.table),
            )
            match self._store.commit(game_id, commit, timeout=call.timeout):
                case Committed(expires_at):
                    played = change.table.expiring(expires_at)
                    self._cache.put(played)
                    self._metrics.moved(played.meta.kind, finished=played.finished)
                    if played.finished:
                        self._quotas.release(played.meta.owner, game_id, call)
                    return Played(played, played.version, change.events, repeated=False)
                case Repeated(version, record):
                    return self._repeated(self._remember(game_id, record), version, call)
                case Reused():
                    raise _reused()
                case Gone():
                    self._cache.drop(game_id)
                    raise not_found()
                case Stale(record):
                    self._metrics.lost_race()
                    # The store looked at the request id before it compared the heads
                    table, fresh = self._remember(game_id, record), True
            if call.remaining() <= 0:
                raise _contention()

    def _repeat(self, table: Table, seat: int, move: Move, request: bytes, call: Call) -> Played:
        """Answers a request id that is known, and has the store confirm and extend it as it would a commit."""
        commit = Commit(
            expected_head="",  # no game's head: this cannot change anything, only repeat
            new_head="",
            snapshot=b"",
            decisions=b"",
            entry=Entry(0, "", None, b"", b""),
            request=request,
            payload=_Asked.of(table, seat, move).payload,
            ttl_ms=self._ttl_ms(table),
        )
        match self._store.commit(table.game_id, commit, timeout=call.timeout):
            case Repeated(version, record):
                return self._repeated(self._remember(table.game_id, record), version, call)
            case Reused():
                raise _reused()
        raise not_found()

    def _repeated(self, table: Table, version: int, call: Call) -> Played:
        self._metrics.repeated()
        (entry,) = self.log(table, first=version, count=1, call=call)
        return Played(table, version, table.kind.codec.decode_events(entry.events), repeated=True)

    def _ttl_ms(self, table: Table) -> int:
        return self._finished_ms if table.finished else self._idle_ms

    def log(self, table: Table, *, first: int, count: int, call: Call) -> list[Entry]:
        """Reads commits of a game in order: at most `count`, from version `first` on.

        Raises:
            Refusal: GAME_NOT_FOUND, it went away since it was read.
        """
        entries = self._store.log(table.game_id, first=first, count=count, timeout=call.timeout)
        if len(entries) < min(count, table.version - first + 1):
            raise not_found()
        return entries

    def log_since(self, table: Table, head: str, call: Call) -> list[Entry] | None:
        """Reads what happened between a head, older than the table's, and the table; None: it was never its head.

        Raises:
            Refusal: GAME_NOT_FOUND, it went away since it was read.
        """
        first = version_of(head)
        known, *entries = self.log(table, first=first, count=table.version - first + 1, call=call)
        return entries if known.nonce == nonce_of(head) else None

    @property
    def idle_ms(self) -> int:
        """How long an unfinished game lives without a move, in milliseconds."""
        return self._idle_ms

    def hints(self, heard: Callable[[str], None]) -> Hints:
        """Listens for changes of the games that it is then told to follow, made by whichever process."""
        return self._store.hints(heard)

    def follow(self, table: Table, *, extend: bool, timeout: float) -> Seen | Lost:
        """Looks what has become of a game, and with `extend` makes it live on as if a move had been made.

        Raises:
            StoreError: it cannot be told.
        """
        found = self._store.follow(
            table.game_id, head=table.head, extend_ms=self._idle_ms if extend else None, timeout=timeout
        )
        if not isinstance(found, Followed):
            self._cache.drop(table.game_id)
            return Lost.EXPIRED if found is None else Lost.DELETED
        now = self._remember(table.game_id, found.record)
        match found.entries:
            case [Entry(version, nonce), *entries] if (version, nonce) == (table.version, nonce_of(table.head)):
                return Seen(now, entries)
        return Seen(now, None)

    def delete(self, game_id: str, call: Call) -> None:
        """Deletes a game for good.

        Raises:
            Refusal: GAME_NOT_FOUND.
        """
        meta = self._store.delete(game_id, tombstone_ttl_ms=REQUEST_TTL_MS, timeout=call.timeout)
        self._cache.drop(game_id)
        if meta is None:
            raise not_found()
        if (owner := owner_of(meta)) is not None:
            self._quotas.release(owner, game_id, call)

    def _remember(self, game_id: str, record: Record) -> Table:
        cached = self._cache.get(game_id)
        if cached is not None and cached.head == record.head:
            table = cached.expiring(record.expires_at)
        else:
            table = Table.load(game_id, record, self._kinds)
        self._cache.put(table)
        return table


def digest(*parts: str | bytes) -> bytes:
    """Hashes the parts, each apart from the next: 16 bytes."""
    state = blake2b(digest_size=16)
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        state.update(len(data).to_bytes(4, "big"))
        state.update(data)
    return state.digest()


def not_found() -> Refusal:
    """Refuses for want of a game."""
    return Refusal(pb.ERROR_REASON_GAME_NOT_FOUND, "There is no such game: it never was, has expired or was deleted.")


def _contention() -> Refusal:
    return Refusal(pb.ERROR_REASON_CONTENTION, "Other moves of this game were faster until the deadline: try again.")


def _reused() -> Refusal:
    return Refusal(
        pb.ERROR_REASON_REQUEST_ID_REUSED, "This request id was used before with another payload: draw a new one."
    )
