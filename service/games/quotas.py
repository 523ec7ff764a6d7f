"""Quotas: how many games an API key may have at once, and make in a span of time.

All counting is the store's, so that every process gives the same answer. A game is counted right before it is created
and no longer when it is over. Whoever dies in between leaves the count too high: it is put right when it is reached,
by a look at a few of the games that have not been looked at for a while, so that a call that is refused costs little.
Nothing else is asked of the store for it, so that neither moves nor expiry know of quotas.
"""

from typing import Final

import structlog

from service.games.game import is_over
from service.store import Claimed, Due, Full, Looked, Quota, Spent, Store, StoreError
from service.transport.call import Call
from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb

_MARGIN_MS: Final = 1000
"""How long after its deadline a call's creation may still reach the store."""
_RELEASE_SECONDS: Final = 0.25
"""How long a call that ended a game waits for room to be made: it need not be."""

_log = structlog.get_logger()


class Quotas:
    """The quota, the same for every API key. All threads may use it at once.

    Where nothing is `limited`, nothing is to be claimed.
    """

    def __init__(self, store: Store, quota: Quota) -> None:
        self._store = store
        self._quota = quota

    @property
    def limited(self) -> bool:
        """Whether there is any limit."""
        return self._quota.live is not None or self._quota.made is not None

    def claim(self, owner: str, game_id: str, call: Call, *, repeated: bool) -> bool:
        """Counts a game that is about to be created, unless it is counted or exists.

        Args:
            owner: the name of the API key that makes it; empty for everybody together.
            game_id: its id.
            call: the call.
            repeated: whether the id was drawn by an earlier call, which may have created it.

        Returns:
            Whether it was counted; False: an earlier call created it.

        Raises:
            Refusal: LIMIT.
        """
        if repeated and self._store.exists(game_id, timeout=call.timeout):
            return False
        hold_ms = int(call.timeout * 1000) + _MARGIN_MS
        looked: list[Looked] = []
        while True:
            claim = self._store.claim(owner, game_id, self._quota, hold_ms=hold_ms, looked=looked, timeout=call.timeout)
            match claim:
                case Claimed():
                    return True
                case Spent(wait_ms):
                    _log.info("quota_reached", api_key=owner, quota="new games", call_id=call.call_id)
                    raise _spent(owner, self._quota, wait_ms)
                case Full([]):  # always after a look
                    _log.info("quota_reached", api_key=owner, quota="live games", call_id=call.call_id)
                    raise _full(owner, self._quota)
                case Full(due):
                    looked = [self._look(game, call) for game in due]

    def _look(self, due: Due, call: Call) -> Looked:
        seen = self._store.look(due.game_id, timeout=call.timeout)
        lives = seen is not None and not is_over(seen.decisions)
        return Looked(due.game_id, due.score, seen.expires_at if seen and lives else None)

    def release(self, owner: str, game_id: str, call: Call) -> None:
        """Counts a game that is over no longer as live. If that fails, it shows when the room is needed."""
        if self._quota.live is None:
            return
        try:
            self._store.release(owner, game_id, timeout=min(call.timeout, _RELEASE_SECONDS))
        except StoreError as error:
            _log.warning("quota_not_released", game_id=game_id, problem=str(error))


def _full(owner: str, quota: Quota) -> Refusal:
    return Refusal(
        pb.ERROR_REASON_LIMIT,
        f"{_who(owner)} may have {_games(quota.live)} at once and has no room for another: "
        "try again when one is finished, deleted or expired.",
    )


def _spent(owner: str, quota: Quota, wait_ms: int) -> Refusal:
    return Refusal(
        pb.ERROR_REASON_LIMIT,
        f"{_who(owner)} may make {_games(quota.made)} in {_span(quota.window_ms)} and has made them: "
        f"try again in {_span(wait_ms)}.",
        retry_after_ms=wait_ms,
    )


def _who(owner: str) -> str:
    return "This API key" if owner else "All callers together"


def _games(number: int | None) -> str:
    return "1 game" if number == 1 else f"{number} games"


def _span(ms: int) -> str:
    """Writes a span of time, rounded up to whole seconds, such as `1h 30m`."""
    minutes, seconds = divmod(-(-ms // 1000), 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (seconds, "s"))
    return " ".join(f"{number}{unit}" for number, unit in parts if number)
