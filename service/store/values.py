"""The values that the store takes and returns. Games are opaque bytes here."""

from typing import NamedTuple


class Record(NamedTuple):
    """A stored game.

    Attributes:
        head: `<version>-<nonce>` of the newest commit.
        snapshot: the state after that commit, encoded.
        decisions: the open decisions, encoded.
        meta: the facts of the game that never change, encoded.
        expires_at: when the game expires unless it is used, in Unix milliseconds.
    """

    head: str
    snapshot: bytes
    decisions: bytes
    meta: bytes
    expires_at: int


class Unchanged(NamedTuple):
    """The game has not changed: its head is the one that the caller knows.

    Attributes:
        expires_at: when the game expires unless it is used, in Unix milliseconds.
    """

    expires_at: int


class Entry(NamedTuple):
    """A commit in the log of a game. The creation of the game is the first: its seat is None and its move empty."""

    version: int
    nonce: str
    seat: int | None
    move: bytes
    events: bytes


class Commit(NamedTuple):
    """The changes that a move makes, and the head that they require.

    Attributes:
        expected_head: the head that the move was applied to.
        new_head: the new head: version and nonce of `entry`.
        snapshot: the state after the move, encoded.
        decisions: the open decisions after the move, encoded.
        entry: the entry for the log.
        request: a hash of the acting seat and the request id, 16 to 32 bytes.
        payload: a hash of the move, which distinguishes a repeated request from a reused request id.
        ttl_ms: how long the game lives from now unless it is used, in milliseconds.
    """

    expected_head: str
    new_head: str
    snapshot: bytes
    decisions: bytes
    entry: Entry
    request: bytes
    payload: bytes
    ttl_ms: int


class Committed(NamedTuple):
    """The commit was made. `expires_at` is in Unix milliseconds."""

    expires_at: int


class Reused(NamedTuple):
    """The request id was used before, for another move. Nothing changed."""


class Stale(NamedTuple):
    """The head is not the expected one; `record` is the game as it is now. Nothing changed."""

    record: Record


class Gone(NamedTuple):
    """The game does not exist. Nothing changed."""


class Confirmed(NamedTuple):
    """The request was committed before. Nothing changed, except that the game may live longer.

    Attributes:
        record: the game as it is now.
        entry: the commit that the request made.
    """

    record: Record
    entry: Entry


CommitResult = Committed | Confirmed | Reused | Stale | Gone


class Deleted(NamedTuple):
    """The game was deleted."""


class Followed(NamedTuple):
    """A game as it is now, and the commits that led there.

    Attributes:
        record: the game.
        entries: its commits, beginning with the version that the caller knows. If that entry is missing or has another
            nonce, the caller knows a branch of the history that was lost.
    """

    record: Record
    entries: list[Entry]


class Liveness(NamedTuple):
    """The part of a game that shows whether it is over.

    Attributes:
        decisions: the open decisions, encoded.
        expires_at: when the game expires unless it is used, in Unix milliseconds.
    """

    decisions: bytes
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
        log_entries: commits in its log.
        request_ids: request ids stored.
        store_bytes: memory of its keys, as far as the server reports it.
    """

    log_entries: int
    request_ids: int
    store_bytes: int


class ServerReport(NamedTuple):
    """The result of a check of the servers.

    Attributes:
        warnings: sentences for the operator; empty if there is no problem.
        server: name and version, such as `Valkey 9.1.0`.
    """

    warnings: list[str]
    server: str
