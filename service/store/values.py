"""The values that the store takes and returns. Games are opaque bytes here."""

from typing import NamedTuple


class Record(NamedTuple):
    """A stored game. Times are Unix milliseconds by the server's clock.

    Attributes:
        head: `<version>-<nonce>` of the newest commit.
        created_at: when it was created.
        updated_at: when the newest commit was made.
        expires_at: when it expires unless it changes.
        archived: the number of versions in its archive; 0 without one.
        meta: what never changes, a value.
        state: what the newest commit left, a value.
    """

    head: str
    created_at: int
    updated_at: int
    expires_at: int
    archived: int
    meta: bytes
    state: bytes


class Unchanged(NamedTuple):
    """The game has not changed: its head is the one that the caller knows."""


class LogEntry(NamedTuple):
    """One version in the log of a game: when it was committed, Unix ms by the server's clock, and its value."""

    version: int
    committed_at: int
    value: bytes


class Archive(NamedTuple):
    """The versions from 1 to `versions` in the log of a game: when the newest was committed, and the value of all."""

    versions: int
    committed_at: int
    value: bytes


Log = list[Archive | LogEntry]
"""Part of a log, in order. An archive, if there is one, comes first, and may also hold versions before the part."""


class Fold(NamedTuple):
    """What replaces the log of a game with an archive.

    Attributes:
        archive: the value for all versions, including the one that is committed.
        requests: the hashes of the requests of all versions but the first, all of the same length, joined.
    """

    archive: bytes
    requests: bytes


class Commit(NamedTuple):
    """The changes that a move makes, and the head that they require.

    Attributes:
        expected_head: the head that the move was applied to.
        new_head: the new head.
        state: the state after the move, a value.
        entry: the value for the log.
        request: a hash of the acting seat and the request id, 8 bytes.
        ttl_ms: how long the game lives from now unless it changes, in milliseconds.
        fold: what replaces the log; None to append `entry` to it.
    """

    expected_head: str
    new_head: str
    state: bytes
    entry: bytes
    request: bytes
    ttl_ms: int
    fold: Fold | None = None


class Committed(NamedTuple):
    """The commit was made. Times are Unix milliseconds by the server's clock."""

    committed_at: int
    expires_at: int


class Stale(NamedTuple):
    """The head is not the expected one; `record` is the game as it is now. Nothing changed."""

    record: Record


class Gone(NamedTuple):
    """The game does not exist. Nothing changed."""


class Confirmed(NamedTuple):
    """The request was committed before. Nothing changed.

    Attributes:
        record: the game as it is now.
        version: the version that the request committed.
        log: the part of the log that holds this version.
    """

    record: Record
    version: int
    log: Log


CommitResult = Committed | Confirmed | Stale | Gone


class Deleted(NamedTuple):
    """The game was deleted."""


class Followed(NamedTuple):
    """A game as it is now, and the part of its log after the version that the caller knows."""

    record: Record
    log: Log


class Everything(NamedTuple):
    """A game, its whole log, and the hashes of its requests, joined."""

    record: Record
    requests: bytes
    log: Log


class Liveness(NamedTuple):
    """Whether a game is live: not over, and so not archived.

    Attributes:
        live: whether it is.
        expires_at: when the game expires unless it changes, in Unix milliseconds.
    """

    live: bool
    expires_at: int


class Quota(NamedTuple):
    """How many games an API key may create.

    Attributes:
        live: the maximum number of games that exist and are not over; None means unlimited.
        created: the maximum number of games created in any period of `window_ms`; None means unlimited.
        window_ms: the length of that period, in milliseconds.
    """

    live: int | None
    created: int | None
    window_ms: int


class Claimed(NamedTuple):
    """The game is counted, by this call or by an earlier one."""


class RateExceeded(NamedTuple):
    """Too many games were created in the window. Nothing is counted. One more may be created after `wait_ms`."""

    wait_ms: int


class Unverified(NamedTuple):
    """A game that counts as live and must be verified. `score` identifies this verification."""

    game_id: str
    score: bytes


class LiveExceeded(NamedTuple):
    """Too many games are live. Nothing is counted.

    Attributes:
        unverified: games to verify; if one is over, another may be created. Other calls do not get them for a while.
    """

    unverified: list[Unverified]


class Verified(NamedTuple):
    """The result of a verification. `expires_at` is in Unix milliseconds; None if the game is over or missing."""

    game_id: str
    score: bytes
    expires_at: int | None


ClaimResult = Claimed | RateExceeded | LiveExceeded


class Usage(NamedTuple):
    """The resources that a game uses in the store.

    Attributes:
        log_bytes: the size of its log.
        store_bytes: memory of its key, as far as the server reports it.
    """

    log_bytes: int
    store_bytes: int


class ServerReport(NamedTuple):
    """The result of a check of the servers.

    Attributes:
        warnings: sentences for the operator; empty if there is no problem.
        server: name and version, such as `Valkey 9.1.0`.
        missing_rights: rights that the user lacks, as in an ACL; see `service.store.rights`.
    """

    warnings: list[str]
    server: str
    missing_rights: list[str]
