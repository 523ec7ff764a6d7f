"""Read the store directly."""

from service.store.keys import game_keys
from service.store.records import fields
from tests.support.store_servers import Server


def stored_version(store: Server, game_id: str) -> int:
    """Return the version of a game."""
    with store.client() as raw:
        [head, *_] = fields(raw.lindex(game_keys(game_id).game, 0))
    return int(head.partition("-")[0])
