"""The threads that send to watchers, and the watchdog that keeps slow readers from holding them."""

import threading
from time import monotonic
from typing import Final

import structlog

from service.observability.logs import frames
from service.threads.executor import LeanExecutor
from service.watching.game import WatchedGame
from service.watching.watcher import Watcher
from sodafountain.v1 import game_service_pb2 as pb

STALLED_AFTER: Final = 1.0
"""Seconds: a reader that keeps a message waiting for so long is told that it stalled, as soon as it has read that."""
CUT_AFTER: Final = 1.75
"""Seconds after which a reader that still has not read is cut off."""
_IMPATIENT_AFTER: Final = 0.5
"""Seconds after which it is cut off where very many keep messages waiting."""
_PROMPT: Final = 0.02
"""Seconds in which a prompt reader takes a message."""
_PROBATION: Final = 10
"""How many messages a reader that was slow must take promptly, one after the other, to count as prompt again."""
_THREADS: Final = 4
_LATE: Final = 0.05
"""Seconds after which a thread that waits for a prompt reader is replaced: where the processor is short, sending takes
its time whoever reads, and more threads would only take more of it."""
_LATE_FOR_OTHERS: Final = 0.01
_MOST_EXTRA_THREADS: Final = 256
_MOST_SLOW: Final = _MOST_EXTRA_THREADS // 2
"""How many readers are waited for as long as `CUT_AFTER`; the other threads are for those who read."""

_log = structlog.get_logger()


class Senders:
    """Sends to watchers what they have yet to be told.

    Those who are prompt have threads of their own: they wait neither behind those who lately were not, nor behind those
    who have only come and of whom nothing is known.
    """

    def __init__(self) -> None:
        self._prompt = _Crew("watch-send", late=_LATE)
        self._others = _Crew("watch-send-slow", late=_LATE_FOR_OTHERS)

    def send(self, game: WatchedGame, watcher: Watcher) -> None:
        """Sends until there is nothing more to be told. The watcher must count as busy."""
        crew = self._prompt if watcher.trust > 0 else self._others
        crew.executor.submit(self._send, game, watcher, crew)

    def watch(self) -> None:
        """Looks after the readers that keep messages waiting; to be called often."""
        self._prompt.watch()
        self._others.watch()

    def close(self) -> None:
        """Sends what is to be sent and ends the threads."""
        self._prompt.executor.shutdown()
        self._others.executor.shutdown()

    def _send(self, game: WatchedGame, watcher: Watcher, crew: "_Crew") -> None:
        try:
            if (outgoing := game.next(watcher)) is None:
                return
            took = crew.send(watcher, outgoing.message)
            watcher.trust = min(watcher.trust + 1, 1) if took < _PROMPT else -_PROBATION
            if took > STALLED_AFTER:
                with game.lock:
                    watcher.end = watcher.end or pb.WATCH_END_REASON_STALLED
            if outgoing.end is None:
                if game.more_for(watcher):
                    self.send(game, watcher)  # in line: a game on which much happens must not hold the threads
                return
            with game.lock:
                watcher.gone = True
            watcher.stream.end(pb.WatchEndReason.Name(outgoing.end).removeprefix("WATCH_END_REASON_"))
        except Exception as error:  # noqa: BLE001 - a defect in one game's view must not stop the others' watchers
            _log.error("watch_failed", error=type(error).__name__, frames=frames(error))
            watcher.stream.fail()


class _Crew:
    """Threads that send, as many as it takes.

    Attributes:
        executor: the threads.
    """

    def __init__(self, name: str, *, late: float) -> None:
        """`late` is after how many seconds a thread that waits is replaced."""
        self._late = late
        self.executor = LeanExecutor(_THREADS, name=name)
        self._sending: dict[int, tuple[float, Watcher]] = {}

    def send(self, watcher: Watcher, message: bytes) -> float:
        """Sends a message; returns how many seconds it took the reader to let it in."""
        thread, since = threading.get_ident(), monotonic()
        self._sending[thread] = since, watcher
        try:
            watcher.stream.send(message)
        finally:
            del self._sending[thread]
        return monotonic() - since

    def watch(self) -> None:
        """Puts other threads in the place of those that wait, and cuts off the readers that are waited for too long.

        The more readers are slow, the less patience there is with the slowest.
        """
        now = monotonic()
        late = [(now - since, watcher) for since, watcher in tuple(self._sending.values()) if now - since > self._late]
        very_late = sorted(
            [(seconds, watcher) for seconds, watcher in late if seconds > _IMPATIENT_AFTER], key=lambda one: -one[0]
        )
        for number, (seconds, watcher) in enumerate(very_late):
            if seconds > CUT_AFTER or number < len(very_late) - _MOST_SLOW:
                watcher.stream.cut("STALLED")
        # Twice as many, since whoever is slow seldom comes alone: others may wait behind as many again.
        self.executor.resize(_THREADS + min(2 * len(late), _MOST_EXTRA_THREADS))
