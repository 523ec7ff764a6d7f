"""A subscriber to notifications."""

import queue

from service.store import Notifications, Store
from tests.service.store.games import SOON


class Subscriber:
    """Receives notifications and records them."""

    def __init__(self, store: Store) -> None:
        self._received: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.notifications: Notifications = store.games.notifications(self._received.put)

    def next(self) -> str:
        """Wait for the next notification."""
        return self._received.get(timeout=SOON)

    def subscribe(self, game: str) -> None:
        """Subscribe to a game, and wait until the subscription is active."""
        self.notifications.subscribe(game)
        assert self.next() == game

    @property
    def quiet(self) -> bool:
        """Whether all notifications have been read."""
        return self._received.empty()
