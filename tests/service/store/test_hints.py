"""Notifications: subscribers are notified of changes, and whenever one may have been missed, on one connection."""

import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.store import Store, notifications
from tests.service.store.ear import Ear
from tests.service.store.games import HOUR, SOON, move, new_game, new_id
from tests.service.store.servers import Server, eventually


@pytest.fixture
def ear(store: Store) -> Iterator[Ear]:
    """An ear at the shared store."""
    ear = Ear(store)
    yield ear
    ear.hints.close()


@pytest.fixture
def own_ear(own: Store) -> Iterator[Ear]:
    """An ear at the test's own store."""
    ear = Ear(own)
    yield ear
    ear.hints.close()


def test_a_game_counts_as_changed_when_it_begins_to_be_followed(ear: Ear) -> None:
    ear.follow(new_id())


def test_commits_and_deletions_of_followed_games_are_heard(store: Store, ear: Ear) -> None:
    followed, other = new_game(store), new_game(store)
    ear.follow(followed)

    store.games.commit(other, move(), timeout=SOON)
    store.games.commit(followed, move(), timeout=SOON)
    assert ear.next() == followed
    store.games.delete(other, tombstone_ttl_ms=HOUR, timeout=SOON)
    store.games.delete(followed, tombstone_ttl_ms=HOUR, timeout=SOON)
    assert ear.next() == followed
    assert ear.quiet


def test_what_changes_nothing_is_not_heard(store: Store, ear: Ear) -> None:
    game = new_game(store)
    ear.follow(game)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)
    assert ear.next() == game

    store.games.commit(game, commit, timeout=SOON)
    store.games.commit(game, move("1-stale"), timeout=SOON)
    store.games.follow(game, head=commit.new_head, extend_ms=2 * HOUR, timeout=SOON)

    ear.follow(new_id())  # hints come in order: any of the game's would have come before
    assert ear.quiet


def test_a_forgotten_game_is_not_heard_of(store: Store, ear: Ear, raw: Any) -> None:
    game = new_game(store)
    ear.follow(game)

    ear.hints.unsubscribe(game)

    eventually(lambda: raw.execute_command("PUBSUB", "NUMSUB", f"sodafountain:{{{game}}}:hint")[1] == 0)
    store.games.commit(game, move(), timeout=SOON)
    ear.follow(new_id())
    assert ear.quiet


def test_a_thousand_games_take_one_connection(own_ear: Ear, valkey: Server) -> None:
    games = {new_id() for _ in range(1200)}
    for game in games:
        own_ear.hints.subscribe(game)

    assert {own_ear.next() for _ in range(1200)} == games
    with valkey.client() as client:
        assert len(client.client_list(_type="pubsub")) == 1
        for game in games:
            own_ear.hints.unsubscribe(game)
        eventually(lambda: not client.client_list(_type="pubsub"))


@pytest.mark.parametrize("how", ["cut", "restarted"])
def test_after_the_connection_was_lost_every_followed_game_counts_as_changed(
    own: Store, own_ear: Ear, valkey: Server, how: str
) -> None:
    games = {new_id() for _ in range(5)}
    for game in games:
        own_ear.follow(game)

    if how == "cut":
        with valkey.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    else:
        valkey.kill()
        valkey.start()

    assert {own_ear.next() for _ in range(5)} == games
    game = new_game(own)
    own_ear.follow(game)
    own.games.commit(game, move(), timeout=SOON)
    assert own_ear.next() == game


def test_a_server_that_falls_silent_is_given_up(own: Store, valkey: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifications, "_IDLE_SECONDS", 0.1)
    monkeypatch.setattr(notifications, "_REPLY_SECONDS", 0.2)
    ear = Ear(own)
    game = new_game(own)
    ear.follow(game)

    with valkey.frozen():
        eventually(lambda: not ear.hints.connected)

    assert ear.next() == game
    ear.hints.close()


def test_a_connection_of_a_high_number_is_listened_to(own: Store, valkey: Server) -> None:
    """A process with many callers has many sockets, and gets another for the store when that comes back."""
    ear = Ear(own)
    game = new_game(own)
    ear.follow(game)
    valkey.kill()
    eventually(lambda: not ear.hints.connected)
    taken = [os.dup(0) for _ in range(1100)]
    try:
        valkey.start()
        assert ear.next() == game
        own.games.commit(game, move(), timeout=SOON)
        assert ear.next() == game
    finally:
        ear.hints.close()
        for number in taken:
            os.close(number)


def test_whoever_fails_to_hear_is_told_again(own: Store) -> None:
    heard: queue.SimpleQueue[str] = queue.SimpleQueue()
    failing = [True]

    def hear(game: str) -> None:
        if failing and failing.pop():
            raise ValueError("a defect")
        heard.put(game)

    ear = own.games.notifications(hear)
    game = new_game(own)
    with capture_logs() as lines:
        ear.subscribe(game)
        assert heard.get(timeout=SOON) == game
    ear.close()

    assert ("notifications_failed", "ValueError") in {(line["event"], line.get("error")) for line in lines}


def test_closing_ends_the_thread_even_while_the_server_is_away(own: Store, valkey: Server) -> None:
    ear = Ear(own)
    valkey.kill()

    ear.hints.close()

    assert not any(thread.name == "notifications" for thread in threading.enumerate())
