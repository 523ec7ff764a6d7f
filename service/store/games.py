"""The store of games: every operation is one round trip."""

from collections.abc import Callable
from typing import Any

from service.store import scripts
from service.store.client import Client
from service.store.connection import Reply
from service.store.durability import Durability, deadline_after
from service.store.instrumentation import Observer, operation
from service.store.keys import FORMAT, RECORD_FIELDS, game_keys
from service.store.notifications import Notifications
from service.store.records import entry_arguments, parse_entry, parse_record, unknown_format
from service.store.topology import Topology
from service.store.values import (
    Commit,
    CommitResult,
    Committed,
    Confirmed,
    Deleted,
    Entry,
    Followed,
    Gone,
    Record,
    Reused,
    Stale,
    Unchanged,
)


class GameStore:
    """Games as bytes. Thread-safe.

    Every method takes a `timeout`, the seconds that the caller can wait. It raises `StoreUnavailable` if nothing
    changed, `Unconfirmed` if the outcome of a write is unknown, `StoreFull` if the server is out of memory, and a bare
    `StoreError` for a problem that does not pass by itself.
    """

    def __init__(self, client: Client, topology: Topology, durability: Durability, observer: Observer | None) -> None:
        self._client = client
        self._topology = topology
        self._durability = durability
        self._observer = observer

    @operation
    def create(
        self,
        game_id: str,
        *,
        head: str,
        snapshot: bytes,
        decisions: bytes,
        meta: bytes,
        entry: Entry,
        ttl_ms: int,
        tombstone_ttl_ms: int,
        timeout: float,
    ) -> Record | None:
        """Create a game unless it exists. Return the stored game; None if it was deleted."""
        keys = game_keys(game_id)
        (status, *stored), *confirmed = self._client.run_script(
            scripts.CREATE,
            (keys.game, keys.log),
            (FORMAT, head, snapshot, decisions, meta, *entry_arguments(entry), ttl_ms, tombstone_ttl_ms),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        if status == b"GONE":
            return None
        self._durability.check(confirmed)
        if status == b"EXISTS":
            return parse_record(stored)
        return Record(head, snapshot, decisions, meta, int(stored[0]))

    @operation
    def read(self, game_id: str, *, known_head: str | None = None, timeout: float) -> Record | Unchanged | None:
        """Read a game; return None if it does not exist.

        Args:
            game_id: the game.
            known_head: the head of the caller's copy. While it is the newest, only that fact is fetched; otherwise a
                second round trip fetches the game.
            timeout: in seconds.
        """
        deadline = deadline_after(timeout)
        key = game_keys(game_id).game
        if known_head is not None:
            [[head, expires_at]] = self._client.execute(
                key, [(b"HMGET", key, b"head", b"expires_at")], writes=False, deadline=deadline
            )
            if head is None:
                return None
            if head == known_head.encode():
                return Unchanged(int(expires_at))
        [fields] = self._client.execute(key, [(b"HMGET", key, *RECORD_FIELDS)], writes=False, deadline=deadline)
        return None if fields[1] is None else parse_record(fields)

    @operation
    def read_for_request(self, game_id: str, request: bytes, *, timeout: float) -> tuple[Record, bool] | None:
        """Read a game, and whether a request was committed, atomically; return None if the game does not exist."""
        keys = game_keys(game_id)
        [[*fields, known]] = self._client.run_script(
            scripts.READ_FOR_REQUEST,
            (keys.game, keys.requests),
            (request,),
            writes=False,
            deadline=deadline_after(timeout),
        )
        return None if fields[1] is None else (parse_record(fields), known is not None)

    @operation
    def commit(self, game_id: str, commit: Commit, *, timeout: float) -> CommitResult:
        """Apply a commit, all or nothing, if its request is new and the head is the expected one.

        A request that was committed before is confirmed, as by `confirm`.
        """
        keys = game_keys(game_id)
        (status, *rest), *confirmed = self._client.run_script(
            scripts.COMMIT,
            (keys.game, keys.log, keys.requests),
            (
                FORMAT,
                commit.expected_head,
                commit.new_head,
                commit.snapshot,
                commit.decisions,
                *entry_arguments(commit.entry),
                commit.request,
                commit.payload,
                commit.ttl_ms,
                keys.channel,
            ),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        match status:
            case b"OK":
                self._durability.check(confirmed)
                return Committed(int(rest[0]))
            case b"REPEAT":
                return self._confirmed(rest, confirmed)
            case b"STALE":
                return Stale(parse_record(rest))
            case b"REUSED":
                return Reused()
            case b"GONE":
                return Gone()
            case _:
                raise unknown_format(rest[0])

    @operation
    def confirm(
        self, game_id: str, request: bytes, payload: bytes, *, ttl_ms: int, timeout: float
    ) -> Confirmed | Reused | Gone:
        """Confirm a request that was committed before: make it as durable as a commit, and extend the game's life.

        Args:
            game_id: the game.
            request: as in the commit.
            payload: as in the commit.
            ttl_ms: how long the game lives from now unless it is used. Never shortens its life.
            timeout: in seconds.
        """
        keys = game_keys(game_id)
        (status, *rest), *confirmed = self._client.run_script(
            scripts.CONFIRM,
            (keys.game, keys.log, keys.requests),
            (FORMAT, request, payload, ttl_ms),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        match status:
            case b"REPEAT":
                return self._confirmed(rest, confirmed)
            case b"REUSED":
                return Reused()
            case b"FORMAT":
                raise unknown_format(rest[0])
        return Gone()

    def _confirmed(self, reply: list[Any], confirmed: list[Reply]) -> Confirmed | Gone:
        entries, *fields = reply
        if not entries:
            return Gone()
        self._durability.check(confirmed)
        [[entry_id, values]] = entries
        return Confirmed(parse_record(fields), parse_entry(entry_id, values))

    @operation
    def log(self, game_id: str, *, first: int, count: int, timeout: float) -> list[Entry]:
        """Return at most `count` commits from version `first` on, oldest first; none if the game does not exist."""
        key = game_keys(game_id).log
        command = (b"XRANGE", key, first, b"+", b"COUNT", count)
        [entries] = self._client.execute(key, [command], writes=False, deadline=deadline_after(timeout))
        return [parse_entry(entry_id, values) for entry_id, values in entries]

    @operation
    def follow(
        self, game_id: str, *, head: str, extend_ms: int | None = None, timeout: float
    ) -> Followed | Deleted | None:
        """Read a game and its log, starting at a known head, atomically; return None if the game does not exist.

        Args:
            game_id: the game.
            head: the head that the caller knows.
            extend_ms: how long the game must live from now at least, if `head` is the newest; None leaves it unchanged.
            timeout: in seconds.
        """
        keys = game_keys(game_id)
        [[status, *rest]] = self._client.run_script(
            scripts.FOLLOW,
            (keys.game, keys.log, keys.requests),
            (head, head.partition("-")[0], "" if extend_ms is None else extend_ms),
            writes=extend_ms is not None,
            deadline=deadline_after(timeout),
        )
        if status != b"OK":
            return Deleted() if status == b"DELETED" else None
        entries, *fields = rest
        return Followed(parse_record(fields), [parse_entry(entry_id, values) for entry_id, values in entries])

    def notifications(self, on_change: Callable[[str], None]) -> Notifications:
        """Subscribe to changes of games; see `Notifications`."""
        return Notifications(self._topology, on_change)

    @operation
    def delete(self, game_id: str, *, tombstone_ttl_ms: int, timeout: float) -> bytes | None:
        """Delete a game, and reserve its id for a while. Return its meta, empty if lost; None if it does not exist."""
        keys = game_keys(game_id)
        meta, *confirmed = self._client.run_script(
            scripts.DELETE,
            (keys.game, keys.log, keys.requests),
            (FORMAT, tombstone_ttl_ms, keys.channel),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        if meta is None:
            return None
        self._durability.check(confirmed)
        return bytes(meta)

    def is_silent(self, game_id: str) -> bool:
        """Return whether the server of a game is known to be silent, so that all calls but one fail immediately."""
        return self._client.is_silent(game_keys(game_id).game)
