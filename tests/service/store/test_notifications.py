"""Notifications: one connection reports followed games that have changed or whose changes it may have missed."""

import os
import queue
import threading
from collections.abc import Iterator
from typing import Any

import pytest
from structlog.testing import capture_logs

from service.store import Store
from service.store import notifications as module
from tests.service.store.games import HOUR, SOON, confirm, create, move, new_game, new_id
from tests.service.store.subscriber import Subscriber
from tests.support.store_servers import Server, eventually


@pytest.fixture
def subscriber(store: Store) -> Iterator[Subscriber]:
    """A subscriber of the shared store."""
    subscriber = Subscriber(store)
    yield subscriber
    subscriber.notifications.close()


@pytest.fixture
def own_subscriber(own: Store) -> Iterator[Subscriber]:
    """A subscriber of the test's own store."""
    subscriber = Subscriber(own)
    yield subscriber
    subscriber.notifications.close()


def test_a_game_is_reported_when_it_is_followed(subscriber: Subscriber) -> None:
    subscriber.subscribe(new_id())


def test_commits_and_deletions_of_followed_games_are_reported(store: Store, subscriber: Subscriber) -> None:
    followed, other = new_game(store), new_game(store)
    subscriber.subscribe(followed)

    store.games.commit(other, move(), timeout=SOON)
    store.games.commit(followed, move(), timeout=SOON)
    assert subscriber.next() == followed
    store.games.delete(other, tombstone_ttl_ms=HOUR, timeout=SOON)
    store.games.delete(followed, tombstone_ttl_ms=HOUR, timeout=SOON)
    assert subscriber.next() == followed
    assert subscriber.quiet


def test_calls_that_change_nothing_are_not_reported(store: Store, subscriber: Subscriber) -> None:
    game = new_game(store)
    subscriber.subscribe(game)
    commit = move()
    store.games.commit(game, commit, timeout=SOON)
    assert subscriber.next() == game

    store.games.commit(game, commit, timeout=SOON)
    store.games.commit(game, move("1-stale"), timeout=SOON)
    store.games.read_log(game, first=1, timeout=SOON)
    confirm(store, game, commit)
    create(store, game)

    subscriber.subscribe(new_id())  # notifications are ordered: one of the game would be first
    assert subscriber.quiet


def test_a_forgotten_game_is_not_reported(store: Store, subscriber: Subscriber, raw: Any) -> None:
    game = new_game(store)
    subscriber.subscribe(game)

    subscriber.notifications.unsubscribe(game)

    eventually(lambda: raw.execute_command("PUBSUB", "NUMSUB", f"sodafountain:{{{game}}}:hint")[1] == 0)
    store.games.commit(game, move(), timeout=SOON)
    subscriber.subscribe(new_id())
    assert subscriber.quiet


def test_a_thousand_games_need_one_connection(own_subscriber: Subscriber, valkey: Server) -> None:
    games = {new_id() for _ in range(1200)}
    for game in games:
        own_subscriber.notifications.subscribe(game)

    assert {own_subscriber.next() for _ in range(1200)} == games
    with valkey.client() as client:
        assert len(client.client_list(_type="pubsub")) == 1
        for game in games:
            own_subscriber.notifications.unsubscribe(game)
        eventually(lambda: not client.client_list(_type="pubsub"))


@pytest.mark.parametrize("how", ["cut", "restarted"])
def test_after_a_lost_connection_every_followed_game_is_reported(
    own: Store, own_subscriber: Subscriber, valkey: Server, how: str
) -> None:
    games = {new_id() for _ in range(5)}
    for game in games:
        own_subscriber.subscribe(game)

    if how == "cut":
        with valkey.client() as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
    else:
        valkey.kill()
        valkey.start()

    assert {own_subscriber.next() for _ in range(5)} == games
    game = new_game(own)
    own_subscriber.subscribe(game)
    own.games.commit(game, move(), timeout=SOON)
    assert own_subscriber.next() == game


def test_a_server_that_stops_responding_is_disconnected(
    own: Store, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IDLE_SECONDS", 0.1)
    monkeypatch.setattr(module, "_REPLY_SECONDS", 0.2)
    subscriber = Subscriber(own)
    game = new_game(own)
    subscriber.subscribe(game)

    with valkey.frozen():
        eventually(lambda: not subscriber.notifications.connected)

    assert subscriber.next() == game
    subscriber.notifications.close()


def test_a_connection_with_a_high_file_descriptor_works(own: Store, valkey: Server) -> None:
    """A process with many callers has many sockets, and the reconnected socket has a high number."""
    subscriber = Subscriber(own)
    game = new_game(own)
    subscriber.subscribe(game)
    valkey.kill()
    eventually(lambda: not subscriber.notifications.connected)
    taken = [os.dup(0) for _ in range(1100)]
    try:
        valkey.start()
        assert subscriber.next() == game
        own.games.commit(game, move(), timeout=SOON)
        assert subscriber.next() == game
    finally:
        subscriber.notifications.close()
        for number in taken:
            os.close(number)


def test_a_failing_subscriber_is_notified_again(own: Store) -> None:
    received: queue.SimpleQueue[str] = queue.SimpleQueue()
    failing = [True]

    def call(game: str) -> None:
        if failing and failing.pop():
            raise ValueError("a defect")
        received.put(game)

    subscriber = own.games.notifications(call)
    game = new_game(own)
    with capture_logs() as lines:
        subscriber.subscribe(game)
        assert received.get(timeout=SOON) == game
    subscriber.close()

    assert ("notifications_failed", "ValueError") in {(line["event"], line.get("error")) for line in lines}


def test_closing_ends_the_thread_even_without_the_server(own: Store, valkey: Server) -> None:
    subscriber = Subscriber(own)
    valkey.kill()

    subscriber.notifications.close()

    assert not any(thread.name == "notifications" for thread in threading.enumerate())
