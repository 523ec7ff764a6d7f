"""The composition root: builds everything a process needs, in order, and closes it in reverse order."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import grpc
import structlog
from grpc_health.v1 import health

from service.access import ApiKeys, Keyring
from service.contract import GAME_SERVICE
from service.contract import game_service_pb2 as pb
from service.games import GameRepository, Kind, Quotas, Values, all_kinds
from service.games.formats import cipher_of, fingerprints
from service.games.reservations import Reservations
from service.network import CannotListen
from service.observability.metrics import Metrics
from service.server.active_format import ActiveFormat
from service.server.listening import add_port, listen, max_connections, server_options
from service.server.settings import Settings
from service.store import AccessDenied, Observer, Quota, Store, StoreError, connect
from service.threads import LeanExecutor
from service.translation import Projection, Translation, all_translations
from service.transport.admission import Admission
from service.transport.auxiliary import AuxiliaryThreads
from service.transport.call import MAX_SECONDS
from service.transport.handlers import Common, server_stream, unary
from service.transport.health import Health
from service.transport.reflection import add_reflection
from service.transport.servicer import GameServicer
from service.transport.undelivered import Undelivered
from service.watching import Limits, Watchers

if TYPE_CHECKING:  # it imports OpenTelemetry, which is optional
    from service.observability.tracing import Tracing

_AUXILIARY_THREADS: Final = 2
_MAX_AUXILIARY_CALLS: Final = 256
"""The maximum number of open calls to the health service, and to reflection."""
_MAX_REJECTIONS: Final = 256
"""The maximum number of calls that wait for their rejection; gRPC rejects further calls without a reason."""
_CHECK_SECONDS: Final = 2.0
_PROVISIONAL_MS: Final = int(MAX_SECONDS * 1000) + 1000

_log = structlog.get_logger()


class CannotUseStore(Exception):
    """The store refuses the user, or does not grant it every right; the text says which."""


class Server:
    """A running server.

    Attributes:
        port: the port it listens on.
    """

    def __init__(
        self,
        server: grpc.Server,
        admission: Admission,
        health: Health,
        watchers: Watchers,
        port: int,
        drain_seconds: float,
    ) -> None:
        self.port = port
        self._server = server
        self._admission = admission
        self._health = health
        self._watchers = watchers
        self._drain_seconds = drain_seconds

    def drain(self) -> None:
        """Reject new calls, end all streams, and return when the calls in progress have finished."""
        _log.info("draining", seconds=self._drain_seconds)
        self._health.set_draining()
        self._watchers.drain()
        self._admission.close(lambda: self._server.stop(self._drain_seconds)).wait()
        _log.info("drained")


@contextmanager
def bind(
    settings: Settings,
    *,
    metrics: Metrics | None = None,
    before_store_check: Callable[[], None] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    translations: Mapping[str, Translation] | None = None,
    more_handlers: Sequence[grpc.GenericRpcHandler] = (),
) -> Iterator[Server]:
    """Run a server that is SERVING within the block.

    Args:
        settings: the settings.
        metrics: the metrics that count the calls.
        before_store_check: called every second before the store is checked; may raise StoreError.
        kinds: the kinds of game to offer; by default those of the engine's catalogue.
        translations: their translations.
        more_handlers: further services to serve on the same port.

    Raises:
        CannotListen: the address is in use or not local.
        CannotReadCertificate: the certificate for TLS is not valid.
        CannotUseStore: the store refuses the user, or does not grant it every right.
        FormatNotSupported: this release cannot write the active format of the store.
        ValueError: a setting is invalid.
    """
    with ExitStack() as closers:
        metrics = metrics or Metrics()
        tracing = closers.enter_context(tracing_to(settings.traces_endpoint))
        observer = metrics.stored if tracing is None else _combined(metrics.stored, tracing.stored)
        store = connect(settings.store_url, durable_replicas=settings.durable_replicas, observer=observer)
        closers.callback(store.close)
        check_store(store)
        if settings.encryption_keys:
            _log.info("encryption_on", fingerprints=fingerprints(settings.encryption_keys))
        active_format = closers.enter_context(ActiveFormat(store.administration))
        kinds = all_kinds() if kinds is None else kinds
        translations = all_translations(kinds) if translations is None else translations
        projection = Projection(translations)
        quotas = Quotas(
            store.quotas, Quota(settings.max_live_games, settings.max_new_games, settings.new_games_window_ms)
        )
        games = GameRepository(
            store.games,
            Values(kinds, active_format=active_format.number, cipher=cipher_of(settings.encryption_keys)),
            reservations=Reservations(store.reservations, quotas, provisional_ms=_PROVISIONAL_MS),
            quotas=quotas,
            counters=metrics,
            cached=settings.cached_games,
            idle_ms=settings.idle_ms,
            finished_ms=settings.finished_ms,
        )
        limits = Limits.of(
            settings.max_watchers,
            spectators=settings.max_spectators,
            spectators_per_game=settings.max_spectators_per_game,
            per_caller=settings.max_watchers_per_caller,
        )
        watchers = Watchers(games, projection, limits=limits, heartbeat_seconds=settings.heartbeat_seconds)
        closers.callback(watchers.close)
        servicer = GameServicer(
            games,
            kinds,
            translations,
            projection,
            Keyring(settings.token_keys),
            ApiKeys(settings.api_keys),
            watchers,
            trusted_proxies=settings.trusted_proxies,
            allow_fixed_seed=settings.allow_fixed_seed,
        )
        health_service = Health(store.administration, before_check=before_store_check)

        undelivered = Undelivered()
        executor, admission = _admission(closers, undelivered, settings.threads, "rpc", limit=settings.max_calls)
        server = grpc.server(
            cast("ThreadPoolExecutor", executor),  # gRPC only submits to it
            options=server_options(settings, max_connections(settings.max_connections)),
            maximum_concurrent_rpcs=settings.max_calls + 2 * _MAX_AUXILIARY_CALLS + _MAX_REJECTIONS,
        )
        server.add_registered_method_handlers(GAME_SERVICE, _handlers(servicer, Common(admission, metrics, tracing)))
        health_threads = _auxiliary_threads(closers, undelivered, "health")
        health_service.add_to(server, health_threads)
        add_reflection(
            server, (GAME_SERVICE, health.SERVICE_NAME), _auxiliary_threads(closers, undelivered, "reflection")
        )
        server.add_generic_rpc_handlers(tuple(more_handlers))
        port = listen(server, settings)
        server.start()
        closers.callback(lambda: server.stop(0).wait())
        _serve_health(closers, settings, health_service, health_threads)
        health_service.start()
        closers.callback(health_service.stop)
        health_service.set_ready()
        _log.info("serving", host=settings.host, port=port, pid=os.getpid())
        if settings.port_file is not None:
            write_port(settings.port_file, port)
        yield Server(server, admission, health_service, watchers, port, settings.drain_seconds)


def _serve_health(closers: ExitStack, settings: Settings, health_service: Health, threads: AuxiliaryThreads) -> None:
    """Serve health checks on a port of their own, if one is set: its connections are counted separately.

    Raises:
        CannotListen: the address is in use or not local.
    """
    if settings.health_port is None:
        return
    executor = LeanExecutor(0, name="health-port")  # the handlers bring their own threads
    closers.callback(executor.shutdown)
    server = grpc.server(
        cast("ThreadPoolExecutor", executor),
        options=server_options(settings, _MAX_AUXILIARY_CALLS),
        maximum_concurrent_rpcs=_MAX_AUXILIARY_CALLS + _MAX_REJECTIONS,
    )
    health_service.add_to(server, threads)
    add_port(server, settings.host, settings.health_port)
    server.start()
    closers.callback(lambda: server.stop(0).wait())


def _admission(
    closers: ExitStack, undelivered: Undelivered, threads: int, name: str, *, limit: int
) -> tuple[LeanExecutor, Admission]:
    executor = LeanExecutor(threads, name=name, limit=limit)
    closers.callback(executor.shutdown)
    admission = Admission(executor, undelivered)
    closers.callback(admission.stop)
    return executor, admission


def _auxiliary_threads(closers: ExitStack, undelivered: Undelivered, name: str) -> AuxiliaryThreads:
    return AuxiliaryThreads(*_admission(closers, undelivered, _AUXILIARY_THREADS, name, limit=_MAX_AUXILIARY_CALLS))


@contextmanager
def tracing_to(endpoint: str) -> "Iterator[Tracing | None]":
    """Send spans to a collector within the block, if `endpoint` is not empty; see `service.observability.tracing`.

    Raises:
        ValueError: the endpoint or one of OpenTelemetry's variables is invalid, or the extra `traces` is missing.
    """
    if not endpoint:
        yield None
        return
    try:
        from service.observability.tracing import tracing
    except ModuleNotFoundError:
        raise ValueError(
            "a traces endpoint is set, but OpenTelemetry is not installed: "
            "install the extra `traces`, or remove the endpoint"
        ) from None
    with tracing(endpoint) as active:
        yield active


def _combined(*observers: Observer) -> Observer:
    def observe(operation: str, outcome: str, seconds: float) -> None:
        for observer in observers:
            observer(operation, outcome, seconds)

    return observe


def _handlers(of: GameServicer, common: Common) -> "dict[str, grpc.RpcMethodHandler[bytes, bytes]]":
    return {
        "NewGame": unary("NewGame", pb.NewGameRequest, of.creator, of.new_game, common, writes=True),
        "LegalMoves": unary("LegalMoves", pb.LegalMovesRequest, of.player, of.legal_moves, common),
        "ApplyMove": unary("ApplyMove", pb.ApplyMoveRequest, of.player, of.apply_move, common, writes=True),
        "Score": unary("Score", pb.ScoreRequest, of.viewer, of.score, common),
        "GetGame": unary("GetGame", pb.GetGameRequest, of.viewer, of.get_game, common),
        "WatchGame": server_stream("WatchGame", pb.WatchGameRequest, of.viewer, of.watch_game, common),
        "GetHistory": unary("GetHistory", pb.GetHistoryRequest, of.viewer, of.get_history, common),
        "ListGameKinds": unary("ListGameKinds", pb.ListGameKindsRequest, of.anyone, of.list_game_kinds, common),
        "DeleteGame": unary("DeleteGame", pb.DeleteGameRequest, of.player, of.delete_game, common, writes=True),
    }


def check_store(store: Store) -> None:
    """Log what the store reports about itself. A store that is unavailable now may become available later.

    Raises:
        CannotUseStore: the store refuses the user, or does not grant it every right.
    """
    try:
        report = store.administration.check(timeout=_CHECK_SECONDS)
    except AccessDenied as error:
        raise CannotUseStore(f"the store refuses the user of the store URL: {error}") from None
    except StoreError as error:
        _log.error("store_away", problem=str(error))
        return
    if report.missing_rights:
        raise CannotUseStore(
            f"the user of the store URL lacks rights: {' '.join(report.missing_rights)} (docs/operate.md lists all)"
        )
    _log.info("store", server=report.server)
    for warning in report.warnings:
        _log.warning("store_warning", problem=warning)


def write_port(path: Path, port: int) -> None:
    """Write the port to a file, atomically.

    Raises:
        CannotListen: the file cannot be written.
    """
    temporary = path.with_suffix(f".{os.getpid()}")
    try:
        temporary.write_text(f"{port}\n")
        temporary.replace(path)
    except OSError as error:
        raise CannotListen(f"cannot write the port to {path}: {error.strerror}") from None
