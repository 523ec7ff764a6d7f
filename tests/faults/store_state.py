"""Read the store directly."""

from service.store.keys import game_keys
from tests.support.store_servers import Server


def stored_version(store: Server, game_id: str) -> int:
    """Return the version of a game."""
    with store.client() as raw:
        head: bytes = raw.hget(game_keys(game_id).game, "head")
    return int(head.partition(b"-")[0])
