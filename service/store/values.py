"""What goes into the store and what comes out of it. All of it is bytes: the store knows nothing of games."""

from typing import NamedTuple


class StoreError(Exception):
    """The store could not do what it was asked. The text is for operators' logs, never for clients."""


class StoreUnavailable(StoreError):
    """The store cannot be reached or did not answer. Nothing was changed: a write was not sent or was refused."""


class Unconfirmed(StoreError):
    """A write was sent, but whether it took effect is unknown, or too few replicas confirmed it.

    The same request may be made again: its request id tells whether it had been committed.
    """


class StoreFull(StoreError):
    """The server has no memory left for writes. Nothing was changed."""


class Record(NamedTuple):
    """A game as stored.

    Attributes:
        head: `<version>-<nonce>` of the newest commit.
        snapshot: the state after it.
        decisions: the open decisions.
        meta: the facts of the game that never change.
        expires_at: when the game expires if nothing more happens, in Unix milliseconds.
    """

    head: str
    snapshot: bytes
    decisions: bytes
    meta: bytes
    expires_at: int


class Glimpse(NamedTuple):
    """As much of a game as tells whether it is over.

    Attributes:
        decisions: the open decisions.
        expires_at: when the game expires if nothing more happens, in Unix milliseconds.
    """

    decisions: bytes
    expires_at: int


class Unchanged(NamedTuple):
    """The game's head is the one that the caller knows already.

    Attributes:
        expires_at: when the game expires if nothing more happens, in Unix milliseconds.
    """

    expires_at: int


class Entry(NamedTuple):
    """One commit in a game's log. The game's creation is one too: nobody's (`seat` None), with an empty move."""

    version: int
    nonce: str
    seat: int | None
    move: bytes
    events: bytes


class Commit(NamedTuple):
    """What one move changes, and what must be true for it.

    Attributes:
        expected_head: the head that the move was applied to.
        new_head: the head that it makes: `entry`'s version and nonce.
        snapshot: the state after the move.
        decisions: the open decisions after the move.
        entry: the move for the log.
        request: a hash of the acting seat and the request id; its own 16 to 32 bytes.
        payload: a hash of the decoded move, by which a repeated request is told from a reused id.
        ttl_ms: how long the game lives from now if nothing more happens, in milliseconds.
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


class Repeated(NamedTuple):
    """The request was committed before, as `version`; `record` is the game as it is now. Only its expiry changed."""

    version: int
    record: Record


class Reused(NamedTuple):
    """The request id was used before, for another move. Nothing changed."""


class Stale(NamedTuple):
    """The head is no longer the expected one; `record` is the game as it is now. Nothing changed."""

    record: Record


class Gone(NamedTuple):
    """There is no such game (any more). Nothing changed."""


class Deleted(NamedTuple):
    """The game was deleted. Nothing changed."""


class Followed(NamedTuple):
    """A game as it is now, and how it came there.

    Attributes:
        record: the game.
        entries: its commits from the version that the caller knows on, that one included; without it, or with another
            nonce, the caller knows a branch that was lost.
    """

    record: Record
    entries: list[Entry]


Outcome = Committed | Repeated | Reused | Stale | Gone


class Known(NamedTuple):
    """What a request id committed: the version, and the hash of the move."""

    version: int
    payload: bytes


class Quota(NamedTuple):
    """How many games an API key may have.

    Attributes:
        live: at once, that are not over; None: any number.
        made: to make in any span of `window_ms`; None: any number.
        window_ms: that span, in milliseconds.
    """

    live: int | None
    made: int | None
    window_ms: int


class Claimed(NamedTuple):
    """The game is counted, now or since before."""


class Spent(NamedTuple):
    """No more games may be made now. Nothing is counted. `wait_ms`: in so many milliseconds one more may."""

    wait_ms: int


class Due(NamedTuple):
    """A game that counts as live and is to be looked at, by nobody else for now. `score` tells the look from others."""

    game_id: str
    score: bytes


class Full(NamedTuple):
    """No more games may live. Nothing is counted. If one of `due` is over, there is room; others may be due too."""

    due: list[Due]


class Looked(NamedTuple):
    """What has become of a game that was due. `expires_at` is in Unix milliseconds; None: it is over, or was never."""

    game_id: str
    score: bytes
    expires_at: int | None


Claim = Claimed | Spent | Full


class Usage(NamedTuple):
    """What a game takes of the store.

    Attributes:
        log_entries: how many commits its log has.
        request_ids: how many request ids are remembered.
        store_bytes: how much memory its keys take there, as far as the server tells.
    """

    log_entries: int
    request_ids: int
    store_bytes: int


class Checked(NamedTuple):
    """What a look at the server found.

    Attributes:
        warnings: sentences for the operator; empty when all is well.
        server: its name and version, such as `Valkey 9.1.0`.
    """

    warnings: list[str]
    server: str
