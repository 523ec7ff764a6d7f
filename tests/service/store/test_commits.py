"""A commit is atomic and reports its outcome."""

import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import pytest
from redis import Redis

from service.store import Committed, Confirmed, Gone, LogEntry, Stale, Store
from service.store.keys import game_keys, reservation_key
from tests.service.store.games import (
    FIRST,
    HOUR,
    SOON,
    after,
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


def test_a_commit_on_the_head_changes_the_game_and_its_log(store: Store) -> None:
    game = new_game(store)
    before, commit = stored(store, game), move()

    outcome = store.games.commit(game, commit, timeout=SOON)

    assert isinstance(outcome, Committed)
    assert stored(store, game) == after(commit, outcome, before)
    assert log_of(store, game) == [(1, FIRST), (2, commit.entry)]


def test_a_commit_on_an_older_head_is_stale_and_returns_the_current_game(store: Store) -> None:
    game = new_game(store)
    won, lost = move(nonce="won"), move(nonce="lost")
    now = make(store, game, won)

    outcome = store.games.commit(game, lost, timeout=SOON)

    assert outcome == Stale(now)
    assert stored(store, game) == now
    assert log_of(store, game, first=2) == [(2, won.entry)]
    assert store.games.read_for_request(game, lost.request, timeout=SOON) == (now, False)


def test_a_head_with_another_nonce_is_stale(store: Store) -> None:
    game = new_game(store)

    assert isinstance(store.games.commit(game, move("1-other"), timeout=SOON), Stale)


def test_a_repeated_commit_changes_nothing_and_returns_its_version(store: Store) -> None:
    game = new_game(store)
    first, second = move(), move("2-second", nonce="third")
    make(store, game, first)
    now = make(store, game, second)

    repeated = store.games.commit(game, first, timeout=SOON)

    assert isinstance(repeated, Confirmed)
    assert (repeated.version, repeated.record) == (2, now)
    [entry] = repeated.log
    assert isinstance(entry, LogEntry)
    assert (entry.version, entry.value) == (2, first.entry)
    assert confirm(store, game, first) == repeated
    assert stored(store, game) == now
    assert log_of(store, game) == [(1, FIRST), (2, first.entry), (3, second.entry)]


def test_a_repeated_request_is_recognized_before_its_head_is_compared(store: Store) -> None:
    game = new_game(store)
    commit = move()
    make(store, game, commit)

    retried = move("2-second", request=commit.request)

    assert isinstance(store.games.commit(game, retried, timeout=SOON), Confirmed)


def test_the_request_of_every_version_is_recognized(store: Store) -> None:
    game = new_game(store)
    commits = make_moves(store, game, 20)

    for version, commit in enumerate(commits, start=2):
        confirmed = confirm(store, game, commit)
        assert isinstance(confirmed, Confirmed)
        assert (confirmed.version, confirmed.log[0].value) == (version, commit.entry)
        found = store.games.read_for_request(game, commit.request, timeout=SOON)
        assert found == (stored(store, game), True)


def test_requests_of_different_games_are_independent(store: Store) -> None:
    one, other = new_game(store), new_game(store)
    commit = move()
    make(store, one, commit)

    assert isinstance(store.games.commit(other, commit, timeout=SOON), Committed)


def test_the_end_and_the_beginning_of_two_requests_are_not_a_request(store: Store) -> None:
    game = new_game(store)
    first, second = make_moves(store, game, 2)
    between = first.request[4:] + second.request[:4]

    assert store.games.confirm(game, between, timeout=SOON) == Gone()
    assert store.games.read_for_request(game, between, timeout=SOON) == (stored(store, game), False)
    assert isinstance(store.games.commit(game, move("3-n", request=between), timeout=SOON), Committed)


def test_a_commit_to_a_missing_game_creates_nothing(store: Store, raw: Redis) -> None:
    game = new_id()

    assert store.games.commit(game, move(), timeout=SOON) == Gone()
    assert confirm(store, game, move()) == Gone()
    assert not raw.keys(f"*{game}*")


@pytest.mark.parametrize("request_hash", [bytes(8), b"\xff" * 8, b"%d%s%1%%", b"\r\n*1\r\n$1", b"[a-z]+.*"])
def test_the_hash_of_a_request_may_be_any_bytes(store: Store, request_hash: bytes) -> None:
    game = new_game(store)
    make_moves(store, game, 2)
    commit = move("3-n", request=request_hash)

    assert isinstance(store.games.commit(game, commit, timeout=SOON), Committed)
    assert isinstance(store.games.commit(game, commit, timeout=SOON), Confirmed)
    assert store.games.read_for_request(game, request_hash, timeout=SOON) == (stored(store, game), True)
    assert confirm(store, game, move()) == Gone()


def test_one_of_sixteen_concurrent_moves_wins_each_version(store: Store) -> None:
    game = new_game(store)
    players, versions = 16, 25
    start = threading.Barrier(players)

    def play(player: int) -> list[tuple[int, bytes]]:
        won: list[tuple[int, bytes]] = []
        start.wait()
        head = "1-first"
        while (version := int(head.partition("-")[0])) <= versions:
            commit = move(head, nonce=f"n{player}", entry=b"%d by %d" % (version + 1, player))
            match store.games.commit(game, commit, timeout=SOON):
                case Committed():
                    won.append((version + 1, commit.entry))
                    head = commit.new_head
                case Stale(record):
                    head = record.head
        return won

    with ThreadPoolExecutor(players) as pool:
        won = sorted(commit for player in pool.map(play, range(players)) for commit in player)

    assert [version for version, _ in won] == list(range(2, versions + 2))
    assert log_of(store, game) == [(1, FIRST), *won]
    winner = won[-1][1].decode().rpartition(" ")[2]
    assert stored(store, game).head == f"{versions + 1}-n{winner}"


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
    assert len(log_of(store, game, first=2)) == 1


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
    moved = make(store, game, commit)

    assert first is not None
    assert first.head == "1-first"
    again = store.games.create(
        game,
        head="1-again",
        meta=b"another",
        state=b"another",
        entry=b"again",
        ttl_ms=HOUR,
        tombstone_ttl_ms=HOUR,
        timeout=SOON,
    )
    assert again == (moved, False)
    assert stored(store, game) == moved
    assert log_of(store, game) == [(1, FIRST), (2, commit.entry)]


def test_one_of_sixteen_concurrent_creations_creates_the_game(store: Store) -> None:
    game = new_id()
    start = threading.Barrier(16)

    def send(number: int) -> Any:
        start.wait()
        fields: dict[str, Any] = {"head": f"1-n{number}", "meta": b"%d" % number, "state": b"", "entry": b""}
        return store.games.create(game, ttl_ms=HOUR, tombstone_ttl_ms=HOUR, timeout=SOON, **fields)

    with ThreadPoolExecutor(16) as pool:
        found = list(pool.map(send, range(16)))

    assert sum(created for _, created in found) == 1
    assert {record for record, _ in found} == {stored(store, game)}


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


def test_a_repeat_never_changes_the_life_of_a_game(store: Store, raw: Redis) -> None:
    game, commit = new_game(store), move(ttl_ms=600_000)
    now = make(store, game, commit)

    for ttl_ms in (1_000, 9 * HOUR):
        repeated = store.games.commit(game, commit._replace(ttl_ms=ttl_ms), timeout=SOON)
        assert isinstance(repeated, Confirmed)
        assert repeated.record == now
    assert confirm(store, game, commit) == repeated
    assert raw.pexpiretime(game_keys(game).game) == now.expires_at
