"""The state of a watched game."""

from types import SimpleNamespace
from typing import Any

from service.watching.watched_game import Outgoing, WatchedGame
from service.watching.watcher import Audience, Watcher


def test_a_game_whose_end_was_lost_by_the_store_continues_for_new_watchers() -> None:
    over: Any = SimpleNamespace(version=9, head="9-lost", finished=True)
    again: Any = SimpleNamespace(version=8, head="8-kept", finished=False)
    stream: Any = None
    messages: Any = None
    watcher = Watcher(Audience(None, legal_moves=False), stream)
    game = WatchedGame(over, messages)

    game.advance(again, None)
    assert game.add(watcher, again, b"first")

    assert game.next_message(watcher) == Outgoing(b"first")
    assert game.next_message(watcher) is None


def test_a_watcher_with_older_state_than_the_game_cannot_join() -> None:
    """It would receive its first message twice, or miss the changes in between."""
    older: Any = SimpleNamespace(version=3, head="3-older", finished=False)
    newer: Any = SimpleNamespace(version=4, head="4-newer", finished=False)
    stream: Any = None
    messages: Any = None
    watcher = Watcher(Audience(None, legal_moves=False), stream)
    game = WatchedGame(newer, messages)

    assert not game.add(watcher, older, b"first")
    assert watcher not in game.watchers
    assert game.add(watcher, newer, b"first")
