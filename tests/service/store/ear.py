"""Who listens for hints."""

import queue

from service.store import Notifications, Store
from tests.service.store.games import SOON


class Ear:
    """Hears hints and remembers them."""

    def __init__(self, store: Store) -> None:
        self._heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.hints: Notifications = store.games.notifications(self._heard.put)

    def next(self) -> str:
        """Waits for the next hint."""
        return self._heard.get(timeout=SOON)

    def follow(self, game: str) -> None:
        """Follows a game, and waits until that is heard to have begun."""
        self.hints.subscribe(game)
        assert self.next() == game

    @property
    def quiet(self) -> bool:
        """Whether everything heard was asked for."""
        return self._heard.empty()
