"""The limits of watchers: of all, of spectators, of the spectators of one game, and of one caller.

Anyone may watch a public game. Without limits for spectators, one caller could take the places of all players.
"""

import threading
from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from service.watching.errors import WatchLimitReached

T = TypeVar("T", bound=Hashable)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The maximum numbers of watchers of a process.

    Attributes:
        watchers: of all.
        spectators: of those that are neither a seat nor a host; the remaining places are reserved for those.
        spectators_per_game: of the spectators of one game.
        per_caller: of one caller.
    """

    watchers: int
    spectators: int
    spectators_per_game: int
    per_caller: int

    @classmethod
    def of(
        cls,
        watchers: int,
        *,
        spectators: int | None = None,
        spectators_per_game: int | None = None,
        per_caller: int | None = None,
    ) -> "Limits":
        """Return limits with the defaults for those that are None."""
        return cls(
            watchers=watchers,
            spectators=_default(spectators, watchers // 2),
            spectators_per_game=_default(spectators_per_game, watchers // 10),
            per_caller=_default(per_caller, watchers // 20),
        )


def _default(value: int | None, share: int) -> int:
    return max(share, 1) if value is None else value


class Claim(NamedTuple):
    """What a watcher is counted for.

    Attributes:
        game_id: the game.
        caller: who watches: the holder of a token of a seat or host, or the address of a spectator.
        is_spectator: whether it is neither a seat nor a host.
    """

    game_id: str
    caller: Hashable
    is_spectator: bool


class Places:
    """The places of the watchers of a process. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._lock = threading.Lock()
        self._count = 0
        self._spectators = 0
        self._spectators_of_game: Counter[str] = Counter()
        self._of_caller: Counter[Hashable] = Counter()

    @property
    def taken(self) -> int:
        """The number of places that are taken."""
        return self._count

    def take(self, claim: Claim) -> None:
        """Take a place.

        Raises:
            WatchLimitReached: a limit is reached; the text says which.
        """
        with self._lock:
            if (problem := self._problem(claim)) is not None:
                raise WatchLimitReached(problem)
            self._count += 1
            self._of_caller[claim.caller] += 1
            if claim.is_spectator:
                self._spectators += 1
                self._spectators_of_game[claim.game_id] += 1

    def release(self, claim: Claim) -> None:
        """Release a place that was taken."""
        with self._lock:
            self._count -= 1
            _decrement(self._of_caller, claim.caller)
            if claim.is_spectator:
                self._spectators -= 1
                _decrement(self._spectators_of_game, claim.game_id)

    def _problem(self, claim: Claim) -> str | None:
        limits = self._limits
        if self._count >= limits.watchers:
            return "The server has the maximum number of watchers: try again later, or use another server."
        if self._of_caller[claim.caller] >= limits.per_caller:
            return "You have the maximum number of streams on this server: end one first."
        if claim.is_spectator and self._spectators >= limits.spectators:
            return "The server has the maximum number of spectators: try again later, or use another server."
        if claim.is_spectator and self._spectators_of_game[claim.game_id] >= limits.spectators_per_game:
            return "The game has the maximum number of spectators on this server: try again later."
        return None


def _decrement(counts: Counter[T], key: T) -> None:
    counts[key] -= 1
    if not counts[key]:
        del counts[key]
