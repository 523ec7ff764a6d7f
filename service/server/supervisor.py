"""Several processes on one port. A worker that dies is replaced, and no game is lost."""

import multiprocessing
import multiprocessing.connection
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, NamedTuple

import structlog

from service.network import CannotListen
from service.observability import logs, metrics
from service.server.composition import bind, write_port
from service.server.settings import Settings
from service.server.stopping import STOP_SIGNALS, StopEvent
from service.store import StoreError

_POLL_SECONDS: Final = 1.0
_START_SECONDS: Final = 30.0

_spawn = multiprocessing.get_context("spawn")  # gRPC does not support fork
_log = structlog.get_logger()


class WorkerFailed(Exception):
    """A worker did not start; the text says why."""


class LogSettings(NamedTuple):
    """Level and format of the logs."""

    level: str
    fmt: str


def supervise(
    settings: Settings,
    log_settings: LogSettings,
    sockets: Sequence[Path | None],
    stop: StopEvent,
    *,
    gateway: Callable[[bool], AbstractContextManager[None]],
    ensure_store: Callable[[], None] | None,
) -> None:
    """Run a worker for each socket until the stop event is set, and replace workers that die.

    Args:
        settings: the settings that all workers share.
        log_settings: the logs of the workers.
        sockets: the Unix socket of each worker; None for a worker without one.
        stop: the stop event.
        gateway: returns a context in which the gateway runs; its argument is whether all workers are ready.
        ensure_store: called every second; may raise StoreError.

    Raises:
        CannotListen: the address is in use or not local.
        WorkerFailed: a worker did not start.
    """
    with _reserved_port(settings.host, settings.port) as port:
        shared = replace(settings, port=port, share_port=True, port_file=None)
        each = [replace(shared, socket=socket) for socket in sockets]
        workers = [_Worker(own, log_settings) for own in each]
        try:
            ready = all(worker.wait_until_ready(stop) for worker in workers)
            if ready and settings.port_file is not None:
                write_port(settings.port_file, port)
            with gateway(ready):
                while not stop.wait(_POLL_SECONDS):
                    _ensure(ensure_store)
                    for number, worker in enumerate(workers):
                        if not worker.process.is_alive():
                            _log.error("worker_died", pid=worker.pid, exit_code=worker.process.exitcode)
                            metrics.remove_process(worker.pid)
                            workers[number] = _Worker(each[number], log_settings)
        finally:
            for worker in workers:
                worker.process.terminate()  # SIGTERM: the worker drains
            for worker in workers:
                worker.process.join(settings.drain_seconds + _START_SECONDS)


def _ensure(ensure_store: Callable[[], None] | None) -> None:
    if ensure_store is not None:
        try:
            ensure_store()
        except StoreError as error:
            _log.error("store_away", problem=str(error))


class _Worker:
    """A process that serves on the shared port, and a pipe through which it reports that it is ready."""

    def __init__(self, settings: Settings, log_settings: LogSettings) -> None:
        self._ready, ready = _spawn.Pipe(duplex=False)
        with ready:  # close this copy, so that the pipe ends when the worker ends
            self.process = _spawn.Process(target=_work, args=(settings, log_settings, ready))
            resource_tracker.ensure_running()  # otherwise `start` does this, and unblocks the signals too early
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)  # until the worker handles them
            self.process.start()
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    @property
    def pid(self) -> int:
        """The process id."""
        assert self.process.pid is not None, "the process was started"
        return self.process.pid

    def wait_until_ready(self, stop: StopEvent) -> bool:
        """Wait until the worker accepts calls; return False if the stop event is set first.

        Raises:
            WorkerFailed: the worker ended, or was not ready in time.
        """
        readable = multiprocessing.connection.wait([self._ready, stop.socket], _START_SECONDS)
        if stop.socket in readable:
            return False
        if not readable:
            raise WorkerFailed(f"a worker did not start within {_START_SECONDS:.0f} seconds")
        try:
            self._ready.recv_bytes()
        except EOFError:
            if stop.wait(_POLL_SECONDS):  # a signal to the process group can end a worker before it is noticed here
                return False
            raise WorkerFailed("a worker ended before it was ready") from None
        return True


def _work(settings: Settings, log_settings: LogSettings, ready: Connection) -> None:
    """Serve as a worker. Drain when a stop signal arrives or the supervisor ends."""
    logs.configure(level=log_settings.level, fmt=log_settings.fmt)
    stop = StopEvent()
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a supervisor"

    def follow_parent() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        stop.set()

    threading.Thread(target=follow_parent, name="supervisor", daemon=True).start()
    with bind(settings) as server:
        with ready, suppress(BrokenPipeError):  # the supervisor may have ended
            ready.send_bytes(b"\0")
        stop.wait()
        server.drain()


@contextmanager
def _reserved_port(host: str, port: int) -> Iterator[int]:
    """Reserve a port that the workers can share, within the block; yields the port.

    Raises:
        CannotListen: the address is in use or not local.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise CannotListen(f"cannot listen on {host}:{port}: the host name cannot be resolved") from None
    with socket.socket(family, socket.SOCK_STREAM) as exclusive, socket.socket(family, socket.SOCK_STREAM) as reserved:
        try:
            exclusive.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            exclusive.bind(address)  # without SO_REUSEPORT: fails if another process listens
            chosen = exclusive.getsockname()[:2]
            exclusive.close()
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            reserved.bind((*chosen, *address[2:]))
        except OSError:
            raise CannotListen(f"cannot listen on {host}:{port}: the address is in use by another process") from None
        yield chosen[1]
