"""Hints: who follows a game hears when it changes, on one connection, and whenever something may have been missed."""

import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.store import Store, hints
from tests.service.store.games import HOUR, SOON, move, new_game, new_id
from tests.service.store.subscriber import Subscriber
from tests.support.store_servers import Server, eventually


@pytest.fixture
def subscriber(store: Store) -> Iterator[Subscriber]:
    """An subscriber at the shared store."""
    subscriber = Subscriber(store)
    yield subscriber
    subscriber.hints.close()


@pytest.fixture
def own_subscriber(own: Store) -> Iterator[Subscriber]:
    """An subscriber at the test's own store."""
    subscriber = Subscriber(own)
    yield subscriber
    subscriber.hints.close()


def test_a_game_counts_as_changed_when_it_begins_to_be_followed(subscriber: Subscriber) -> None:
    subscriber.follow(new_id())


def test_commits_and_deletions_of_followed_games_are_heard(store: Store, subscriber: Subscriber) -> None:
    followed, other = new_game(store), new_game(store)
    subscriber.follow(followed)

    store.commit(other, move(), timeout=SOON)
    store.commit(followed, move(), timeout=SOON)
    assert subscriber.next() == followed
    store.delete(other, tombstone_ttl_ms=HOUR, timeout=SOON)
    store.delete(followed, tombstone_ttl_ms=HOUR, timeout=SOON)
    assert subscriber.next() == followed
    assert subscriber.quiet


def test_what_changes_nothing_is_not_heard(store: Store, subscriber: Subscriber) -> None:
    game = new_game(store)
    subscriber.follow(game)
    commit = move()
    store.commit(game, commit, timeout=SOON)
    assert subscriber.next() == game

    store.commit(game, commit, timeout=SOON)
    store.commit(game, move("1-stale"), timeout=SOON)
    store.follow(game, head=commit.new_head, extend_ms=2 * HOUR, timeout=SOON)

    subscriber.follow(new_id())  # hints come in order: any of the game's would have come before
    assert subscriber.quiet


def test_a_forgotten_game_is_not_heard_of(store: Store, subscriber: Subscriber, raw: Any) -> None:
    game = new_game(store)
    subscriber.follow(game)

    subscriber.hints.forget(game)

    eventually(lambda: raw.execute_command("PUBSUB", "NUMSUB", f"sodafountain:{{{game}}}:hint")[1] == 0)
    store.commit(game, move(), timeout=SOON)
    subscriber.follow(new_id())
    assert subscriber.quiet


def test_a_thousand_games_take_one_connection(own_subscriber: Subscriber, valkey: Server) -> None:
    games = {new_id() for _ in range(1200)}
    for game in games:
        own_subscriber.hints.follow(game)

    assert {own_subscriber.next() for _ in range(1200)} == games
    with valkey.client() as client:
        assert len(client.client_list(_type="pubsub")) == 1
        for game in games:
            own_subscriber.hints.forget(game)
        eventually(lambda: not client.client_list(_type="pubsub"))


@pytest.mark.parametrize("how", ["cut", "restarted"])
def test_after_the_connection_was_lost_every_followed_game_counts_as_changed(
    own: Store, own_subscriber: Subscriber, valkey: Server, how: str
) -> None:
    games = {new_id() for _ in range(5)}
    for game in games:
        own_subscriber.follow(game)

    if how == "cut":
        with valkey.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    else:
        valkey.kill()
        valkey.start()

    assert {own_subscriber.next() for _ in range(5)} == games
    game = new_game(own)
    own_subscriber.follow(game)
    own.commit(game, move(), timeout=SOON)
    assert own_subscriber.next() == game


def test_a_server_that_falls_silent_is_given_up(own: Store, valkey: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hints, "_QUIET", 0.1)
    monkeypatch.setattr(hints, "_PATIENCE", 0.2)
    subscriber = Subscriber(own)
    game = new_game(own)
    subscriber.follow(game)

    with valkey.frozen():
        eventually(lambda: not subscriber.hints.connected)

    assert subscriber.next() == game
    subscriber.hints.close()


def test_a_connection_of_a_high_number_is_listened_to(own: Store, valkey: Server) -> None:
    """A process with many callers has many sockets, and gets another for the store when that comes back."""
    subscriber = Subscriber(own)
    game = new_game(own)
    subscriber.follow(game)
    valkey.kill()
    eventually(lambda: not subscriber.hints.connected)
    taken = [os.dup(0) for _ in range(1100)]
    try:
        valkey.start()
        assert subscriber.next() == game
        own.commit(game, move(), timeout=SOON)
        assert subscriber.next() == game
    finally:
        subscriber.hints.close()
        for number in taken:
            os.close(number)


def test_whoever_fails_to_hear_is_told_again(own: Store) -> None:
    received: queue.SimpleQueue[str] = queue.SimpleQueue()
    failing = [True]

    def call(game: str) -> None:
        if failing and failing.pop():
            raise ValueError("a defect")
        received.put(game)

    subscriber = own.hints(call)
    game = new_game(own)
    with capture_logs() as lines:
        subscriber.follow(game)
        assert received.get(timeout=SOON) == game
    subscriber.close()

    assert ("hints_failed", "ValueError") in {(line["event"], line.get("error")) for line in lines}


def test_closing_ends_the_thread_even_while_the_server_is_away(own: Store, valkey: Server) -> None:
    subscriber = Subscriber(own)
    valkey.kill()

    subscriber.hints.close()

    assert not any(thread.name == "hints" for thread in threading.enumerate())
