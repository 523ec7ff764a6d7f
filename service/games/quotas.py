"""Quotas: how many live games an API key may have, and how many it may create in a period of time.

All counting happens in the store, so that every process gives the same answer. A game is counted from just before its
creation until it is over. If a process crashes in between, the count is too high. It is corrected when the quota is
reached, by verifying a few games that were not verified recently, so that a rejected call is cheap. Nothing
else depends on the counts: moves and expiry ignore quotas.
"""

from typing import Final

import structlog

from service.games.deadline import Deadline
from service.games.errors import QuotaExceeded
from service.store import (
    Claimed,
    LiveExceeded,
    Quota,
    QuotaStore,
    RateExceeded,
    StoreError,
    Unverified,
    Verified,
)

_HOLD_MARGIN_MS: Final = 1000
"""How long after its deadline a call's creation may still reach the store."""
_RELEASE_SECONDS: Final = 0.25
"""How long a call that ended a game waits for its release; a failed release is corrected later."""

_log = structlog.get_logger()


class Quotas:
    """Applies the same quota to every API key. Thread-safe."""

    def __init__(self, store: QuotaStore, quota: Quota) -> None:
        self._store = store
        self._quota = quota

    @property
    def limited(self) -> bool:
        """Whether there is any limit. Without one, games need not be claimed."""
        return self._quota.live is not None or self._quota.created is not None

    def claim(self, owner: str, game_id: str, deadline: Deadline, *, repeated: bool) -> bool:
        """Count a game that is about to be created, unless it is counted or exists.

        Args:
            owner: the name of the API key that creates it; empty for all callers together.
            game_id: its id.
            deadline: the call's deadline.
            repeated: whether an earlier call generated the id, and so may have created the game.

        Returns:
            Whether the game was counted; False if an earlier call created it.

        Raises:
            QuotaExceeded: the API key has reached a quota.
        """
        if repeated and self._store.exists(game_id, timeout=deadline.timeout):
            return False
        hold_ms = int(deadline.timeout * 1000) + _HOLD_MARGIN_MS
        verified: list[Verified] = []
        while True:
            result = self._store.claim(
                owner, game_id, self._quota, hold_ms=hold_ms, verified=verified, timeout=deadline.timeout
            )
            match result:
                case Claimed():
                    return True
                case RateExceeded(wait_ms):
                    raise _rate_exceeded(owner, self._quota, wait_ms)
                case LiveExceeded([]):  # always the result after a verification
                    raise _live_exceeded(owner, self._quota)
                case LiveExceeded(unverified):
                    verified = [self._verify(game, deadline) for game in unverified]

    def _verify(self, game: Unverified, deadline: Deadline) -> Verified:
        found = self._store.liveness(game.game_id, timeout=deadline.timeout)
        return Verified(game.game_id, game.score, found.expires_at if found and found.live else None)

    def release(self, owner: str, game_id: str, deadline: Deadline) -> None:
        """Stop counting a game as live, since it is over. A failure is corrected when the quota is reached."""
        if self._quota.live is None:
            return
        try:
            self._store.release(owner, game_id, timeout=min(deadline.timeout, _RELEASE_SECONDS))
        except StoreError as error:
            _log.warning("quota_not_released", game_id=game_id, problem=str(error))


def _live_exceeded(owner: str, quota: Quota) -> QuotaExceeded:
    return QuotaExceeded(
        f"{_subject(owner)} may have {_games(quota.live)} at the same time, and has no room for another: "
        "try again when one is finished, deleted or expired.",
        owner=owner,
        quota="live games",
    )


def _rate_exceeded(owner: str, quota: Quota, wait_ms: int) -> QuotaExceeded:
    return QuotaExceeded(
        f"{_subject(owner)} may create {_games(quota.created)} in {_span(quota.window_ms)}, and has created them: "
        f"try again in {_span(wait_ms)}.",
        owner=owner,
        quota="new games",
        retry_after_ms=wait_ms,
    )


def _subject(owner: str) -> str:
    return "This API key" if owner else "All callers together"


def _games(number: int | None) -> str:
    return "1 game" if number == 1 else f"{number} games"


def _span(ms: int) -> str:
    """Format a span of time, rounded up to whole seconds, such as `1h 30m`."""
    minutes, seconds = divmod(-(-ms // 1000), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number)
