"""The store of games: every operation is one round trip."""

from collections.abc import Callable

from service.store import scripts
from service.store.client import Client
from service.store.connection import Reply
from service.store.durability import Durability, deadline_after
from service.store.instrumentation import Observer, operation
from service.store.keys import game_keys
from service.store.notifications import Notifications
from service.store.records import check, exists, fields, is_committed, parse_log, parse_record
from service.store.topology import Topology
from service.store.values import (
    Commit,
    CommitResult,
    Committed,
    Confirmed,
    Deleted,
    Everything,
    Followed,
    Gone,
    Record,
    Stale,
    Unchanged,
)

_ALL_VERSIONS = 2**31


class GameStore:
    """Games as bytes. Thread-safe.

    Every method takes a `timeout`, the seconds that the caller can wait. It raises `StoreUnavailable` if nothing
    changed, `Unconfirmed` if the outcome of a write is unknown, `StoreFull` if the server is out of memory,
    `UnknownLayout` if another release stored the game, and a bare `StoreError` for another problem that does not pass
    by itself.
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
        meta: bytes,
        state: bytes,
        entry: bytes,
        ttl_ms: int,
        tombstone_ttl_ms: int,
        timeout: float,
    ) -> tuple[Record, bool] | None:
        """Create a game unless it exists. Return the stored game, and whether this call created it.

        None if the game was deleted.
        """
        (status, *reply), *confirmed = self._client.run_script(
            scripts.CREATE,
            (game_keys(game_id).game,),
            (head, meta, state, entry, ttl_ms, tombstone_ttl_ms),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        check(status, reply)
        if status == b"DELETED":
            return None
        self._durability.check(confirmed)
        if status == b"EXISTS":
            return parse_record(reply), False
        return parse_record([reply[0], meta, state]), True

    @operation
    def read(self, game_id: str, *, known: tuple[str, int] | None = None, timeout: float) -> Record | Unchanged | None:
        """Read a game; return None if it does not exist.

        Args:
            game_id: the game.
            known: the head of the caller's copy, and when it was committed. While they are the newest, only that fact
                is fetched; otherwise a second round trip fetches the game.
            timeout: in seconds.
        """
        deadline = deadline_after(timeout)
        key = game_keys(game_id).game
        if known is not None:
            [head] = self._client.execute(key, [(b"LINDEX", key, 0)], writes=False, deadline=deadline)
            if head is None:
                return None
            if fields(head)[0:3:2] == [known[0], str(known[1])]:
                return Unchanged()
        [elements] = self._client.execute(key, [(b"LRANGE", key, 0, 2)], writes=False, deadline=deadline)
        return parse_record(elements) if exists(elements) else None

    @operation
    def read_for_request(self, game_id: str, request: bytes, *, timeout: float) -> tuple[Record, bool] | None:
        """Read a game, and whether a request was committed, atomically; return None if the game does not exist."""
        key = game_keys(game_id).game
        [elements] = self._client.execute(key, [(b"LRANGE", key, 0, 3)], writes=False, deadline=deadline_after(timeout))
        if not exists(elements):
            return None
        record = parse_record(elements[:3])
        return record, is_committed(record, elements[3], request)

    @operation
    def read_all(self, game_id: str, *, timeout: float) -> Everything | None:
        """Read a game, its whole log and its requests, atomically; return None if the game does not exist."""
        key = game_keys(game_id).game
        [elements] = self._client.execute(
            key, [(b"LRANGE", key, 0, -1)], writes=False, deadline=deadline_after(timeout)
        )
        if not exists(elements):
            return None
        record = parse_record(elements[:3])
        return Everything(record, elements[3], parse_log(record, 1, elements[4:]))

    @operation
    def commit(self, game_id: str, commit: Commit, *, timeout: float) -> CommitResult:
        """Apply a commit, all or nothing, if its request is new and the head is the expected one.

        A request that was committed before is confirmed, as by `confirm`.
        """
        keys = game_keys(game_id)
        (status, *reply), *confirmed = self._client.run_script(
            scripts.COMMIT,
            (keys.game,),
            (
                commit.expected_head,
                commit.new_head,
                commit.state,
                commit.entry,
                commit.request,
                commit.ttl_ms,
                keys.channel,
                *(commit.fold or (b"", b"")),
            ),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        check(status, reply)
        match status:
            case b"OK":
                self._durability.check(confirmed)
                _, _, updated, expires, _ = fields(reply[0])
                return Committed(int(updated), int(expires))
            case b"REPEAT":
                return self._confirmed(reply, confirmed)
            case b"STALE":
                return Stale(parse_record(reply))
        return Gone()

    @operation
    def confirm(self, game_id: str, request: bytes, *, timeout: float) -> Confirmed | Gone:
        """Confirm a request that was committed before: make it as durable as a commit."""
        (status, *reply), *confirmed = self._client.run_script(
            scripts.CONFIRM,
            (game_keys(game_id).game,),
            (request,),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        check(status, reply)
        return self._confirmed(reply, confirmed) if status == b"REPEAT" else Gone()

    def _confirmed(self, reply: list[Reply], confirmed: list[Reply]) -> Confirmed:
        self._durability.check(confirmed)
        version, elements, *record_elements = reply
        record = parse_record(record_elements)
        return Confirmed(record, version, parse_log(record, version, elements))

    @operation
    def read_log(
        self, game_id: str, *, first: int, count: int = _ALL_VERSIONS, timeout: float
    ) -> Followed | Deleted | None:
        """Read a game and its log from version `first` on, atomically; return None if the game does not exist.

        Args:
            game_id: the game.
            first: the first version, from 1.
            count: the maximum number of versions.
            timeout: in seconds.
        """
        [[status, *reply]] = self._client.run_script(
            scripts.READ_LOG,
            (game_keys(game_id).game,),
            (first, count),
            writes=False,
            deadline=deadline_after(timeout),
        )
        check(status, reply)
        if status != b"OK":
            return Deleted() if status == b"DELETED" else None
        elements, *record_elements = reply
        record = parse_record(record_elements)
        return Followed(record, parse_log(record, first, elements))

    def notifications(self, on_change: Callable[[str], None]) -> Notifications:
        """Subscribe to changes of games; see `Notifications`."""
        return Notifications(self._topology, on_change)

    @operation
    def delete(self, game_id: str, *, tombstone_ttl_ms: int, timeout: float) -> bytes | Deleted | None:
        """Delete a game, and reserve its id for a while. Return its meta.

        `Deleted` if it was deleted before; None if it does not exist.
        """
        keys = game_keys(game_id)
        (status, *reply), *confirmed = self._client.run_script(
            scripts.DELETE,
            (keys.game,),
            (tombstone_ttl_ms, keys.channel),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        check(status, reply)
        if status == b"NONE":
            return None
        self._durability.check(confirmed)
        return Deleted() if status == b"DELETED" else bytes(reply[0] or b"")

    def is_silent(self, game_id: str) -> bool:
        """Return whether the server of a game is known to be silent, so that all calls but one fail immediately."""
        return self._client.is_silent(game_keys(game_id).game)
