"""Reservations: all repeats of a NewGame request get the same game id."""

import base64
import secrets
from contextlib import suppress
from typing import Final

from service.games.deadline import Deadline
from service.games.errors import GameError, QuotaExceeded
from service.games.quotas import Quotas
from service.store import ReservationStore, StoreError

_CANCEL_SECONDS: Final = 0.25
"""How long a rejected call waits for its reservation to be cancelled; it expires in any case."""


class Reservations:
    """Generates game ids, reserves them for requests, and counts the games toward quotas. Thread-safe.

    Args:
        store: the reservations in the store.
        quotas: the quotas.
        provisional_ms: how long a reservation is provisional; must be longer than any call takes.
    """

    def __init__(self, store: ReservationStore, quotas: Quotas, *, provisional_ms: int) -> None:
        self._store = store
        self._quotas = quotas
        self._provisional_ms = provisional_ms

    def reserve(self, owner: str, request: bytes | None, ttl_ms: int, deadline: Deadline) -> str:
        """Return the id for a new game, or the id that the same request reserved before, and count the game.

        With quotas, a reservation is provisional until its game is counted, so that rejected requests do not fill the
        store. No game is created before its reservation is permanent, so a provisional one may be cancelled even if a
        concurrent repeat has read it.

        Args:
            owner: the name of the API key that creates the game.
            request: a hash of the request id; None if the request has no id.
            ttl_ms: how long the request reserves its id.
            deadline: the call's deadline.

        Raises:
            QuotaExceeded: the game would exceed a quota.
        """
        generated = new_game_id()
        try:
            return self._reserve(owner, request, generated, ttl_ms, deadline)
        except (GameError, StoreError) as error:
            error.game_id = error.game_id or generated
            raise

    def _reserve(self, owner: str, request: bytes | None, generated: str, ttl_ms: int, deadline: Deadline) -> str:
        if not self._quotas.limited:
            if request is None:
                return generated
            return self._store.reserve(request, generated, ttl_ms=ttl_ms, timeout=deadline.timeout)
        if request is None:
            self._quotas.claim(owner, generated, deadline, repeated=False)
            return generated
        # A reservation shorter than a provisional one need not be provisional first.
        provisional_ms = self._provisional_ms if ttl_ms > self._provisional_ms else 0
        reserved = self._store.reserve(request, generated, ttl_ms=provisional_ms or ttl_ms, timeout=deadline.timeout)
        while True:
            game_id = reserved
            try:
                counted = self._quotas.claim(owner, game_id, deadline, repeated=game_id != generated)
            except QuotaExceeded as error:
                error.game_id = game_id
                if provisional_ms:
                    self._cancel(request, game_id, provisional_ms, deadline)
                raise
            if not counted or not provisional_ms:
                return game_id
            reserved = self._store.reserve(
                request, game_id, ttl_ms=ttl_ms, provisional_ms=provisional_ms, timeout=deadline.timeout
            )
            if reserved == game_id:
                return game_id
            self._quotas.release(owner, game_id, deadline)

    def _cancel(self, request: bytes, game_id: str, provisional_ms: int, deadline: Deadline) -> None:
        with suppress(StoreError):  # it expires in any case
            timeout = min(deadline.timeout, _CANCEL_SECONDS)
            self._store.cancel(request, game_id, provisional_ms=provisional_ms, timeout=timeout)


def new_game_id() -> str:
    """Generate a game id: 128 random bits as 26 lower-case letters and digits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
