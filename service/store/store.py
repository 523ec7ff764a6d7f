"""The store: what may be done with games, each in one round trip."""

from collections.abc import Callable, Sequence
from time import monotonic

from redis.exceptions import ResponseError

from service.store import layout
from service.store.client import Caller
from service.store.connection import Answer, Command
from service.store.instrumentation import Measured, operation
from service.store.layout import FORMAT, RECORD, keys_of, keys_of_owner, reservation_key
from service.store.notifications import Hints
from service.store.records import logged, other_format, read_entry, read_record
from service.store.report import judged
from service.store.topology import Source
from service.store.urls import parse
from service.store.values import (
    Checked,
    Claim,
    Claimed,
    Commit,
    Committed,
    Deleted,
    Due,
    Entry,
    Followed,
    Full,
    Glimpse,
    Gone,
    Known,
    Looked,
    Outcome,
    Quota,
    Record,
    Repeated,
    Reused,
    Spent,
    Stale,
    StoreError,
    StoreUnavailable,
    Unchanged,
    Unconfirmed,
    Usage,
)

_LOOKS = 16  # games that one call looks at, at most
_LOOK_AGAIN_MS, _LOOK_ANYWAY_MS = 1000, 60_000  # how often a game is looked at for a claim, at most and at least
_LEFT_FOR_THE_ANSWER = 0.15  # seconds; a server looks at the clock of those who wait only ten times a second


def connect(
    url: str, *, durable_replicas: int = 0, durable_timeout: float = 1.0, measured: Measured | None = None
) -> "Store":
    """Makes the store behind a URL. Nothing is connected yet.

    Args:
        url: `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS), `unix://[user:password@]/path[?db=0]`,
            `redis+sentinel://[user:password@]host[:port],…/master[/db]` or `redis+cluster://[user:password@]host[:port],…`;
            `valkey` means the same as `redis`.
        durable_replicas: how many replicas must have a write before it counts as done; 0: the server alone decides.
        durable_timeout: how long to wait for them, in seconds.
        measured: told of every question to the store.

    Raises:
        ValueError: the URL names no store, or a number is out of range.
    """
    if durable_replicas < 0:
        raise ValueError(f"durable_replicas is a number of replicas, not {durable_replicas}")
    if durable_timeout <= 0:
        raise ValueError(f"durable_timeout is a number of seconds above 0, not {durable_timeout}")
    return Store(parse(url), durable_replicas=durable_replicas, durable_timeout=durable_timeout, measured=measured)


class Store:
    """The games, as bytes. All threads may use it at once.

    Every method takes a `timeout`, the seconds that the caller can still wait, and raises `StoreUnavailable` when it
    changed nothing, `Unconfirmed` when a write's outcome is unknown, `StoreFull` when the server's memory is used up,
    and a bare `StoreError` when something is wrong that time will not mend.
    """

    def __init__(
        self, source: Source, *, durable_replicas: int, durable_timeout: float, measured: Measured | None = None
    ) -> None:
        self._measured = measured
        self._source = source
        self._caller = Caller(source)
        self._replicas = durable_replicas
        self._patience = durable_timeout

    @operation
    def reserve(self, request: bytes, game_id: str, *, ttl_ms: int, brief_ms: int = 0, timeout: float) -> str:
        """Holds a game id for a NewGame request and returns the id that holds: the first caller's.

        A repeat does not extend the reservation, so that it cannot outlive a game that lives as long from then on;
        unless it holds this very id and ends within `brief_ms`.
        """
        holder, *confirmed = self._caller.run(
            layout.RESERVE,
            (reservation_key(request),),
            (game_id, ttl_ms, brief_ms),
            then=self._wait(timeout),
            writes=True,
            deadline=_deadline(timeout),
        )
        self._confirm(confirmed)
        return str(holder, "ascii")

    @operation
    def drop(self, request: bytes, game_id: str, *, brief_ms: int, timeout: float) -> None:
        """Ends a NewGame request's reservation if it holds this id and ends within `brief_ms` anyway."""
        key = reservation_key(request)
        self._caller.run(layout.DROP, (key,), (game_id, brief_ms), writes=True, deadline=_deadline(timeout))

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
        """Creates a game unless it exists, and returns it: ours or that of whoever was first; None: it was deleted."""
        deadline = _deadline(timeout)
        keys = keys_of(game_id)
        (status, *stored), *confirmed = self._caller.run(
            layout.CREATE,
            (keys.game, keys.log),
            (FORMAT, head, snapshot, decisions, meta, *logged(entry), ttl_ms, tombstone_ttl_ms),
            then=self._wait(timeout),
            writes=True,
            deadline=deadline,
        )
        if status == b"GONE":
            return None
        self._confirm(confirmed)
        if status == b"EXISTS":
            return read_record(stored)
        return Record(head, snapshot, decisions, meta, int(stored[0]))

    @operation
    def read(self, game_id: str, *, known_head: str | None = None, timeout: float) -> Record | Unchanged | None:
        """Reads a game; None: there is none.

        Args:
            game_id: whose.
            known_head: the head of a copy that the caller has. While it is the newest, only that fact is fetched;
                otherwise a second round trip fetches the game.
            timeout: in seconds.
        """
        deadline = _deadline(timeout)
        key = keys_of(game_id).game
        if known_head is not None:
            [[head, expires_at]] = self._caller.ask(
                key, [(b"HMGET", key, b"head", b"expires_at")], writes=False, deadline=deadline
            )
            if head is None:
                return None
            if head == known_head.encode():
                return Unchanged(int(expires_at))
        [fields] = self._caller.ask(key, [(b"HMGET", key, *RECORD)], writes=False, deadline=deadline)
        return None if fields[1] is None else read_record(fields)

    @operation
    def read_for_request(self, game_id: str, request: bytes, *, timeout: float) -> tuple[Record, Known | None] | None:
        """Reads a game and what a request has committed to it, as of one moment; None: there is no such game."""
        deadline = _deadline(timeout)
        keys = keys_of(game_id)
        [[*fields, known]] = self._caller.run(
            layout.READ_FOR_REQUEST, (keys.game, keys.requests), (request,), writes=False, deadline=deadline
        )
        if fields[1] is None:
            return None
        record = read_record(fields)
        if known is None:
            return record, None
        version, _, payload = known.partition(b":")
        return record, Known(int(version), payload)

    @operation
    def commit(self, game_id: str, commit: Commit, *, timeout: float) -> Outcome:
        """Makes a move's changes, all or none, if its request is new and the head is the expected one."""
        deadline = _deadline(timeout)
        keys = keys_of(game_id)
        (status, *rest), *confirmed = self._caller.run(
            layout.COMMIT,
            (keys.game, keys.log, keys.requests),
            (
                FORMAT,
                commit.expected_head,
                commit.new_head,
                commit.snapshot,
                commit.decisions,
                *logged(commit.entry),
                commit.request,
                commit.payload,
                commit.ttl_ms,
                keys.hint,
            ),
            then=self._wait(timeout),
            writes=True,
            deadline=deadline,
        )
        match status:
            case b"OK":
                self._confirm(confirmed)
                return Committed(int(rest[0]))
            case b"REPEAT":
                self._confirm(confirmed)
                return Repeated(int(rest[0]), read_record(rest[1:]))
            case b"STALE":
                return Stale(read_record(rest))
            case b"REUSED":
                return Reused()
            case b"GONE":
                return Gone()
            case _:
                raise other_format(rest[0])

    @operation
    def log(self, game_id: str, *, first: int, count: int, timeout: float) -> list[Entry]:
        """Reads at most `count` commits, from version `first` on, oldest first; none where there is no such game."""
        key = keys_of(game_id).log
        command = (b"XRANGE", key, first, b"+", b"COUNT", count)
        [entries] = self._caller.ask(key, [command], writes=False, deadline=_deadline(timeout))
        return [read_entry(entry_id, fields) for entry_id, fields in entries]

    @operation
    def follow(
        self, game_id: str, *, head: str, extend_ms: int | None = None, timeout: float
    ) -> Followed | Deleted | None:
        """Reads a game and its log as of one moment, for somebody who knows it up to a head; None: there is none.

        Args:
            game_id: whose.
            head: what the caller knows.
            extend_ms: how long the game is to live from now at least, if `head` is the newest; None leaves its life
                as it is.
            timeout: in seconds.
        """
        keys = keys_of(game_id)
        [[status, *rest]] = self._caller.run(
            layout.FOLLOW,
            (keys.game, keys.log, keys.requests),
            (head, head.partition("-")[0], "" if extend_ms is None else extend_ms),
            writes=extend_ms is not None,
            deadline=_deadline(timeout),
        )
        if status != b"OK":
            return Deleted() if status == b"DELETED" else None
        entries, *fields = rest
        return Followed(read_record(fields), [read_entry(entry_id, values) for entry_id, values in entries])

    def hints(self, heard: Callable[[str], None]) -> Hints:
        """Listens for changes of the games that it is then told to follow; see `Hints`."""
        return Hints(self._source, heard)

    @operation
    def delete(self, game_id: str, *, tombstone_ttl_ms: int, timeout: float) -> bytes | None:
        """Removes a game, whose id is then taken for a while; returns its meta, empty if lost; None: there is none."""
        keys = keys_of(game_id)
        meta, *confirmed = self._caller.run(
            layout.DELETE,
            (keys.game, keys.log, keys.requests),
            (FORMAT, tombstone_ttl_ms, keys.hint),
            then=self._wait(timeout),
            writes=True,
            deadline=_deadline(timeout),
        )
        if meta is None:
            return None
        self._confirm(confirmed)
        return bytes(meta)

    @operation
    def exists(self, game_id: str, *, timeout: float) -> bool:
        """Tells whether a game's id is taken: by a game, or by one that was deleted."""
        key = keys_of(game_id).game
        [found] = self._caller.ask(key, [(b"EXISTS", key)], writes=False, deadline=_deadline(timeout))
        return bool(found)

    @operation
    def look(self, game_id: str, *, timeout: float) -> Glimpse | None:
        """Reads as much of a game as tells whether it is over; None: there is none."""
        key = keys_of(game_id).game
        command = (b"HMGET", key, b"v", b"head", b"decisions", b"expires_at")
        [[stored_format, head, decisions, expires_at]] = self._caller.ask(
            key, [command], writes=False, deadline=_deadline(timeout)
        )
        if head is None:
            return None
        if stored_format != FORMAT:
            raise other_format(stored_format)
        return Glimpse(decisions, int(expires_at))

    @operation
    def claim(
        self, owner: str, game_id: str, quota: Quota, *, hold_ms: int, looked: Sequence[Looked] = (), timeout: float
    ) -> Claim:
        """Counts a game that is about to be created, once, if its owner's quota has room for it.

        Args:
            owner: the name of the API key, or empty.
            game_id: the game. One that is counted already has room.
            quota: how much room there is.
            hold_ms: for how long its creation may be under way: nobody looks whether it exists before.
            looked: what has become of games that were `Full.due`. With it no others are named as due.
            timeout: in seconds.
        """
        keys = keys_of_owner(owner)
        limits = ("" if most is None else most for most in (quota.live, quota.made))
        seen = [part for game in looked for part in (game.game_id, game.score, game.expires_at or "")]
        [[status, *rest]] = self._caller.run(
            layout.CLAIM,
            keys,
            (game_id, *limits, quota.window_ms, hold_ms, _LOOK_AGAIN_MS, _LOOK_ANYWAY_MS, 0 if seen else _LOOKS, *seen),
            writes=True,
            deadline=_deadline(timeout),
        )
        match status:
            case b"SPENT":
                return Spent(int(rest[0]))
            case b"FULL":
                score, due = rest
                return Full([Due(game.decode(), score) for game in due])
        return Claimed()

    @operation
    def release(self, owner: str, game_id: str, *, timeout: float) -> None:
        """Counts a game as live no longer."""
        key = keys_of_owner(owner).live
        self._caller.ask(key, [(b"ZREM", key, game_id)], writes=True, deadline=_deadline(timeout))

    def usage(self, game_id: str, *, timeout: float) -> Usage:
        """Tells what a game takes of the store; nothing where there is no such game."""
        keys = keys_of(game_id)
        asked: list[Command] = [("XLEN", keys.log), ("HLEN", keys.requests)]
        asked += [("MEMORY", "USAGE", key) for key in (keys.game, keys.log, keys.requests)]
        entries, requests, *sizes = self._caller.ask(keys.game, asked, writes=False, deadline=_deadline(timeout))
        if isinstance(requests, ResponseError):
            raise StoreError(str(requests))
        return Usage(entries, requests, sum(size for size in sizes if isinstance(size, int)))

    def silent(self, game_id: str) -> bool:
        """Tells whether the server of a game is known to be silent, so that all calls but one fail at once."""
        return self._caller.silent(keys_of(game_id).game)

    def ping(self, *, timeout: float) -> None:
        """Makes sure that the store answers."""
        self._caller.ask("sodafountain:ping", [("PING",)], writes=False, deadline=_deadline(timeout))

    def check(self, *, timeout: float) -> Checked:
        """Looks for what an operator should know about the servers; what they do not tell is not complained about."""
        deadline = _deadline(timeout)
        warnings: list[str] = []
        names: list[str] = []
        for address in self._caller.servers(deadline):
            [answer] = self._caller.ask_server(address, [("INFO",)], deadline)
            if isinstance(answer, ResponseError):
                continue
            facts = dict(line.split(":", 1) for line in answer.decode(errors="replace").splitlines() if ":" in line)
            name, found = judged(facts, self._replicas)
            names.append(name)
            warnings += [f"{name} at {address[0]}: {warning}" for warning in found]
        return Checked(warnings, ", ".join(sorted(set(names))) or "a server that does not tell its version")

    def close(self) -> None:
        """Closes every thread's connections. Calls that have begun end first; later ones raise `StoreUnavailable`."""
        self._caller.close()

    def _wait(self, timeout: float) -> Sequence[Command]:
        if not self._replicas:
            return ()
        patience = min(self._patience, max(timeout - _LEFT_FOR_THE_ANSWER, timeout / 2))
        return ((b"WAIT", self._replicas, max(1, int(patience * 1000))),)  # 0 would wait for ever

    def _confirm(self, answers: list[Answer]) -> None:
        if not answers:
            return
        replicas = answers[-1]
        if isinstance(replicas, ResponseError):
            raise Unconfirmed(f"a write was made, but the server cannot say where: {replicas}")
        if replicas < self._replicas:
            raise Unconfirmed(f"a write was made, but {replicas} of {self._replicas} replicas confirmed it in time")


def _deadline(timeout: float) -> float:
    if timeout <= 0:
        raise StoreUnavailable("no time left")
    return monotonic() + timeout
