"""Metrics for Prometheus; docs/operate.md lists them.

No label takes values that callers can choose: methods, outcomes, games and operations all come from short lists. No
metric describes a single game or seat.
"""

import os
import socket
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from socketserver import ThreadingMixIn
from typing import Any, Final
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, make_wsgi_app
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

_SECONDS: Final = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
_MAX_CONNECTIONS: Final = 16
"""The maximum number of open connections to the metrics."""
_DIRECTORY: Final = "PROMETHEUS_MULTIPROC_DIR"


class Metrics:
    """The metrics of a process. Thread-safe.

    Attributes:
        registry: the registry that contains them, for `serving`.
    """

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        known: Any = {"registry": self.registry}
        self._calls = Histogram(
            "sodafountain_rpc_seconds", "Duration of calls.", ("method", "outcome"), buckets=_SECONDS, **known
        )
        self._streams = Counter("sodafountain_streams", "WatchGame streams that have ended.", ("outcome",), **known)
        self._watchers = Gauge(
            "sodafountain_watchers", "WatchGame streams that are open.", multiprocess_mode="livesum", **known
        )
        self._created = Counter("sodafountain_games_created", "Games created.", ("game",), **known)
        self._finished = Counter("sodafountain_games_finished", "Games finished.", ("game",), **known)
        self._moves = Counter("sodafountain_moves", "Moves committed.", ("game",), **known)
        self._repeats = Counter(
            "sodafountain_repeated_requests", "Repeated requests for moves that were committed before.", **known
        )
        self._races = Counter(
            "sodafountain_lost_races", "Commits that another move preceded, and that were retried.", **known
        )
        self._cache = Counter("sodafountain_cache", "Lookups of decoded games in the cache.", ("outcome",), **known)
        self._store = Histogram(
            "sodafountain_store_seconds",
            "Duration of store operations.",
            ("operation", "outcome"),
            buckets=_SECONDS,
            **known,
        )
        self._hits, self._misses = self._cache.labels("hit"), self._cache.labels("miss")

    def called(self, method: str, outcome: str, seconds: float) -> None:
        """Count a call that has ended; `outcome` is OK, CANCELLED or an error reason."""
        self._calls.labels(method, outcome).observe(seconds)

    def stream_opened(self) -> None:
        """Count a WatchGame stream that was opened."""
        self._watchers.inc()

    def stream_ended(self, outcome: str) -> None:
        """Count a WatchGame stream that has ended."""
        self._watchers.dec()
        self._streams.labels(outcome).inc()

    def created(self, game: str) -> None:
        """Count a new game."""
        self._created.labels(game).inc()

    def moved(self, game: str, *, finished: bool) -> None:
        """Count a committed move."""
        self._moves.labels(game).inc()
        if finished:
            self._finished.labels(game).inc()

    def repeated(self) -> None:
        """Count a repeated request for a move that was committed before."""
        self._repeats.inc()

    def lost_race(self) -> None:
        """Count a commit that another move preceded."""
        self._races.inc()

    def looked_up(self, *, hit: bool) -> None:
        """Count a lookup of a decoded game; a hit is a game as new as the store's."""
        (self._hits if hit else self._misses).inc()

    def stored(self, operation: str, outcome: str, seconds: float) -> None:
        """Count a store operation."""
        self._store.labels(operation, outcome).observe(seconds)


@contextmanager
def serving(host: str, port: int, registry: CollectorRegistry) -> Iterator[int]:
    """Serve metrics over HTTP, at every path, within the block; yields the port.

    Raises:
        OSError: the address is in use or not local.
    """
    with _Server((host, port), _Handler) as server:
        server.set_app(make_wsgi_app(registry))
        thread = threading.Thread(target=server.serve_forever, name="metrics", daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Server(ThreadingMixIn, WSGIServer):
    """An HTTP server with a thread for each connection. A new connection ends the oldest one if there are too many."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], handler: type[WSGIRequestHandler]) -> None:
        self.address_family = socket.AF_INET6 if ":" in address[0] else socket.AF_INET
        self._open: dict[socket.socket, None] = {}  # the oldest first
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """Handle a connection."""
        if len(self._open) >= _MAX_CONNECTIONS:
            with suppress(StopIteration, OSError):
                next(iter(self._open)).shutdown(socket.SHUT_RDWR)
        self._open[request] = None
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """Close a connection."""
        self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore a connection that fails."""


class _Handler(WSGIRequestHandler):
    """Handles one connection, without log lines."""

    timeout = 5.0

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the name of the base class
        """Log nothing."""


@contextmanager
def shared() -> Iterator[CollectorRegistry]:
    """Combine the metrics of processes that are started within the block; yields the registry for the parent to serve.

    Raises:
        OSError: no temporary directory is writable.
    """
    with tempfile.TemporaryDirectory(prefix="sf-metrics-") as folder:
        os.environ[_DIRECTORY] = folder
        try:
            registry = CollectorRegistry()
            MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call] # the library has no types
            yield registry
        finally:
            del os.environ[_DIRECTORY]


def remove_process(pid: int) -> None:
    """Remove the gauges of a process that has ended; its counters stay."""
    if _DIRECTORY in os.environ:
        mark_process_dead(pid, os.environ[_DIRECTORY])  # type: ignore[no-untyped-call] # as above
