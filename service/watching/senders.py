"""The threads that send to watchers, and the eviction of slow readers that block them."""

from typing import Final

import structlog

from service.contract import game_service_pb2 as pb
from service.observability.logs import frames
from service.threads import LeanExecutor, SlowPeers
from service.watching.watched_game import WatchedGame
from service.watching.watcher import Watcher

STALLED_AFTER: Final = 1.0
"""A reader that needs more than this many seconds to accept a message receives STALLED next."""
CANCEL_AFTER: Final = 1.75
"""A reader that has not accepted a message after this many seconds is cancelled."""
_CANCEL_EARLY_AFTER: Final = 0.5
"""The same, while very many readers are slow (`service.threads.slow_peers.MAX_SLOW_PEERS`)."""
_PROMPT_SECONDS: Final = 0.02
"""A prompt reader accepts a message in less than this many seconds."""
_PROBATION: Final = 10
"""How many consecutive messages a slow reader must accept promptly to count as prompt again."""
_THREADS: Final = 4
_REPLACE_PROMPT_AFTER: Final = 0.05
"""Seconds after which a thread that waits for a prompt reader is replaced. On a busy processor sending takes longer for
every reader, and more threads would only add to the load."""
_REPLACE_OTHER_AFTER: Final = 0.01

_log = structlog.get_logger()


class Senders:
    """Sends pending messages to watchers.

    Prompt readers have separate threads: they wait neither for slow readers nor for new ones.
    """

    def __init__(self) -> None:
        self._prompt = _SenderPool("watch-send", replace_after=_REPLACE_PROMPT_AFTER)
        self._other = _SenderPool("watch-send-slow", replace_after=_REPLACE_OTHER_AFTER)

    def send(self, game: WatchedGame, watcher: Watcher) -> None:
        """Queue a watcher, which must be marked as busy, for sending."""
        pool = self._prompt if watcher.trust > 0 else self._other
        pool.executor.submit(self._send, game, watcher, pool)

    def check_slow_readers(self) -> None:
        """Evict slow readers. Must be called often."""
        self._prompt.slow_readers.check()
        self._other.slow_readers.check()

    def close(self) -> None:
        """Send what is queued, and end the threads."""
        self._prompt.executor.shutdown()
        self._other.executor.shutdown()

    def _send(self, game: WatchedGame, watcher: Watcher, pool: "_SenderPool") -> None:
        try:
            if (outgoing := game.next_message(watcher)) is None:
                return
            seconds = pool.send(watcher, outgoing.message)
            watcher.trust = min(watcher.trust + 1, 1) if seconds < _PROMPT_SECONDS else -_PROBATION
            if seconds > STALLED_AFTER:
                with game.lock:
                    watcher.end = watcher.end or pb.WATCH_END_REASON_STALLED
            if outgoing.end is None:
                if game.has_more(watcher):
                    self.send(game, watcher)  # queued again, so that a busy game does not occupy the threads
                return
            with game.lock:
                watcher.gone = True
            watcher.stream.end(pb.WatchEndReason.Name(outgoing.end).removeprefix("WATCH_END_REASON_"))
        except Exception as error:  # noqa: BLE001 - a defect in one game's view must not stop other watchers
            _log.error("watch_failed", error=type(error).__name__, frames=frames(error))
            watcher.stream.fail()


class _SenderPool:
    """Threads that send, and the readers they wait for."""

    def __init__(self, name: str, *, replace_after: float) -> None:
        self.executor = LeanExecutor(_THREADS, name=name)
        self.slow_readers = SlowPeers(
            self.executor,
            replace_after=replace_after,
            evict_after=CANCEL_AFTER,
            evict_early_after=_CANCEL_EARLY_AFTER,
        )

    def send(self, watcher: Watcher, message: bytes) -> float:
        """Send a message; return how many seconds the reader took to accept it."""
        self.slow_readers.begin(lambda: watcher.stream.cancel("STALLED"))
        try:
            watcher.stream.send(message)
        finally:
            seconds = self.slow_readers.end()
        return seconds
