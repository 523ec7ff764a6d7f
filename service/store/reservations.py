"""The store of reservations: the game ids that NewGame requests have reserved."""

from service.store import scripts
from service.store.client import Client
from service.store.durability import Durability, deadline_after
from service.store.instrumentation import Observer, operation
from service.store.keys import reservation_key


class ReservationStore:
    """Reservations of game ids by request. Thread-safe. Methods raise like those of `GameStore`."""

    def __init__(self, client: Client, durability: Durability, observer: Observer | None) -> None:
        self._client = client
        self._durability = durability
        self._observer = observer

    @operation
    def reserve(self, request: bytes, game_id: str, *, ttl_ms: int, provisional_ms: int = 0, timeout: float) -> str:
        """Reserve a game id for a NewGame request. Return the reserved id: that of the first caller.

        A repeat does not extend the reservation, so that it cannot outlive its game. The exception is a provisional
        reservation of `game_id`, that is, one that ends within `provisional_ms`.
        """
        holder, *confirmed = self._client.run_script(
            scripts.RESERVE,
            (reservation_key(request),),
            (game_id, ttl_ms, provisional_ms),
            then=self._durability.commands(timeout),
            writes=True,
            deadline=deadline_after(timeout),
        )
        self._durability.check(confirmed)
        return str(holder, "ascii")

    @operation
    def cancel(self, request: bytes, game_id: str, *, provisional_ms: int, timeout: float) -> None:
        """Cancel a reservation if it holds this id and ends within `provisional_ms`."""
        self._client.run_script(
            scripts.CANCEL,
            (reservation_key(request),),
            (game_id, provisional_ms),
            writes=True,
            deadline=deadline_after(timeout),
        )
