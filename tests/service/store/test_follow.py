"""Following a game: its changes since a head, and the extension of its life."""

from typing import Any

import pytest

from service.store import Deleted, Followed, Store, StoreError, connect
from tests.service.store.games import FIRST, HOUR, SOON, after, move, new_game, new_id
from tests.support.store_servers import Server


def follow(store: Store, game: str, head: str, **fields: Any) -> Followed:
    """Follow a game that exists."""
    found = store.games.follow(game, head=head, timeout=SOON, **fields)
    assert isinstance(found, Followed)
    return found


def test_an_unchanged_game_is_returned_with_its_last_commit(store: Store) -> None:
    game = new_game(store)

    found = follow(store, game, "1-first")

    assert found.record == store.games.read(game, timeout=SOON)
    assert found.entries == [FIRST]


def test_changes_since_a_head_are_returned_in_order(store: Store) -> None:
    game = new_game(store)
    commits = [move(), move("2-second", nonce="third"), move("3-third", nonce="fourth")]
    for commit in commits:
        committed: Any = store.games.commit(game, commit, timeout=SOON)

    found = follow(store, game, "2-second")

    assert found.record == after(commits[-1], committed.expires_at)
    assert found.entries == [commit.entry for commit in commits]


def test_an_unknown_head_is_not_among_the_commits(store: Store) -> None:
    game = new_game(store)
    store.games.commit(game, move(), timeout=SOON)

    assert follow(store, game, "7-lost").entries == []
    assert [entry.nonce for entry in follow(store, game, "2-lost").entries] == ["second"]


def test_a_deleted_game_and_a_missing_game_are_different(store: Store) -> None:
    game = new_game(store)
    store.games.delete(game, tombstone_ttl_ms=HOUR, timeout=SOON)

    assert store.games.follow(game, head="1-first", timeout=SOON) == Deleted()
    assert store.games.follow(new_id(), head="1-first", timeout=SOON) is None


def test_every_key_of_a_game_is_extended_on_request(store: Store, raw: Any) -> None:
    game = new_game(store, ttl_ms=HOUR)
    store.games.commit(game, move(), timeout=SOON)

    found = follow(store, game, "2-second", extend_ms=2 * HOUR)

    keys = raw.keys(f"*{{{game}}}*")
    assert len(keys) == 3
    assert {raw.pexpiretime(key) for key in keys} == {found.record.expires_at}
    assert found.record == store.games.read(game, timeout=SOON)
    assert found.record.expires_at - raw.time()[0] * 1000 > 1.9 * HOUR


@pytest.mark.parametrize(
    ("head", "extend_ms"), [("1-first", None), ("1-first", HOUR // 2), ("1-other", 2 * HOUR)],
    ids=["not requested", "a shorter life", "another head"],
)  # fmt: skip
def test_without_an_extension_the_expiry_does_not_change(store: Store, head: str, extend_ms: int | None) -> None:
    game = new_game(store, ttl_ms=HOUR)
    before = store.games.read(game, timeout=SOON)

    follow(store, game, head, extend_ms=extend_ms)

    assert store.games.read(game, timeout=SOON) == before


def test_on_a_full_server_a_game_is_followed_without_an_extension(own: Store, valkey: Server) -> None:
    game = new_game(own, ttl_ms=HOUR)
    before = own.games.read(game, timeout=SOON)
    with valkey.client() as client:
        client.config_set("maxmemory", 1)

    assert follow(own, game, "1-first", extend_ms=2 * HOUR).record == before
    assert own.games.read(game, timeout=SOON) == before


def test_a_game_in_an_unknown_format_is_an_error(store: Store, raw: Any) -> None:
    game = new_game(store)
    raw.hset(f"sodafountain:{{{game}}}:game", "v", "2")

    with pytest.raises(StoreError, match="format 2"):
        store.games.follow(game, head="1-first", timeout=SOON)


def test_after_a_restart_of_the_server_the_script_is_loaded_again(tmp_path: Any) -> None:
    with Server(tmp_path / "valkey", "--appendfsync", "always") as server:
        store = connect(server.url)
        game = new_game(store)
        server.kill()
        server.start()

        assert follow(store, game, "1-first").entries == [FIRST]
        store.close()
