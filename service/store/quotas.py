"""The store of quotas: how many games each API key has."""

from collections.abc import Sequence

from service.store import scripts
from service.store.client import Client
from service.store.durability import deadline_after
from service.store.instrumentation import Observer, operation
from service.store.keys import game_keys, owner_keys
from service.store.records import exists, fields
from service.store.values import (
    Claimed,
    ClaimResult,
    LiveExceeded,
    Liveness,
    Quota,
    RateExceeded,
    Unverified,
    Verified,
)

_MAX_VERIFICATIONS = 16  # per call
_MIN_INTERVAL_MS, _MAX_INTERVAL_MS = 1000, 60_000  # between two verifications of a game


class QuotaStore:
    """The games that count toward quotas. Thread-safe. Methods raise like those of `GameStore`."""

    def __init__(self, client: Client, observer: Observer | None) -> None:
        self._client = client
        self._observer = observer

    @operation
    def claim(
        self,
        owner: str,
        game_id: str,
        quota: Quota,
        *,
        hold_ms: int,
        verified: Sequence[Verified] = (),
        timeout: float,
    ) -> ClaimResult:
        """Count a game that is about to be created, once, unless its owner has reached a quota.

        Args:
            owner: the name of the API key, or empty.
            game_id: the game. A game that is already counted is accepted.
            quota: the limits.
            hold_ms: how long its creation may take; the game is not verified before that time has passed.
            verified: the results for `LiveExceeded.unverified`. With them, no further games are returned.
            timeout: in seconds.
        """
        limits = ("" if limit is None else limit for limit in (quota.live, quota.created))
        results = [part for game in verified for part in (game.game_id, game.score, game.expires_at or "")]
        max_unverified = 0 if results else _MAX_VERIFICATIONS
        intervals = (_MIN_INTERVAL_MS, _MAX_INTERVAL_MS)
        [[status, *rest]] = self._client.run_script(
            scripts.CLAIM,
            owner_keys(owner),
            (game_id, *limits, quota.window_ms, hold_ms, *intervals, max_unverified, *results),
            writes=True,
            deadline=deadline_after(timeout),
        )
        match status:
            case b"RATE_EXCEEDED":
                return RateExceeded(int(rest[0]))
            case b"LIVE_EXCEEDED":
                score, unverified = rest
                return LiveExceeded([Unverified(game.decode(), score) for game in unverified])
        return Claimed()

    @operation
    def release(self, owner: str, game_id: str, *, timeout: float) -> None:
        """Stop counting a game as live."""
        key = owner_keys(owner).live
        self._client.execute(key, [(b"ZREM", key, game_id)], writes=True, deadline=deadline_after(timeout))

    @operation
    def exists(self, game_id: str, *, timeout: float) -> bool:
        """Return whether a game id is in use, by a game or by the tombstone of a deleted one."""
        key = game_keys(game_id).game
        [found] = self._client.execute(key, [(b"EXISTS", key)], writes=False, deadline=deadline_after(timeout))
        return bool(found)

    @operation
    def liveness(self, game_id: str, *, timeout: float) -> Liveness | None:
        """Return whether a game is live; None if it does not exist."""
        key = game_keys(game_id).game
        [elements] = self._client.execute(key, [(b"LRANGE", key, 0, 0)], writes=False, deadline=deadline_after(timeout))
        if not exists(elements):
            return None
        _, _, _, expires, archived = fields(elements[0])
        return Liveness(archived == "0", int(expires))
