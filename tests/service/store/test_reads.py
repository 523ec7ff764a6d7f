"""Reads, expiry and deletion of games."""

import time
from typing import Any

import pytest
from redis import Redis

from service.store import Committed, Deleted, Gone, Record, Stale, Store, StoreError, Unchanged, UnknownLayout
from service.store.keys import game_keys
from tests.service.store.games import (
    FIRST,
    HOUR,
    SOON,
    confirm,
    create,
    log_of,
    make,
    make_moves,
    move,
    new_game,
    new_id,
    new_request,
    stored,
)
from tests.support.store_servers import eventually


def now(raw: Any) -> int:
    """Return the time of the server's clock in Unix milliseconds."""
    seconds, microseconds = raw.time()
    return int(seconds) * 1000 + int(microseconds) // 1000


def test_a_created_game_is_read_as_it_was_written(store: Store, raw: Redis) -> None:
    game, before = new_id(), now(raw)

    created = create(store, game)

    assert created is not None
    moment = created.created_at
    assert before <= moment <= now(raw)
    assert created == Record("1-first", moment, moment, moment + HOUR, 0, b"meta", b"state 1\x00\xff")
    assert stored(store, game) == created
    assert log_of(store, game) == [(1, FIRST)]


def test_a_missing_game_is_read_as_none(store: Store) -> None:
    game = new_id()

    assert store.games.read(game, timeout=SOON) is None
    assert store.games.read(game, known=("1-first", 0), timeout=SOON) is None
    assert store.games.read_for_request(game, new_request(), timeout=SOON) is None
    assert store.games.read_all(game, timeout=SOON) is None
    assert store.games.read_log(game, first=1, timeout=SOON) is None


def test_a_read_with_the_newest_commit_does_not_return_the_game(store: Store) -> None:
    game = new_game(store)
    moved = make(store, game, move())

    assert store.games.read(game, known=(moved.head, moved.updated_at), timeout=SOON) == Unchanged()


@pytest.mark.parametrize("head", ["1-first", "2-sec", "2-second2", "2-other"])
def test_a_read_with_another_head_returns_the_game(store: Store, head: str) -> None:
    game = new_game(store)
    moved = make(store, game, move())

    assert store.games.read(game, known=(head, moved.updated_at), timeout=SOON) == moved


def test_a_read_with_the_head_of_another_commit_returns_the_game(store: Store) -> None:
    """After a failover, the same move at another time has the same head."""
    game = new_game(store)
    moved = make(store, game, move())

    assert store.games.read(game, known=(moved.head, moved.updated_at - 1), timeout=SOON) == moved


def test_a_request_is_read_together_with_the_game(store: Store) -> None:
    game = new_game(store)
    assert store.games.read_for_request(game, new_request(), timeout=SOON) == (stored(store, game), False)
    commit = move()
    moved = make(store, game, commit)

    assert store.games.read_for_request(game, commit.request, timeout=SOON) == (moved, True)
    assert store.games.read_for_request(game, new_request(), timeout=SOON) == (moved, False)


def test_empty_and_large_values_are_stored(store: Store) -> None:
    game = new_id()
    large = bytes(range(256)) * 4096
    create(store, game, state=b"", meta=b"", entry=b"")

    moved = make(store, game, move(state=large, entry=large))

    assert (moved.meta, moved.state) == (b"", large)
    assert log_of(store, game) == [(1, b""), (2, large)]


def test_a_commit_changes_the_time_of_the_update_only(store: Store, raw: Redis) -> None:
    game = new_game(store)
    created = stored(store, game)
    time.sleep(0.005)
    before = now(raw)

    moved = make(store, game, move())

    assert moved.created_at == created.created_at
    assert created.updated_at < before <= moved.updated_at <= now(raw)


# --- Expiry -----------------------------------------------------------------------------------------------------------


def expiry(raw: Any, game: str) -> int:
    """Return when the server deletes a game, which has one key."""
    [key] = raw.keys(f"*{game}*")
    return int(raw.pexpiretime(key))


def test_a_game_expires_at_the_stored_time(store: Store, raw: Redis) -> None:
    game = new_id()
    created = create(store, game, ttl_ms=HOUR)
    assert created is not None
    assert expiry(raw, game) == created.expires_at == created.updated_at + HOUR

    outcome = store.games.commit(game, move(ttl_ms=2 * HOUR), timeout=SOON)

    assert isinstance(outcome, Committed)
    assert expiry(raw, game) == outcome.expires_at == outcome.committed_at + 2 * HOUR
    assert stored(store, game).expires_at == outcome.expires_at


def test_calls_that_change_nothing_do_not_extend_a_game(store: Store, raw: Redis) -> None:
    game = new_game(store, ttl_ms=HOUR)
    commit = move(ttl_ms=HOUR)
    before = make(store, game, commit)
    time.sleep(0.005)

    assert isinstance(store.games.commit(game, move(ttl_ms=9 * HOUR), timeout=SOON), Stale)
    store.games.commit(game, commit._replace(ttl_ms=9 * HOUR), timeout=SOON)  # a repeat
    confirm(store, game, commit)
    create(store, game, ttl_ms=9 * HOUR)  # exists
    store.games.read_for_request(game, commit.request, timeout=SOON)
    store.games.read_all(game, timeout=SOON)
    log_of(store, game)

    assert stored(store, game) == before
    assert expiry(raw, game) == before.expires_at


def test_an_expired_game_is_gone_with_its_log(store: Store, raw: Redis) -> None:
    game = new_game(store, ttl_ms=HOUR)
    store.games.commit(game, move(ttl_ms=50), timeout=SOON)

    eventually(lambda: store.games.read(game, timeout=SOON) is None)

    assert not raw.keys(f"*{game}*")
    assert store.games.commit(game, move("2-second"), timeout=SOON) == Gone()
    assert store.games.read_log(game, first=1, timeout=SOON) is None


def test_a_reservation_expires(store: Store) -> None:
    request, first, second = new_request(), new_id(), new_id()
    store.reservations.reserve(request, first, ttl_ms=30, timeout=SOON)

    eventually(lambda: store.reservations.reserve(request, second, ttl_ms=60_000, timeout=SOON) == second)


# --- Deletion ---------------------------------------------------------------------------------------------------------


def test_a_deleted_game_is_gone(store: Store) -> None:
    game = new_game(store)
    commit = move()
    make(store, game, commit)

    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b"meta"

    assert store.games.read(game, timeout=SOON) is None
    assert store.games.read(game, known=("2-second", 0), timeout=SOON) is None
    assert store.games.read_for_request(game, commit.request, timeout=SOON) is None
    assert store.games.read_all(game, timeout=SOON) is None
    assert store.games.commit(game, commit, timeout=SOON) == Gone()
    assert store.games.commit(game, move("2-second"), timeout=SOON) == Gone()
    assert confirm(store, game, commit) == Gone()
    assert store.games.read_log(game, first=1, timeout=SOON) == Deleted()


def test_a_tombstone_contains_nothing_of_the_game(store: Store, raw: Any) -> None:
    game = new_game(store)
    make_moves(store, game, 3)

    store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON)

    assert raw.keys(f"*{game}*") == [game_keys(game).game.encode()]
    assert raw.lrange(game_keys(game).game, 0, -1) == [b"1 deleted"]
    assert 0 < raw.pttl(game_keys(game).game) <= 60_000


def test_a_deleted_game_cannot_be_created_by_a_late_call(store: Store) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON)

    assert create(store, game) is None
    assert store.games.read(game, timeout=SOON) is None


def test_a_deletion_is_recognized_again_while_its_tombstone_lives(store: Store, raw: Redis) -> None:
    game = new_game(store)
    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b"meta"
    before = expiry(raw, game)

    assert store.games.delete(game, tombstone_ttl_ms=9 * HOUR, timeout=SOON) == Deleted()

    assert expiry(raw, game) == before
    assert store.games.delete(new_id(), tombstone_ttl_ms=60_000, timeout=SOON) is None


def test_a_game_that_lost_all_but_its_head_can_be_deleted(store: Store, raw: Any) -> None:
    game = new_game(store)
    raw.ltrim(game_keys(game).game, 0, 0)

    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b""
    assert raw.lrange(game_keys(game).game, 0, -1) == [b"1 deleted"]


def test_a_tombstone_expires_and_leaves_nothing(store: Store, raw: Redis) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=30, timeout=SOON)

    eventually(lambda: not raw.keys(f"*{game}*"))
    assert store.games.delete(game, tombstone_ttl_ms=30, timeout=SOON) is None


# --- The documented layout --------------------------------------------------------------------------------------------


def test_a_game_is_stored_in_the_documented_layout(store: Store, raw: Any) -> None:
    game = "layout" + new_id()
    holder = store.reservations.reserve(b"\xab\xcd" + game.encode(), game, ttl_ms=HOUR, timeout=SOON)
    created = create(store, game)
    moved = make(store, game, move(request=b"\x00\x01request"))
    assert created is not None

    assert raw.get(f"sodafountain:request:abcd{game.encode().hex()}") == holder.encode()
    assert raw.lrange(f"sodafountain:{{{game}}}", 0, -1) == [
        f"1 2-second {created.created_at} {moved.updated_at} {moved.expires_at} 0".encode(),
        b"meta",
        b"state 2\x00\xff",
        b"\x00\x01request",
        created.created_at.to_bytes(6, "big") + b"dealt\x00",
        moved.updated_at.to_bytes(6, "big") + b"entry 2\x00\xff",
    ]


def test_a_game_in_an_unknown_layout_is_neither_read_nor_changed(store: Store, raw: Any) -> None:
    game, commit = new_game(store), move()
    key = game_keys(game).game
    raw.lset(key, 0, raw.lindex(key, 0).replace(b"1 ", b"2 ", 1))
    before = raw.lrange(key, 0, -1), raw.pexpiretime(key)

    for call in (
        lambda: store.games.read(game, timeout=SOON),
        lambda: store.games.read(game, known=("1-first", 0), timeout=SOON),
        lambda: store.games.read_for_request(game, commit.request, timeout=SOON),
        lambda: store.games.read_all(game, timeout=SOON),
        lambda: store.games.read_log(game, first=1, timeout=SOON),
        lambda: store.games.commit(game, commit, timeout=SOON),
        lambda: confirm(store, game, commit),
        lambda: create(store, game),
        lambda: store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON),
        lambda: store.quotas.liveness(game, timeout=SOON),
    ):
        with pytest.raises(UnknownLayout, match="stored in layout 2; this release supports layout 1"):
            call()
    assert (raw.lrange(key, 0, -1), raw.pexpiretime(key)) == before
    assert store.quotas.exists(game, timeout=SOON)


def test_an_error_about_an_unknown_layout_does_not_show_stored_bytes(store: Store, raw: Any) -> None:
    game = new_game(store)
    raw.lset(game_keys(game).game, 0, b"\xffhidden 1-first")

    with pytest.raises(UnknownLayout, match="stored in layout unknown") as error:
        store.games.read(game, timeout=SOON)
    assert "hidden" not in str(error.value)


def test_a_key_of_another_type_is_an_error_that_changes_nothing(store: Store, raw: Redis) -> None:
    game = new_id()
    raw.set(game_keys(game).game, "no list")

    with pytest.raises(StoreError, match="WRONGTYPE"):
        store.games.read(game, timeout=SOON)
    with pytest.raises(StoreError, match="WRONGTYPE"):
        store.games.commit(game, move(), timeout=SOON)
    with pytest.raises(StoreError, match="WRONGTYPE"):
        create(store, game)
    assert raw.get(game_keys(game).game) == b"no list"
