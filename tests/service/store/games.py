"""Games at the level of the store: opaque bytes."""

import secrets
from typing import Any

from service.store import Commit, Confirmed, Entry, Gone, Record, Reused, Store

SOON = 10.0
"""A timeout in seconds that a healthy server never reaches."""
HOUR = 3_600_000
"""One hour in milliseconds."""
MINUTE = 60_000
"""One minute in milliseconds: longer than a test, and shorter than what counts as a clock that was set back."""

FIRST = Entry(version=1, nonce="first", seat=None, move=b"", events=b"dealt\x00")


def new_id() -> str:
    """Return a new id of a game."""
    return secrets.token_hex(8)


def new_request() -> bytes:
    """Return a new hash of a request."""
    return secrets.token_bytes(16)


def create(store: Store, game_id: str | None = None, *, ttl_ms: int = HOUR, **changes: Any) -> Record | None:
    """Create a game at version 1 with fixed values, except for `changes`."""
    fields: dict[str, Any] = {
        "head": "1-first",
        "snapshot": b"snapshot 1\x00\xff",
        "decisions": b"decisions 1",
        "meta": b"meta",
        "entry": FIRST,
        **changes,
    }
    return store.games.create(game_id or new_id(), ttl_ms=ttl_ms, tombstone_ttl_ms=60_000, timeout=SOON, **fields)


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
        snapshot=b"snapshot %d\x00\xff" % version,
        decisions=b"decisions %d" % version,
        entry=Entry(version, nonce, seat=version % 2, move=b"move %d\x00" % version, events=b"events %d\x00" % version),
        request=new_request(),
        payload=b"payload:%d" % version,
        ttl_ms=ttl_ms,
    )
    return commit._replace(**changes)


def confirm(store: Store, game_id: str, commit: Commit) -> Confirmed | Reused | Gone:
    """Confirm the request of a commit, like a repeated call."""
    return store.games.confirm(game_id, commit.request, commit.payload, ttl_ms=commit.ttl_ms, timeout=SOON)


def after(commit: Commit, expires_at: int) -> Record:
    """Return the record that a commit leaves."""
    return Record(commit.new_head, commit.snapshot, commit.decisions, b"meta", expires_at)
