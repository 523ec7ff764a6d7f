"""What a watched game takes note of."""

from types import SimpleNamespace
from typing import Any

from service.watching.watched_game import Outgoing, WatchedGame
from service.watching.watcher import Audience, Watcher


def test_a_game_whose_end_the_store_has_lost_goes_on_for_those_who_come() -> None:
    over: Any = SimpleNamespace(version=9, head="9-lost", finished=True)
    again: Any = SimpleNamespace(version=8, head="8-kept", finished=False)
    stream: Any = None
    unused: Any = None
    comer = Watcher(Audience(None, legal_moves=False), stream)
    game = WatchedGame(over, unused)

    game.advance(again, None)
    assert game.add(comer, again, b"first")

    assert game.next_message(comer) == Outgoing(b"first")
    assert game.next_message(comer) is None


def test_nobody_is_let_in_with_older_news_than_the_game_has() -> None:
    """Such a watcher would be told again what its first message told, or miss what came in between."""
    older: Any = SimpleNamespace(version=3, head="3-older", finished=False)
    newer: Any = SimpleNamespace(version=4, head="4-newer", finished=False)
    stream: Any = None
    unused: Any = None
    comer = Watcher(Audience(None, legal_moves=False), stream)
    game = WatchedGame(newer, unused)

    assert not game.add(comer, older, b"first")
    assert comer not in game.watchers
    assert game.add(comer, newer, b"first")
