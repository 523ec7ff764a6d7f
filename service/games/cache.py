"""A bounded cache of decoded games, and a lock per game. Both only save work: the store decides about commits."""

import threading
from collections import OrderedDict
from typing import Final

from service.games.game import StoredGame

_STRIPES: Final = 256


class GameCache:
    """The most recently used games, by id. Thread-safe."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._games: OrderedDict[str, StoredGame] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, game_id: str) -> StoredGame | None:
        """Return a cached game, which may be older than the store's; None if it is not cached."""
        with self._lock:
            game = self._games.get(game_id)
            if game is not None:
                self._games.move_to_end(game_id)
            return game

    def put(self, game: StoredGame) -> None:
        """Store a game."""
        with self._lock:
            self._games[game.game_id] = game
            self._games.move_to_end(game.game_id)
            if len(self._games) > self._size:
                self._games.popitem(last=False)

    def remove(self, game_id: str) -> None:
        """Remove a game."""
        with self._lock:
            self._games.pop(game_id, None)


class GameLocks:
    """A lock per game, so that concurrent moves of a game in one process queue instead of racing at the store.

    Striped: a fixed number of locks is shared by all games, so that locks are neither created nor collected.
    """

    def __init__(self) -> None:
        self._locks = tuple(threading.Lock() for _ in range(_STRIPES))

    def of(self, game_id: str) -> threading.Lock:
        """Return the lock of a game."""
        return self._locks[hash(game_id) % _STRIPES]
