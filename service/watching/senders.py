"""The threads that send to watchers, and the watchdog that keeps slow readers from holding them."""

import threading
from time import monotonic
from typing import Final

import structlog

from service.executor import LeanExecutor
from service.telemetry import frames
from service.watching.game import WatchedGame
from service.watching.watcher import Watcher
from sodafountain.v1 import game_service_pb2 as pb

STALLED_AFTER: Final = 1.0
"""Seconds: a reader that keeps a message waiting for so long is told that it stalled, as soon as it has read that."""
CUT_AFTER: Final = 1.75
"""Seconds after which a reader that still has not read is cut off."""
_THREADS: Final = 4
_LATE: Final = 0.05
_MOST_EXTRA_THREADS: Final = 256

_log = structlog.get_logger()


class Senders:
    """Sends to watchers what they have yet to be told."""

    def __init__(self) -> None:
        self._executor = LeanExecutor(_THREADS, name="watch-send")
        self._sending: dict[int, tuple[float, Watcher]] = {}

    def send(self, game: WatchedGame, watcher: Watcher) -> None:
        """Sends until there is nothing more to be told. The watcher must count as busy."""
        self._executor.submit(self._send, game, watcher)

    def watch(self) -> None:
        """Looks after the readers that keep messages waiting; to be called often."""
        now = monotonic()
        late = 0
        for since, watcher in tuple(self._sending.values()):
            late += now - since > _LATE
            if now - since > CUT_AFTER:
                watcher.stream.cut("STALLED")
        # Twice as many, since whoever is slow seldom comes alone: others may wait behind as many again.
        self._executor.resize(_THREADS + min(2 * late, _MOST_EXTRA_THREADS))

    def close(self) -> None:
        """Sends what is to be sent and ends the threads."""
        self._executor.shutdown()

    def _send(self, game: WatchedGame, watcher: Watcher) -> None:
        try:
            while (outgoing := game.next(watcher)) is not None:
                if self._took_too_long(watcher, outgoing.message):
                    with game.lock:
                        watcher.end = watcher.end or pb.WATCH_END_REASON_STALLED
                if outgoing.end is not None:
                    with game.lock:
                        watcher.gone = True
                    watcher.stream.end(pb.WatchEndReason.Name(outgoing.end).removeprefix("WATCH_END_REASON_"))
        except Exception as error:  # noqa: BLE001 - a defect in one game's view must not stop the others' watchers
            _log.error("watch_failed", error=type(error).__name__, frames=frames(error))
            watcher.stream.fail()

    def _took_too_long(self, watcher: Watcher, message: bytes) -> bool:
        thread, since = threading.get_ident(), monotonic()
        self._sending[thread] = since, watcher
        try:
            watcher.stream.send(message)
        finally:
            del self._sending[thread]
        return monotonic() - since > STALLED_AFTER
