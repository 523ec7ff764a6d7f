"""Deadlines."""

import time
from typing import Final

_MIN_TIMEOUT: Final = 0.001


class Deadline:
    """The time by which a call must have finished its work.

    Args:
        seconds: how long from now.
    """

    __slots__ = ("_at",)

    def __init__(self, seconds: float) -> None:
        self._at = time.monotonic() + seconds

    def remaining(self) -> float:
        """Return the seconds that remain; zero or negative if the deadline has passed."""
        return self._at - time.monotonic()

    @property
    def timeout(self) -> float:
        """The seconds that remain, for the store, which requires a positive number."""
        return max(self.remaining(), _MIN_TIMEOUT)
