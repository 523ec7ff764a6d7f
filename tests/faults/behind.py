"""A look at the store behind the services' backs."""

from service.store.keys import game_keys
from tests.service.store.servers import Server


def version_in_the_store(store: Server, game_id: str) -> int:
    """Reads a game's version."""
    with store.client() as raw:
        head: bytes = raw.hget(game_keys(game_id).game, "head")
    return int(head.partition(b"-")[0])
