"""A commit may replace the log of a game with an archive. Nothing is lost by it."""

from typing import Any

import pytest
from redis import Redis

from service.store import (
    Archive,
    Commit,
    Committed,
    Confirmed,
    Everything,
    Fold,
    Followed,
    Gone,
    Liveness,
    Log,
    LogEntry,
    Stale,
    Store,
)
from service.store.keys import game_keys
from tests.service.store.games import (
    SOON,
    confirm,
    log_of,
    make,
    make_moves,
    move,
    new_game,
    new_id,
    stored,
)

ARCHIVE = b"all versions\x00\xff"


def fold(store: Store, game: str) -> Commit:
    """Return a commit that archives a game, with hashes of half the length."""
    everything = store.games.read_all(game, timeout=SOON)
    assert everything is not None
    commit = move(everything.record.head, nonce="end", entry=b"")
    requests = everything.requests + commit.request
    shortened = b"".join(requests[start : start + 4] for start in range(0, len(requests), 8))
    return commit._replace(fold=Fold(ARCHIVE, shortened))


def log_from(store: Store, game: str, first: int, **count: int) -> Log:
    found = store.games.read_log(game, first=first, timeout=SOON, **count)
    assert isinstance(found, Followed)
    return found.log


def test_an_archive_replaces_the_log_and_keeps_the_game(store: Store, raw: Any) -> None:
    game = new_game(store)
    make_moves(store, game, 5)
    before, last = stored(store, game), fold(store, game)

    committed = store.games.commit(game, last, timeout=SOON)

    assert isinstance(committed, Committed)
    assert stored(store, game) == before._replace(
        head="7-end",
        state=last.state,
        updated_at=committed.committed_at,
        expires_at=committed.expires_at,
        archived=7,
    )
    assert log_from(store, game, 1) == [Archive(7, committed.committed_at, ARCHIVE)]
    assert raw.llen(game_keys(game).game) == 5


def test_an_archive_may_be_the_second_commit_of_a_game(store: Store) -> None:
    game = new_game(store)
    last = fold(store, game)

    assert make(store, game, last).archived == 2
    assert log_of(store, game) == [(2, ARCHIVE)]
    assert isinstance(confirm(store, game, last), Confirmed)


@pytest.mark.parametrize("first", [1, 3, 6, 7])
def test_every_part_of_an_archived_log_is_the_whole_archive(store: Store, first: int) -> None:
    game = new_game(store)
    make_moves(store, game, 5)
    now = make(store, game, fold(store, game))

    assert log_from(store, game, first) == [Archive(7, now.updated_at, ARCHIVE)]
    assert log_from(store, game, first, count=1) == [Archive(7, now.updated_at, ARCHIVE)]
    assert log_from(store, game, 8) == []


def test_repeats_are_recognized_after_an_archive(store: Store) -> None:
    game = new_game(store)
    commits = [*make_moves(store, game, 5)]
    commits.append(last := fold(store, game))
    now = make(store, game, last)

    for version, commit in enumerate(commits, start=2):
        expected = Confirmed(now, version, [Archive(7, now.updated_at, ARCHIVE)])
        assert confirm(store, game, commit) == expected
        assert store.games.commit(game, commit, timeout=SOON) == expected
        assert store.games.read_for_request(game, commit.request, timeout=SOON) == (now, True)
    assert confirm(store, game, move()) == Gone()
    assert isinstance(store.games.commit(game, move("6-n"), timeout=SOON), Stale)
    assert stored(store, game) == now


def test_an_archive_on_an_older_head_changes_nothing(store: Store, raw: Any) -> None:
    game = new_game(store)
    make_moves(store, game, 3)
    late = fold(store, game)
    make_moves(store, game, 1)
    before = raw.lrange(game_keys(game).game, 0, -1)

    assert store.games.commit(game, late, timeout=SOON) == Stale(stored(store, game))
    assert raw.lrange(game_keys(game).game, 0, -1) == before


def test_versions_may_follow_an_archive(store: Store) -> None:
    game = new_game(store)
    make_moves(store, game, 2)
    end = make(store, game, fold(store, game))
    further = [move("4-end", nonce="n"), move("5-n", nonce="n")]
    for commit in further:
        now = make(store, game, commit)

    assert now.archived == 4
    archive = Archive(4, end.updated_at, ARCHIVE)
    assert log_from(store, game, 2)[0] == archive
    assert log_of(store, game, first=3) == [(4, ARCHIVE), (5, further[0].entry), (6, further[1].entry)]
    assert log_of(store, game, first=4, count=2) == [(4, ARCHIVE), (5, further[0].entry)]
    assert log_of(store, game, first=5) == [(5, further[0].entry), (6, further[1].entry)]
    confirmed = confirm(store, game, further[0])
    assert isinstance(confirmed, Confirmed)
    [entry] = confirmed.log
    assert isinstance(entry, LogEntry)
    assert (confirmed.version, entry.version, entry.value) == (5, 5, further[0].entry)


def test_everything_is_the_game_with_its_whole_log_and_requests(store: Store) -> None:
    game = new_game(store)
    commits = make_moves(store, game, 3)

    everything = store.games.read_all(game, timeout=SOON)

    requests = b"".join(commit.request for commit in commits)
    assert everything == Everything(stored(store, game), requests, log_from(store, game, 1))
    assert store.games.read_all(new_id(), timeout=SOON) is None


def test_a_game_is_live_until_it_is_archived(store: Store, raw: Redis) -> None:
    game = new_game(store)
    make_moves(store, game, 3)
    assert store.quotas.liveness(game, timeout=SOON) == Liveness(True, stored(store, game).expires_at)

    make(store, game, fold(store, game))

    assert store.quotas.liveness(game, timeout=SOON) == Liveness(False, stored(store, game).expires_at)
    assert raw.pexpiretime(game_keys(game).game) == stored(store, game).expires_at
    store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON)
    assert store.quotas.liveness(game, timeout=SOON) is None
