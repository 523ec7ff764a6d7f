"""A subscriber to notifications."""

import queue

from service.store import Hints, Store
from tests.service.store.games import SOON


class Subscriber:
    """Receives notifications and records them."""

    def __init__(self, store: Store) -> None:
        self._notifications: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.hints: Hints = store.hints(self._notifications.put)

    def next(self) -> str:
        """Wait for the next notification."""
        return self._notifications.get(timeout=SOON)

    def follow(self, game: str) -> None:
        """Follow a game, and wait until it is followed."""
        self.hints.follow(game)
        assert self.next() == game

    @property
    def quiet(self) -> bool:
        """Whether all notifications have been read."""
        return self._notifications.empty()
