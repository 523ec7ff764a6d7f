"""A look at the store behind the services' backs."""

from service.store.layout import keys_of
from tests.service.store.servers import Server


def version_in_the_store(store: Server, game_id: str) -> int:
    """Reads a game's version."""
    with store.client() as raw:
        head: bytes = raw.hget(keys_of(game_id).game, "head")
    return int(head.partition(b"-")[0])
