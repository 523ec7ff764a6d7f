"""The ids of new games: one for every NewGame request, however often it is made."""

import base64
import secrets
from contextlib import suppress
from typing import Final

from service.games.quotas import Quotas
from service.store import Store, StoreError
from service.transport.call import LONGEST, Call
from service.transport.errors import Refusal

_BRIEF_MS: Final = int(LONGEST * 1000) + 1000
"""How long a request holds its id before its game has a place in the quota: longer than any call takes."""
_DROP_SECONDS: Final = 0.25
"""How long a refused call waits for its id to be given up: it need not be."""


class Naming:
    """Draws ids, holds them for requests and has the games counted. All threads may use it at once."""

    def __init__(self, store: Store, quotas: Quotas) -> None:
        self._store = store
        self._quotas = quotas

    def name(self, owner: str, request: bytes | None, ttl_ms: int, call: Call) -> str:
        """Finds the id under which a game is to be created, or was by the same request; from now on it is counted.

        With quotas a request holds its id only briefly until its game is counted, so that requests that are refused do
        not fill the store. Nobody creates a game before its id is held for good; one that is held briefly may therefore
        be given up whoever else has learnt of it.

        Args:
            owner: the name of the API key that makes it.
            request: a hash of the request id; None: it has none.
            ttl_ms: how long the request is to hold its id.
            call: the call, which is told the id.

        Raises:
            Refusal: LIMIT.
        """
        call.game_id = drawn = new_game_id()
        if not self._quotas.limited:
            if request:
                call.game_id = self._store.reserve(request, drawn, ttl_ms=ttl_ms, timeout=call.timeout)
            return call.game_id
        if request is None:
            self._quotas.claim(owner, drawn, call, repeated=False)
            return drawn
        # What is not held for longer than a call takes is as good as held briefly, and held for good.
        brief_ms = _BRIEF_MS if ttl_ms > _BRIEF_MS else 0
        held = self._store.reserve(request, drawn, ttl_ms=brief_ms or ttl_ms, timeout=call.timeout)
        while True:
            game_id = call.game_id = held
            try:
                counted = self._quotas.claim(owner, game_id, call, repeated=game_id != drawn)
            except Refusal:
                if brief_ms:
                    self._give_up(request, game_id, brief_ms, call)
                raise
            if not counted or not brief_ms:
                return game_id
            held = self._store.reserve(request, game_id, ttl_ms=ttl_ms, brief_ms=brief_ms, timeout=call.timeout)
            if held == game_id:
                return game_id
            self._quotas.release(owner, game_id, call)

    def _give_up(self, request: bytes, game_id: str, brief_ms: int, call: Call) -> None:
        with suppress(StoreError):  # it ends by itself
            self._store.drop(request, game_id, brief_ms=brief_ms, timeout=min(call.timeout, _DROP_SECONDS))


def new_game_id() -> str:
    """Draws a game's id: 128 random bits as 26 lower-case letters and digits."""
    return base64.b32encode(secrets.token_bytes(16)).decode().rstrip("=").lower()
