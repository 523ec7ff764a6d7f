"""Reads, expiry and deletion of games."""

import pytest
from redis import Redis

from service.store import Committed, Confirmed, Gone, Record, Store, StoreError, Unchanged
from service.store.keys import game_keys
from tests.service.store.games import FIRST, HOUR, SOON, after, confirm, create, move, new_game, new_id, new_request
from tests.support.store_servers import eventually


def test_a_created_game_is_read_as_it_was_written(store: Store) -> None:
    game = new_id()

    created = create(store, game)

    assert created is not None
    assert created == Record("1-first", b"snapshot 1\x00\xff", b"decisions 1", b"meta", created.expires_at)
    assert store.games.read(game, timeout=SOON) == created
    assert store.games.log(game, first=0, count=10, timeout=SOON) == [FIRST]


def test_a_missing_game_is_read_as_none(store: Store) -> None:
    game = new_id()

    assert store.games.read(game, timeout=SOON) is None
    assert store.games.read(game, known_head="1-first", timeout=SOON) is None
    assert store.games.read_for_request(game, new_request(), timeout=SOON) is None
    assert store.games.log(game, first=1, count=10, timeout=SOON) == []


def test_a_read_with_the_current_head_returns_only_the_expiry(store: Store) -> None:
    game = new_id()
    created = create(store, game)
    assert created is not None

    assert store.games.read(game, known_head="1-first", timeout=SOON) == Unchanged(created.expires_at)


def test_a_read_with_an_old_head_returns_the_game(store: Store) -> None:
    game = new_game(store)
    commit = move()
    outcome = store.games.commit(game, commit, timeout=SOON)
    assert isinstance(outcome, Committed)

    assert store.games.read(game, known_head="1-first", timeout=SOON) == after(commit, outcome.expires_at)


def test_a_request_is_read_together_with_the_game(store: Store) -> None:
    game = new_game(store)
    commit = move()
    outcome = store.games.commit(game, commit, timeout=SOON)
    assert isinstance(outcome, Committed)
    record = after(commit, outcome.expires_at)

    assert store.games.read_for_request(game, commit.request, timeout=SOON) == (record, True)
    assert store.games.read_for_request(game, new_request(), timeout=SOON) == (record, False)


def test_the_log_is_read_in_parts_from_a_version(store: Store) -> None:
    game = new_game(store)
    head = "1-first"
    for _ in range(12):
        commit = move(head, nonce="n")
        store.games.commit(game, commit, timeout=SOON)
        head = commit.new_head

    assert [entry.version for entry in store.games.log(game, first=9, count=3, timeout=SOON)] == [9, 10, 11]
    assert [entry.version for entry in store.games.log(game, first=12, count=100, timeout=SOON)] == [12, 13]
    assert store.games.log(game, first=14, count=100, timeout=SOON) == []


def test_empty_and_large_values_are_stored(store: Store) -> None:
    game = new_id()
    large = bytes(range(256)) * 4096
    create(store, game, snapshot=b"", decisions=b"", meta=b"")
    store.games.commit(game, move(snapshot=large), timeout=SOON)

    record = store.games.read(game, timeout=SOON)

    assert isinstance(record, Record)
    assert record.snapshot == large
    assert record.meta == b""


# --- Expiry -----------------------------------------------------------------------------------------------------------


def expiries(raw: Redis, game: str) -> set[int]:
    keys = [f"sodafountain:{{{game}}}:{part}" for part in ("game", "log", "requests")]
    return {raw.pexpiretime(key) for key in keys if raw.exists(key)}


def test_every_key_of_a_game_expires_at_the_stored_time(store: Store, raw: Redis) -> None:
    game = new_id()
    created = create(store, game, ttl_ms=HOUR)
    assert created is not None
    assert expiries(raw, game) == {created.expires_at}

    outcome = store.games.commit(game, move(ttl_ms=2 * HOUR), timeout=SOON)

    assert isinstance(outcome, Committed)
    assert len(raw.keys(f"sodafountain:{{{game}}}:*")) == 3
    assert expiries(raw, game) == {outcome.expires_at}
    assert HOUR - 10_000 < outcome.expires_at - created.expires_at < HOUR + 10_000
    assert store.games.read(game, known_head="2-second", timeout=SOON) == Unchanged(outcome.expires_at)


def test_a_repeat_extends_the_expiry_of_every_key(store: Store, raw: Redis) -> None:
    game = new_game(store)
    commit = move(ttl_ms=HOUR)
    store.games.commit(game, commit, timeout=SOON)

    outcome = confirm(store, game, commit._replace(ttl_ms=3 * HOUR))

    assert isinstance(outcome, Confirmed)
    assert expiries(raw, game) == {outcome.record.expires_at}
    server_seconds, _ = raw.time()
    assert outcome.record.expires_at / 1000 - server_seconds > 2.9 * HOUR / 1000
    assert store.games.read(game, timeout=SOON) == outcome.record


def test_rejected_commits_do_not_extend_a_game(store: Store, raw: Redis) -> None:
    game = new_game(store, ttl_ms=HOUR)
    commit = move(ttl_ms=HOUR)
    store.games.commit(game, commit, timeout=SOON)
    before = expiries(raw, game)

    store.games.commit(game, move(ttl_ms=9 * HOUR), timeout=SOON)  # stale
    store.games.commit(game, move(ttl_ms=9 * HOUR, request=commit.request, payload=b"other"), timeout=SOON)  # reused
    create(store, game, ttl_ms=9 * HOUR)  # exists

    assert expiries(raw, game) == before


def test_an_expired_game_is_gone_with_all_its_keys(store: Store, raw: Redis) -> None:
    game = new_game(store, ttl_ms=HOUR)
    commit = move(ttl_ms=50)
    store.games.commit(game, commit, timeout=SOON)

    eventually(lambda: store.games.read(game, timeout=SOON) is None)

    assert not raw.keys(f"*{game}*")
    assert store.games.commit(game, move("2-second"), timeout=SOON) == Gone()
    assert store.games.log(game, first=1, count=10, timeout=SOON) == []


def test_a_reservation_expires(store: Store) -> None:
    request, first, second = new_request(), new_id(), new_id()
    store.reservations.reserve(request, first, ttl_ms=30, timeout=SOON)

    eventually(lambda: store.reservations.reserve(request, second, ttl_ms=60_000, timeout=SOON) == second)


# --- Deletion ---------------------------------------------------------------------------------------------------------


def test_a_deleted_game_is_gone(store: Store) -> None:
    game = new_game(store)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)

    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b"meta"

    assert store.games.read(game, timeout=SOON) is None
    assert store.games.read(game, known_head="2-second", timeout=SOON) is None
    assert store.games.read_for_request(game, commit.request, timeout=SOON) is None
    assert store.games.commit(game, commit, timeout=SOON) == Gone()
    assert store.games.log(game, first=1, count=10, timeout=SOON) == []


def test_a_deleted_game_cannot_be_created_by_a_late_call(store: Store) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON)

    assert create(store, game) is None
    assert store.games.read(game, timeout=SOON) is None


def test_a_game_is_deleted_once(store: Store) -> None:
    game = new_game(store)

    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b"meta"
    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) is None
    assert store.games.delete(new_id(), tombstone_ttl_ms=60_000, timeout=SOON) is None


def test_a_game_without_its_metadata_can_be_deleted(store: Store, raw: Redis) -> None:
    game = new_game(store)
    raw.hdel(game_keys(game).game, "meta")

    assert store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b""
    assert raw.hkeys(game_keys(game).game) == [b"v"]
    assert not raw.exists(game_keys(game).log)


def test_a_tombstone_expires_and_leaves_nothing(store: Store, raw: Redis) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=30, timeout=SOON)

    eventually(lambda: not raw.keys(f"*{game}*"))


# --- The documented layout --------------------------------------------------------------------------------------------


def test_a_game_is_stored_in_the_documented_layout(store: Store, raw: Redis) -> None:
    game = "layout" + new_id()
    request = b"\x00\x01request"
    holder = store.reservations.reserve(b"\xab\xcd" + game.encode(), game, ttl_ms=HOUR, timeout=SOON)
    created = create(store, game)
    outcome = store.games.commit(game, move(request=request, payload=b"\xffhash"), timeout=SOON)
    assert created is not None
    assert isinstance(outcome, Committed)

    assert raw.get(f"sodafountain:request:abcd{game.encode().hex()}") == holder.encode()
    assert raw.hgetall(f"sodafountain:{{{game}}}:game") == {
        b"v": b"1",
        b"head": b"2-second",
        b"snapshot": b"snapshot 2\x00\xff",
        b"decisions": b"decisions 2",
        b"meta": b"meta",
        b"expires_at": str(outcome.expires_at).encode(),
    }
    assert raw.xrange(f"sodafountain:{{{game}}}:log") == [
        (b"1-1", {b"n": b"first", b"s": b"", b"m": b"", b"e": b"dealt\x00"}),
        (b"2-1", {b"n": b"second", b"s": b"0", b"m": b"move 2\x00", b"e": b"events 2\x00"}),
    ]
    assert raw.hgetall(f"sodafountain:{{{game}}}:requests") == {request: b"2:\xffhash"}


def test_a_game_in_a_newer_format_is_not_changed(store: Store, raw: Redis) -> None:
    game = new_game(store)
    raw.hset(f"sodafountain:{{{game}}}:game", "v", "2")
    before = raw.hgetall(f"sodafountain:{{{game}}}:game")

    with pytest.raises(StoreError, match="stored in format 2; this release supports format 1"):
        store.games.read(game, timeout=SOON)
    with pytest.raises(StoreError, match="stored in format 2"):
        store.games.commit(game, move(), timeout=SOON)
    assert raw.hgetall(f"sodafountain:{{{game}}}:game") == before
