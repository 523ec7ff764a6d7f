"""Eviction of slow peers, so that a pool keeps working while some threads wait for peers that do not read or send.

gRPC blocks a thread while the peer's request has not arrived, or while the peer does not read. `SlowPeers` records
which threads of an executor wait, adds threads in their place, and evicts peers that wait for too long. The more peers
are slow, the earlier the slowest are evicted.
"""

import threading
from collections.abc import Callable
from time import monotonic
from typing import Final

from service.threads.executor import LeanExecutor

MAX_EXTRA_THREADS: Final = 256
MAX_SLOW_PEERS: Final = MAX_EXTRA_THREADS // 2
"""How many slow peers may wait until `evict_after`; the remaining extra threads serve the other peers."""


class SlowPeers:
    """The peers that threads of an executor wait for. Thread-safe.

    Each thread that waits calls `begin` and, in a `finally` block, `end`. A timer thread calls `check` often.

    Args:
        executor: the executor whose threads wait.
        replace_after: seconds after which a waiting thread is replaced by an extra one.
        evict_after: seconds after which a peer is evicted.
        evict_early_after: seconds after which a peer may be evicted while more than `MAX_SLOW_PEERS` wait.
    """

    def __init__(
        self, executor: LeanExecutor, *, replace_after: float, evict_after: float, evict_early_after: float
    ) -> None:
        self._executor = executor
        self._base_size = executor.size
        self._replace_after = replace_after
        self._evict_after = evict_after
        self._evict_early_after = evict_early_after
        self._waiting: dict[int, tuple[float, Callable[[], object]]] = {}
        self._lock = threading.Lock()

    def begin(self, evict: Callable[[], object]) -> None:
        """Record that the calling thread waits for a peer, which `evict` disconnects."""
        with self._lock:
            self._waiting[threading.get_ident()] = (monotonic(), evict)

    def end(self) -> float:
        """Record that the calling thread no longer waits; return the seconds it waited."""
        with self._lock:
            since, _ = self._waiting.pop(threading.get_ident())
        return monotonic() - since

    def check(self) -> None:
        """Replace waiting threads and evict slow peers."""
        now = monotonic()
        with self._lock:  # without it, a peer that begins or ends to wait meanwhile is an error
            waits = [(now - since, evict) for since, evict in self._waiting.values()]
        slow = sum(seconds > self._replace_after for seconds, _ in waits)
        # Two for each slow peer: slow peers often come in groups, and more of them may still be queued.
        self._executor.resize(self._base_size + min(2 * slow, MAX_EXTRA_THREADS))
        candidates = sorted((wait for wait in waits if wait[0] > self._evict_early_after), key=lambda wait: -wait[0])
        for rank, (seconds, evict) in enumerate(candidates):
            if seconds > self._evict_after or rank < len(candidates) - MAX_SLOW_PEERS:
                evict()
