"""Reading the log of a game, together with the game."""

from typing import Any

import pytest

from service.store import Deleted, Followed, Log, LogEntry, Store, StoreError, connect
from service.store.keys import game_keys
from tests.service.store.games import FIRST, HOUR, SOON, log_of, make, make_moves, move, new_game, new_id, stored
from tests.support.store_servers import Server


def test_the_log_is_read_in_parts_from_a_version(store: Store) -> None:
    game = new_game(store)
    make_moves(store, game, 12)

    assert [version for version, _ in log_of(store, game, first=9, count=3)] == [9, 10, 11]
    assert [version for version, _ in log_of(store, game, first=12, count=100)] == [12, 13]
    assert log_of(store, game, first=14, count=100) == []
    assert log_of(store, game, first=9, count=0) == []


def test_an_unchanged_game_is_returned_without_entries(store: Store) -> None:
    game = new_game(store)

    assert store.games.read_log(game, first=2, timeout=SOON) == Followed(stored(store, game), [])


def test_changes_since_a_version_are_returned_in_order_with_their_times(store: Store) -> None:
    game = new_game(store)
    made = [(commit, make(store, game, commit)) for commit in (move(), move("2-second", nonce="third"))]

    found = store.games.read_log(game, first=2, timeout=SOON)

    entries: Log = [
        LogEntry(number, now.updated_at, commit.entry) for number, (commit, now) in enumerate(made, start=2)
    ]
    assert found == Followed(made[-1][1], entries)


def test_versions_that_do_not_exist_yet_are_no_entries(store: Store) -> None:
    game = new_game(store)

    assert log_of(store, game, first=8) == []
    assert log_of(store, game, first=2**31 - 1) == []


def test_a_deleted_game_and_a_missing_game_are_different(store: Store) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=HOUR, timeout=SOON)

    assert store.games.read_log(game, first=1, timeout=SOON) == Deleted()
    assert store.games.read_log(new_id(), first=1, timeout=SOON) is None


def test_a_log_is_read_from_a_full_server(own: Store, valkey: Server) -> None:
    game = new_game(own, ttl_ms=HOUR)
    before = stored(own, game)
    with valkey.client() as client:
        client.config_set("maxmemory", 1)

    found = own.games.read_log(game, first=1, timeout=SOON)

    assert isinstance(found, Followed)
    assert found.record == before
    assert [entry.value for entry in found.log] == [FIRST]


def test_a_game_in_an_unknown_layout_has_no_log(store: Store, raw: Any) -> None:
    game = new_game(store)
    raw.lset(game_keys(game).game, 0, "2 in another way")

    with pytest.raises(StoreError, match="layout 2"):
        store.games.read_log(game, first=1, timeout=SOON)


def test_after_a_restart_of_the_server_the_script_is_loaded_again(tmp_path: Any) -> None:
    with Server(tmp_path / "valkey", "--appendfsync", "always") as server:
        store = connect(server.url)
        game = new_game(store)
        server.kill()
        server.start()

        assert log_of(store, game) == [(1, FIRST)]
        store.close()
