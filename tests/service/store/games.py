"""Games at the level of the store: opaque bytes."""

import secrets
from typing import Any

from service.store import Commit, Committed, Confirmed, Followed, Gone, Record, Store

SOON = 10.0
"""A timeout in seconds that a healthy server never reaches."""
HOUR = 3_600_000
"""One hour in milliseconds."""
MINUTE = 60_000
"""One minute in milliseconds: longer than a test, and shorter than what counts as a clock that was set back."""

FIRST = b"dealt\x00"
"""The first entry of the log of a game."""


def new_id() -> str:
    """Return a new id of a game."""
    return secrets.token_hex(8)


def new_request() -> bytes:
    """Return a new hash of a request."""
    return secrets.token_bytes(8)


def create(store: Store, game_id: str | None = None, *, ttl_ms: int = HOUR, **changes: Any) -> Record | None:
    """Create a game at version 1 with fixed values, except for `changes`, unless it exists; return the stored game."""
    fields: dict[str, Any] = {
        "head": "1-first",
        "meta": b"meta",
        "state": b"state 1\x00\xff",
        "entry": FIRST,
        **changes,
    }
    found = store.games.create(game_id or new_id(), ttl_ms=ttl_ms, tombstone_ttl_ms=60_000, timeout=SOON, **fields)
    return None if found is None else found[0]


def new_game(store: Store, *, ttl_ms: int = HOUR) -> str:
    """Create a game and return its id."""
    game_id = new_id()
    assert create(store, game_id, ttl_ms=ttl_ms) is not None
    return game_id


def move(expected_head: str = "1-first", *, nonce: str = "second", ttl_ms: int = HOUR, **changes: Any) -> Commit:
    """Return a commit on a head, with a new request."""
    version = int(expected_head.partition("-")[0]) + 1
    commit = Commit(
        expected_head=expected_head,
        new_head=f"{version}-{nonce}",
        state=b"state %d\x00\xff" % version,
        entry=b"entry %d\x00\xff" % version,
        request=new_request(),
        ttl_ms=ttl_ms,
    )
    return commit._replace(**changes)


def make(store: Store, game_id: str, commit: Commit) -> Record:
    """Make a commit that succeeds, and return the game that it leaves."""
    assert isinstance(store.games.commit(game_id, commit, timeout=SOON), Committed)
    return stored(store, game_id)


def make_moves(store: Store, game_id: str, number: int) -> list[Commit]:
    """Make a number of commits in a game, and return them."""
    commits: list[Commit] = []
    for _ in range(number):
        commits.append(move(stored(store, game_id).head, nonce="n"))
        make(store, game_id, commits[-1])
    return commits


def confirm(store: Store, game_id: str, commit: Commit) -> Confirmed | Gone:
    """Confirm the request of a commit, like a repeated call."""
    return store.games.confirm(game_id, commit.request, timeout=SOON)


def stored(store: Store, game_id: str) -> Record:
    """Read a game that exists."""
    record = store.games.read(game_id, timeout=SOON)
    assert isinstance(record, Record)
    return record


def log_of(store: Store, game_id: str, *, first: int = 1, **count: int) -> list[tuple[int, bytes]]:
    """Return the log of a game that exists, from a version on: versions and values."""
    found = store.games.read_log(game_id, first=first, timeout=SOON, **count)
    assert isinstance(found, Followed)
    return [(element[0], element.value) for element in found.log]


def after(commit: Commit, committed: Committed, before: Record) -> Record:
    """Return the record that a commit leaves."""
    return before._replace(
        head=commit.new_head,
        updated_at=committed.committed_at,
        expires_at=committed.expires_at,
        state=commit.state,
        archived=int(commit.new_head.partition("-")[0]) if commit.fold else before.archived,
    )
