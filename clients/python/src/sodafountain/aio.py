"""The asyncio client: identical to `sodafountain`, but calls are awaited.

    import sodafountain.aio

    async with sodafountain.aio.connect("localhost:50051") as client:
        game = await client.new_game(SodaJerkOptions(), seats=3)
        moves = (await game.seats[0].legal_moves()).moves

The errors are those of `sodafountain`. Cancelling the task of a call cancels the RPC.
"""

from sodafountain._aio_client import Client, Game, Host, Seat, Spectator, connect
from sodafountain._aio_watch import Watch

__all__ = ["Client", "Game", "Host", "Seat", "Spectator", "Watch", "connect"]
