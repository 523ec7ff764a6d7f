"""`sodafountain serve`: from settings to a process, or several, that serve until they are told to stop."""

import multiprocessing
import multiprocessing.connection
import os
import re
import select
import signal
import socket
import tempfile
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, Final, TypeVar

import structlog
from prometheus_client import CollectorRegistry

from service.access.tokens import new_key, parse_api_keys, parse_keys
from service.commands.main import PREFIX, default_data_dir
from service.gateway import CannotRunGateway, Gateway, running_gateway
from service.network import check_address, reachable
from service.observability import logs as telemetry
from service.observability import metrics
from service.server.composition import CannotListen, bind, tracing_to, write_port
from service.server.settings import Settings
from service.store import StoreError, connect
from service.store.embedded import EmbeddedStoreError, EmbeddedValkey

_POLL_SECONDS: Final = 1.0
_START_SECONDS: Final = 30.0

_STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)

T = TypeVar("T")

_spawn = multiprocessing.get_context("spawn")  # gRPC does not survive a fork
_log = structlog.get_logger()


class CannotServe(Exception):
    """The settings make no sense together, or the address or the data directory is taken; one line says which."""


def run(values: Mapping[str, Any], *, known_variables: Collection[str]) -> None:
    """Serves until SIGTERM or SIGINT.

    Args:
        values: the settings by the names of their flags.
        known_variables: the environment variables of the settings.

    Raises:
        CannotServe: nothing was served, or a worker could not be started.
    """
    telemetry.configure(level=values["log_level"], fmt=values["log_format"])
    stop = _Stop()
    _warn_of_unknown_variables(known_variables)
    try:
        check_address(values["host"], values["port"])
        with tracing_to(values["traces_endpoint"]):  # tells here what is wrong with it, and once: nothing has begun
            pass
    except (CannotListen, ValueError) as error:
        raise CannotServe(str(error)) from None
    with ExitStack() as closers:
        mend: Callable[[], None] | None = None
        store_url = values["store_url"]
        token_keys = _secret(values["token_keys_file"], "TOKEN_KEYS")
        api_keys = _secret(values["api_keys_file"], "API_KEYS")
        if not store_url:
            data_dir = values["data_dir"] or default_data_dir()
            try:
                embedded = closers.enter_context(EmbeddedValkey(data_dir))
            except (EmbeddedStoreError, OSError) as error:
                raise CannotServe(str(error)) from None
            store_url, mend = embedded.url, embedded.ensure_running
            token_keys = token_keys or _own_token_keys(data_dir)
        elif not token_keys:
            raise CannotServe(
                "with --store-url, token keys are needed: `sodafountain keygen` draws one for --token-keys-file or "
                f"{PREFIX}TOKEN_KEYS"
            )
        try:
            settings = _settings(values, store_url, token_keys, api_keys)
            sockets = _with_files(_sockets(values), closers)
            if values["workers"] == 1:
                counted = metrics.Metrics()
                _serve_metrics(values, counted.registry, closers)
                with (
                    bind(replace(settings, socket=sockets[0]), metrics=counted, watched=mend) as server,
                    _gateway(values, sockets),
                ):
                    stop.wait()
                    server.drain()
            else:
                connect(store_url).close()  # tells here, and once, what is wrong with the URL
                _serve_metrics(values, _with_files(metrics.shared(), closers), closers)
                _supervise(settings, values, sockets, stop, mend)
        except (CannotListen, ValueError) as error:
            raise CannotServe(str(error)) from None


def _with_files(context: AbstractContextManager[T], closers: ExitStack) -> T:
    """Enters a context that needs a temporary directory.

    Raises:
        CannotServe: there is none.
    """
    try:
        return closers.enter_context(context)
    except OSError:
        raise CannotServe("no temporary directory can be written; TMPDIR may name one") from None


def _serve_metrics(values: Mapping[str, Any], registry: CollectorRegistry, closers: ExitStack) -> None:
    """Serves metrics until the closers close, if they are wanted.

    Raises:
        CannotListen: the address is taken or not ours.
    """
    if (port := values["metrics_port"]) is not None:
        host = values["host"]
        check_address(host, port)
        try:
            port = closers.enter_context(metrics.serving(host, port, registry))
        except OSError as error:
            raise CannotListen(f"cannot serve metrics on {host}:{port}: {error.strerror}") from None
        _log.info("metrics", url=f"http://{reachable(host)}:{port}/metrics", port=port)


def _settings(values: Mapping[str, Any], store_url: str, token_keys: str, api_keys: str) -> Settings:
    return Settings(
        host=values["host"],
        port=values["port"],
        threads=values["threads"],
        max_calls=values["max_calls"],
        max_watchers=values["max_watchers"],
        heartbeat_seconds=values["heartbeat"] / 1000,
        store_url=store_url,
        durable_replicas=values["durable_replicas"],
        token_keys=parse_keys(token_keys),
        api_keys=parse_api_keys(api_keys) if api_keys else {},
        idle_ms=values["idle_ttl"],
        finished_ms=values["finished_ttl"],
        cached_games=values["cached_games"],
        max_live_games=values["max_live_games"],
        max_new_games=values["max_new_games"],
        new_games_window_ms=values["new_games_window"],
        traces_endpoint=values["traces_endpoint"],
        allow_fixed_seed=values["allow_fixed_seed"],
        drain_seconds=values["drain"] / 1000,
        port_file=values["port_file"],
    )


def _warn_of_unknown_variables(known: Collection[str]) -> None:
    """Names variables that look like settings but are none: a misspelt one would be ignored in silence."""
    secrets = {PREFIX + "TOKEN_KEYS", PREFIX + "API_KEYS"}
    cluster = re.compile(rf"{PREFIX}(SERVICE_(HOST|PORT).*|PORT_[0-9]+_.*)")  # Kubernetes sets these for a Service
    for name in sorted(os.environ):
        if name.startswith(PREFIX) and name not in known and name not in secrets and not cluster.fullmatch(name):
            _log.warning("setting_unknown", variable=name)


def _secret(path: Path | None, variable: str) -> str:
    """Reads secrets from a file or, without one, from the environment; never from flags, which everybody can list.

    Raises:
        CannotServe: the file cannot be read.
    """
    if path is None:
        return os.environ.get(PREFIX + variable, "").strip()
    try:
        if path.stat().st_mode & 0o004:
            _log.warning("secret_readable_by_all", path=str(path), advice="chmod o-r")
        return path.read_text().strip()
    except OSError as error:
        raise CannotServe(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CannotServe(f"{path} holds no keys: it is not text") from None


def _own_token_keys(data_dir: Path) -> str:
    """Reads the embedded store's own token keys, drawn when it is first used: tokens live as long as their games."""
    path = data_dir / "token-keys"
    try:
        if not path.exists():
            fresh = path.with_suffix(f".{os.getpid()}")
            fresh.touch(mode=0o600)
            with fresh.open("w") as file:
                file.write(new_key() + "\n")
                file.flush()
                os.fsync(file.fileno())
            fresh.replace(path)
        keys = path.read_text().strip()
        parse_keys(keys)
    except OSError as error:
        raise CannotServe(f"cannot read {path}: {error.strerror}") from None
    except ValueError:  # UnicodeDecodeError too
        raise CannotServe(f"{path} does not hold the token keys that it should") from None
    return keys


class _Stop:
    """Told to stop by SIGTERM, by SIGINT or by whoever calls `set`; stays so.

    A byte through a socket, which Python sends as soon as a signal arrives, to whichever thread. An Event would be set
    by a handler in the main thread: nothing wakes that while it waits if the signal comes to another thread, and the
    handler would wait for ever if it came at the wrong moment of the wait.
    """

    def __init__(self) -> None:
        self.heard, self._told = socket.socketpair()
        self._told.setblocking(False)
        signal.set_wakeup_fd(self._told.fileno(), warn_on_full_buffer=False)
        for number in _STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup has SIGHUP ignored
                signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)  # blocked in a worker until here

    def set(self) -> None:
        self._told.send(b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Waits until told to stop, at most so long; tells whether it was."""
        return bool(select.select([self.heard], [], [], seconds)[0])


# --- Several processes on one port ------------------------------------------------------------------------------------


def _supervise(
    settings: Settings,
    values: Mapping[str, Any],
    sockets: Sequence[Path | None],
    stop: _Stop,
    mend: Callable[[], None] | None,
) -> None:
    """Keeps the workers running until told to stop. A worker that dies is replaced; its games lose nothing."""
    with _reserved_port(settings.host, settings.port) as port:
        shared = replace(settings, port=port, share_port=True, port_file=None)
        each = [replace(shared, socket=socket) for socket in sockets]
        logs = (values["log_level"], values["log_format"])
        workers = [_Worker(own, logs) for own in each]
        try:
            ready = all(worker.wait_until_ready(stop) for worker in workers)
            if ready and settings.port_file is not None:
                write_port(settings.port_file, port)
            with _gateway(values, sockets if ready else ()):
                while not stop.wait(_POLL_SECONDS):
                    _mended(mend)
                    for number, worker in enumerate(workers):
                        if not worker.process.is_alive():
                            _log.error("worker_died", pid=worker.pid, exit_code=worker.process.exitcode)
                            metrics.forget(worker.pid)
                            workers[number] = _Worker(each[number], logs)
        finally:
            for worker in workers:
                worker.process.terminate()  # SIGTERM: it drains
            for worker in workers:
                worker.process.join(settings.drain_seconds + _START_SECONDS)


class _Worker:
    """A process that serves on the shared port, and a pipe through which it tells that it is ready."""

    def __init__(self, settings: Settings, logs: tuple[str, str]) -> None:
        self._ready, ready = _spawn.Pipe(duplex=False)
        with ready:  # ours; with the worker's gone too, it has ended
            self.process = _spawn.Process(target=_work, args=(settings, logs, ready))
            resource_tracker.ensure_running()  # else starting the process does, and unblocks signals in between
            blocked = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)  # until the worker can heed them
            self.process.start()
            signal.pthread_sigmask(signal.SIG_SETMASK, blocked)

    @property
    def pid(self) -> int:
        """The process's id."""
        assert self.process.pid is not None, "it was started"
        return self.process.pid

    def wait_until_ready(self, stop: "_Stop") -> bool:
        """Waits until it accepts calls, or (False) until told to stop.

        Raises:
            CannotServe: it ended before, or takes too long.
        """
        heard = multiprocessing.connection.wait([self._ready, stop.heard], _START_SECONDS)
        if stop.heard in heard:
            return False
        if not heard:
            raise CannotServe(f"a worker did not start in {_START_SECONDS:.0f} seconds")
        try:
            self._ready.recv_bytes()
        except EOFError:
            if stop.wait(_POLL_SECONDS):  # whoever ended the worker may be ending us too
                return False
            raise CannotServe("a worker ended before it could serve") from None
        return True


def _work(settings: Settings, logs: tuple[str, str], ready: Connection) -> None:
    """Serves as one of several workers, and drains when told to or when the supervisor has gone."""
    level, fmt = logs
    telemetry.configure(level=level, fmt=fmt)
    stop = _Stop()
    parent = multiprocessing.parent_process()
    assert parent is not None, "a worker has a supervisor"

    def follow() -> None:
        multiprocessing.connection.wait([parent.sentinel])
        stop.set()

    threading.Thread(target=follow, name="supervisor", daemon=True).start()
    with bind(settings) as server:
        with ready, suppress(BrokenPipeError):  # the supervisor may have gone already
            ready.send_bytes(b"\0")
        stop.wait()
        server.drain()


# --- A gateway beside them --------------------------------------------------------------------------------------------


@contextmanager
def _sockets(values: Mapping[str, Any]) -> Iterator[Sequence[Path | None]]:
    """Finds a place for a Unix socket for each worker, nobody else's, if there is to be a gateway.

    By the port that they share it could not choose the worker that remembers a game.
    """
    if values["rest_port"] is None:
        yield (None,) * values["workers"]
        return
    with tempfile.TemporaryDirectory(prefix="sf-workers-") as folder:
        yield tuple(Path(folder, str(number)) for number in range(values["workers"]))


@contextmanager
def _gateway(values: Mapping[str, Any], sockets: Sequence[Path | None]) -> Iterator[None]:
    """Runs a gateway to a service for the length of the block, if one is wanted and can be had."""
    wanted = values["rest_port"]
    services = [str(socket) for socket in sockets if socket is not None]
    if not services:
        yield
        return
    gateway = Gateway(
        host=values["host"],
        port=wanted,
        admin="",
        services=services,
        origins=values["rest_origins"],
        rate=values["rest_rate"],
    )
    with ExitStack() as closers:
        try:
            closers.enter_context(running_gateway(gateway))
        except (CannotRunGateway, OSError) as error:
            _log.warning("no_gateway", problem=str(error), advice="gRPC is served all the same")
        else:
            _log.info("gateway", rest=f"http://{reachable(values['host'])}:{wanted}/v1", port=wanted)
        yield


def _mended(mend: Callable[[], None] | None) -> None:
    if mend is not None:
        try:
            mend()
        except StoreError as error:
            _log.error("store_away", problem=str(error))


@contextmanager
def _reserved_port(host: str, port: int) -> Iterator[int]:
    """Finds a port that the workers can share, and keeps it from others until they have it.

    Raises:
        CannotListen: the address is taken or not ours.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    except OSError:
        raise CannotListen(f"cannot listen on {host}:{port}: there is no such host") from None
    with socket.socket(family, socket.SOCK_STREAM) as alone, socket.socket(family, socket.SOCK_STREAM) as reserved:
        try:
            alone.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            alone.bind(address)  # without sharing: fails where anybody listens
            chosen = alone.getsockname()[:2]
            alone.close()
            reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
            reserved.bind((*chosen, *address[2:]))
        except OSError:
            raise CannotListen(f"cannot listen on {host}:{port}: is something else serving there?") from None
        yield chosen[1]
