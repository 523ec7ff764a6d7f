"""What a process counts, for Prometheus.

No label takes a value that callers can make up: methods, outcomes, games and operations are all from short lists. No
metric says anything of a single game or seat. docs/operate.md lists them.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, start_http_server
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"


class Metrics:
    """Counts what a process does. All threads may use it at once.

    Attributes:
        registry: what it counts in, for `serving`.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        known: Any = {"registry": self.registry}
        self._calls = Histogram(
            "sodafountain_rpc_seconds", "How long calls took.", ("method", "outcome"), buckets=_SECONDS, **known
        )
        self._streams = Counter("sodafountain_streams", "Streams of WatchGame that ended.", ("outcome",), **known)
        self._watchers = Gauge(
            "sodafountain_watchers", "Streams of WatchGame that are open.", multiprocess_mode="livesum", **known
        )
        self._created = Counter("sodafountain_games_created", "Games made.", ("game",), **known)
        self._finished = Counter("sodafountain_games_finished", "Games played to their end.", ("game",), **known)
        self._moves = Counter("sodafountain_moves", "Moves committed.", ("game",), **known)
        self._repeats = Counter(
            "sodafountain_repeated_requests", "Moves asked for again that had been committed.", **known
        )
        self._races = Counter(
            "sodafountain_lost_races", "Commits that another move came before, and that were tried again.", **known
        )
        self._cache = Counter("sodafountain_cache", "Looks for a decoded game.", ("outcome",), **known)
        self._store = Histogram(
            "sodafountain_store_seconds",
            "How long the store took.",
            ("operation", "outcome"),
            buckets=_SECONDS,
            **known,
        )
        self._hits, self._misses = self._cache.labels("hit"), self._cache.labels("miss")

    def called(self, method: str, outcome: str, seconds: float) -> None:
        """Counts a call that is over; `outcome` is OK, CANCELLED or the reason of a refusal."""
        self._calls.labels(method, outcome).observe(seconds)

    def stream_opened(self) -> None:
        """Counts a stream of WatchGame in."""
        self._watchers.inc()

    def stream_ended(self, outcome: str) -> None:
        """Counts a stream of WatchGame out."""
        self._watchers.dec()
        self._streams.labels(outcome).inc()

    def created(self, game: str) -> None:
        """Counts a new game."""
        self._created.labels(game).inc()

    def moved(self, game: str, *, finished: bool) -> None:
        """Counts a move that was committed."""
        self._moves.labels(game).inc()
        if finished:
            self._finished.labels(game).inc()

    def repeated(self) -> None:
        """Counts a move that was committed before."""
        self._repeats.inc()

    def lost_race(self) -> None:
        """Counts a commit that another move came before."""
        self._races.inc()

    def looked_up(self, *, hit: bool) -> None:
        """Counts a look for a decoded game: a hit is one that is as new as the store's."""
        (self._hits if hit else self._misses).inc()

    def stored(self, operation: str, outcome: str, seconds: float) -> None:
        """Counts a question to the store."""
        self._store.labels(operation, outcome).observe(seconds)


@contextmanager
def serving(host: str, port: int, registry: CollectorRegistry) -> Iterator[int]:
    """Serves metrics over HTTP for the length of the block; provides the port. Every path answers with all of them.

    Raises:
        OSError: the address is taken or not ours.
    """
    server, thread = start_http_server(port, host, registry)
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def shared() -> Iterator[CollectorRegistry]:
    """Lets the processes that are started within the block count together; provides what their parent serves.

    Raises:
        OSError: no temporary directory can be written.
    """
    with tempfile.TemporaryDirectory(prefix="sf-metrics-") as folder:
        os.environ[_DIRECTORY] = folder
        try:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call] # theirs has no types
            yield registry
        finally:
            del os.environ[_DIRECTORY]


def forget(pid: int) -> None:
    """Forgets what a process had open that is no more; what it counted stays."""
    if _DIRECTORY in os.environ:
        mark_process_dead(pid, os.environ[_DIRECTORY])  # type: ignore[no-untyped-call] # as above
