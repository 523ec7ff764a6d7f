"""A commit is atomic and reports its outcome."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from redis import Redis

from service.store import Committed, Confirmed, Gone, Reused, Stale, Store, StoreError, Unchanged
from service.store.keys import game_keys, reservation_key
from tests.service.store.games import FIRST, HOUR, SOON, after, confirm, create, move, new_game, new_id, new_request


def test_a_commit_on_the_head_changes_the_game_and_its_log(store: Store) -> None:
    game = new_game(store)
    commit = move()

    outcome = store.games.commit(game, commit, timeout=SOON)

    assert isinstance(outcome, Committed)
    assert store.games.read(game, timeout=SOON) == after(commit, outcome.expires_at)
    assert store.games.log(game, first=1, count=10, timeout=SOON) == [FIRST, commit.entry]


def test_a_commit_on_an_older_head_is_stale_and_returns_the_current_game(store: Store) -> None:
    game = new_game(store)
    won, lost = move(nonce="won"), move(nonce="lost")
    committed = store.games.commit(game, won, timeout=SOON)
    assert isinstance(committed, Committed)

    outcome = store.games.commit(game, lost, timeout=SOON)

    assert outcome == Stale(after(won, committed.expires_at))
    assert store.games.read(game, timeout=SOON) == after(won, committed.expires_at)
    assert store.games.log(game, first=2, count=10, timeout=SOON) == [won.entry]
    assert store.games.read_for_request(game, lost.request, timeout=SOON) == (after(won, committed.expires_at), False)


def test_a_head_with_another_nonce_is_stale(store: Store) -> None:
    game = new_game(store)

    assert isinstance(store.games.commit(game, move("1-other"), timeout=SOON), Stale)


def test_a_repeated_commit_changes_nothing_and_returns_its_version(store: Store) -> None:
    game = new_game(store)
    first, second = move(), move("2-second", nonce="third")
    store.games.commit(game, first, timeout=SOON)
    store.games.commit(game, second, timeout=SOON)

    repeated = store.games.commit(game, first, timeout=SOON)
    outcome = confirm(store, game, first)

    assert isinstance(repeated, Confirmed)
    assert isinstance(outcome, Confirmed)
    assert repeated.entry == outcome.entry
    assert repeated.record.head == outcome.record.head
    assert outcome.entry == first.entry
    assert outcome.record == after(second, outcome.record.expires_at)
    assert store.games.read(game, timeout=SOON) == outcome.record
    assert store.games.log(game, first=1, count=10, timeout=SOON) == [FIRST, first.entry, second.entry]


def test_a_repeated_request_is_recognized_before_its_head_is_compared(store: Store) -> None:
    game = new_game(store)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)

    retried = move("2-second", request=commit.request, payload=commit.payload)

    assert isinstance(store.games.commit(game, retried, timeout=SOON), Confirmed)


def test_a_request_id_with_another_move_is_rejected(store: Store) -> None:
    game = new_game(store)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)
    before = store.games.read(game, timeout=SOON)

    other = move("2-second", request=commit.request)
    assert store.games.commit(game, other, timeout=SOON) == Reused()
    assert confirm(store, game, other) == Reused()
    assert store.games.read(game, timeout=SOON) == before


def test_requests_of_different_games_are_independent(store: Store) -> None:
    one, other = new_game(store), new_game(store)
    commit = move()
    store.games.commit(one, commit, timeout=SOON)

    assert isinstance(store.games.commit(other, commit, timeout=SOON), Committed)


def test_a_commit_to_a_missing_game_creates_nothing(store: Store, raw: Redis) -> None:
    game = new_id()

    assert store.games.commit(game, move(), timeout=SOON) == Gone()
    assert confirm(store, game, move()) == Gone()
    assert not raw.keys(f"*{game}*")


def test_requests_and_payloads_may_be_any_bytes(store: Store) -> None:
    game = new_game(store)
    commit = move(request=bytes(range(256)), payload=b":\x00%d*\r\n:" + bytes(range(256)))

    assert isinstance(store.games.commit(game, commit, timeout=SOON), Committed)
    assert isinstance(store.games.commit(game, commit, timeout=SOON), Confirmed)
    assert store.games.commit(game, commit._replace(payload=commit.payload[:-1]), timeout=SOON) == Reused()
    assert store.games.read_for_request(game, commit.request, timeout=SOON) == (
        store.games.read(game, timeout=SOON),
        True,
    )
    confirmed = confirm(store, game, commit)
    assert isinstance(confirmed, Confirmed)
    assert confirmed.entry == commit.entry
    assert confirm(store, game, commit._replace(payload=commit.payload[:-1])) == Reused()
    assert confirm(store, game, move()) == Gone()


def test_a_version_that_is_already_in_the_log_is_rejected_without_a_change(store: Store, raw: Redis) -> None:
    game = new_game(store)
    before = store.games.read(game, timeout=SOON)
    raw.xadd(f"sodafountain:{{{game}}}:log", {"n": "x"}, id="2-1")
    commit = move()

    with pytest.raises(StoreError, match="equal or smaller"):
        store.games.commit(game, commit, timeout=SOON)
    assert store.games.read(game, timeout=SOON) == before
    assert store.games.read_for_request(game, commit.request, timeout=SOON) == (before, False)


def test_one_of_sixteen_concurrent_moves_wins_each_version(store: Store) -> None:
    game = new_game(store)
    players, versions = 16, 25
    start = threading.Barrier(players)

    def play(player: int) -> list[int]:
        won: list[int] = []
        start.wait()
        head = "1-first"
        while int(head.partition("-")[0]) <= versions:
            commit = move(head, nonce=f"n{player}")
            match store.games.commit(game, commit, timeout=SOON):
                case Committed():
                    won.append(commit.entry.version)
                    head = commit.new_head
                case Stale(record):
                    head = record.head
        return won

    with ThreadPoolExecutor(players) as pool:
        won = sorted(version for player in pool.map(play, range(players)) for version in player)

    assert won == list(range(2, versions + 2))
    log = store.games.log(game, first=1, count=1000, timeout=SOON)
    assert [entry.version for entry in log] == list(range(1, versions + 2))
    record = store.games.read(game, timeout=SOON)
    assert record is not None
    assert not isinstance(record, Unchanged)
    assert record.head == f"{log[-1].version}-{log[-1].nonce}"


def test_sixteen_concurrent_repeats_commit_once(store: Store) -> None:
    game = new_game(store)
    commit = move()
    start = threading.Barrier(16)

    def send(_: int) -> object:
        start.wait()
        return type(store.games.commit(game, commit, timeout=SOON))

    with ThreadPoolExecutor(16) as pool:
        outcomes = list(pool.map(send, range(16)))

    assert outcomes.count(Committed) == 1
    assert outcomes.count(Confirmed) == 15
    assert len(store.games.log(game, first=2, count=10, timeout=SOON)) == 1


def test_a_commit_notifies_the_channel_of_its_game(store: Store, raw: Redis) -> None:
    game = new_game(store)
    with cast("Any", raw).pubsub(ignore_subscribe_messages=True) as channel:
        channel.subscribe(f"sodafountain:{{{game}}}:hint")
        assert channel.get_message(timeout=SOON) is None  # subscribed

        store.games.commit(game, move(), timeout=SOON)
        store.games.commit(game, move(nonce="lost"), timeout=SOON)
        store.games.delete(game, tombstone_ttl_ms=1000, timeout=SOON)

        published = [channel.get_message(timeout=SOON) for _ in range(2)]
    assert [message["data"] for message in published if message] == [b"2-second", b""]


def test_a_second_creation_keeps_the_first_game(store: Store) -> None:
    game = new_id()
    first = create(store, game)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)
    moved = store.games.read(game, timeout=SOON)

    assert first is not None
    assert first.head == "1-first"
    assert create(store, game, head="1-again", meta=b"another", entry=FIRST._replace(nonce="again")) == moved
    assert store.games.read(game, timeout=SOON) == moved
    assert store.games.log(game, first=1, count=10, timeout=SOON) == [FIRST, commit.entry]


def test_a_request_reserves_the_id_of_its_first_call(store: Store) -> None:
    request, first, second = new_request(), new_id(), new_id()

    assert store.reservations.reserve(request, first, ttl_ms=60_000, timeout=SOON) == first
    assert store.reservations.reserve(request, second, ttl_ms=60_000, timeout=SOON) == first
    assert store.reservations.reserve(new_request(), second, ttl_ms=60_000, timeout=SOON) == second


def test_a_repeat_does_not_extend_a_reservation(store: Store, raw: Redis) -> None:
    request = new_request()
    store.reservations.reserve(request, new_id(), ttl_ms=60_000, timeout=SOON)

    store.reservations.reserve(request, new_id(), ttl_ms=600_000, timeout=SOON)

    assert raw.pttl(reservation_key(request)) <= 60_000


def test_only_the_creator_of_its_game_extends_a_provisional_reservation(store: Store, raw: Redis) -> None:
    request, game = new_request(), new_id()
    key = reservation_key(request)
    store.reservations.reserve(request, game, ttl_ms=30_000, timeout=SOON)

    assert store.reservations.reserve(request, new_id(), ttl_ms=600_000, provisional_ms=30_000, timeout=SOON) == game
    assert raw.pttl(key) <= 30_000
    assert store.reservations.reserve(request, game, ttl_ms=600_000, provisional_ms=30_000, timeout=SOON) == game
    assert 590_000 < raw.pttl(key) <= 600_000
    assert store.reservations.reserve(request, game, ttl_ms=HOUR, provisional_ms=30_000, timeout=SOON) == game
    assert raw.pttl(key) <= 600_000


def test_only_a_provisional_reservation_of_the_same_game_is_cancelled(store: Store, raw: Redis) -> None:
    request, game = new_request(), new_id()
    key = reservation_key(request)
    store.reservations.reserve(request, game, ttl_ms=30_000, timeout=SOON)

    store.reservations.cancel(request, new_id(), provisional_ms=30_000, timeout=SOON)
    assert raw.exists(key)
    store.reservations.cancel(request, game, provisional_ms=30_000, timeout=SOON)
    assert not raw.exists(key)

    store.reservations.reserve(request, game, ttl_ms=600_000, timeout=SOON)
    store.reservations.cancel(request, game, provisional_ms=30_000, timeout=SOON)
    assert raw.exists(key)


def test_a_tombstone_outlives_late_creations(store: Store, raw: Redis) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=5_000, timeout=SOON)

    assert create(store, game) is None

    assert raw.pttl(game_keys(game).game) > 5_000


def test_a_repeat_never_shortens_the_life_of_a_game(store: Store) -> None:
    game, commit = new_game(store), move()._replace(ttl_ms=600_000)
    committed = store.games.commit(game, commit, timeout=SOON)
    assert isinstance(committed, Committed)

    repeated = confirm(store, game, commit._replace(ttl_ms=1_000))

    assert isinstance(repeated, Confirmed)
    assert repeated.record.expires_at == committed.expires_at
