"""A bounded memory of decoded tables, and locks by game. Both only save work: the store alone decides."""

import threading
from collections import OrderedDict
from typing import Final

from service.games.game import Table

_STRIPES: Final = 256


class TableCache:
    """The tables used last, by game id."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._tables: OrderedDict[str, Table] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, game_id: str) -> Table | None:
        """Finds a table; it may be older than the store's."""
        with self._lock:
            table = self._tables.get(game_id)
            if table is not None:
                self._tables.move_to_end(game_id)
            return table

    def put(self, table: Table) -> None:
        """Remembers a table."""
        with self._lock:
            self._tables[table.game_id] = table
            self._tables.move_to_end(table.game_id)
            if len(self._tables) > self._size:
                self._tables.popitem(last=False)

    def drop(self, game_id: str) -> None:
        """Forgets a table."""
        with self._lock:
            self._tables.pop(game_id, None)


class GameLocks:
    """Locks by game, so that moves of one game in one process queue up instead of racing at the store.

    Striped: a fixed number of locks shared by all games, so that none has to be made or collected.
    """

    def __init__(self) -> None:
        self._locks = tuple(threading.Lock() for _ in range(_STRIPES))

    def of(self, game_id: str) -> threading.Lock:
        """Finds the game's lock."""
        return self._locks[hash(game_id) % _STRIPES]
