"""Who is_listening for hints."""

import queue

from service.store import Hints, Store
from tests.service.store.games import SOON


class Subscriber:
    """Hears hints and remembers them."""

    def __init__(self, store: Store) -> None:
        self._heard: queue.SimpleQueue[str] = queue.SimpleQueue()
        self.hints: Hints = store.hints(self._heard.put)

    def next(self) -> str:
        """Waits for the next hint."""
        return self._heard.get(timeout=SOON)

    def follow(self, game: str) -> None:
        """Follows a game, and waits until that is received to have begun."""
        self.hints.follow(game)
        assert self.next() == game

    @property
    def quiet(self) -> bool:
        """Whether everything received was asked for."""
        return self._heard.empty()
