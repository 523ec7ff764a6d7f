"""The composition root: everything a process needs, made in order and closed in reverse."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import grpc
import structlog
from grpc_health.v1 import health

from service.access.tokens import ApiKeys, Keyring
from service.games.kinds import Kind, all_kinds
from service.games.quotas import Quotas
from service.games.repository import Tables
from service.observability.metrics import Metrics
from service.server.settings import Settings
from service.store import Measured, Quota, Store, StoreError, connect
from service.threads.executor import LeanExecutor
from service.transport import handlers as rpc
from service.transport.admission import Admission
from service.transport.auxiliary import Apart
from service.transport.health import Health
from service.transport.reflection import add_reflection
from service.transport.servicer import GameServicer
from service.watching import Watchers
from sodafountain.v1 import game_service_pb2 as pb

if TYPE_CHECKING:  # it imports OpenTelemetry, which may not be there
    from service.observability.tracing import Tracing

SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"].full_name
_TRANSPORT_MAX_REQUEST: Final = 512 * 1024
"""Larger requests are refused by gRPC itself, which keeps what has come of a request in memory until it is whole; up to
here we refuse in our own words, with a reason."""
_TRANSPORT_MAX_RESPONSE: Final = 8 * 1024 * 1024
_OPTIONS: Final = (
    ("grpc.max_receive_message_length", _TRANSPORT_MAX_REQUEST),
    ("grpc.max_send_message_length", _TRANSPORT_MAX_RESPONSE),
    # Probing would let callers send 32 MiB ahead of being read, each.
    ("grpc.http2.bdp_probe", 0),
    ("grpc.max_metadata_size", 16 * 1024),
    ("grpc.absolute_max_metadata_size", 16 * 1024),
    # One connection cannot fill the queue for all; gRPC's clients wait their turn, and proxies open another connection.
    ("grpc.max_concurrent_streams", 256),
)
_APART_THREADS: Final = 2
_MOST_APART: Final = 256
"""How many calls of health, and as many of reflection, may be open at once."""
_MOST_BEING_REFUSED: Final = 256
"""How many calls may be waiting to be refused; beyond these gRPC refuses by itself, without a reason."""
_CHECK_SECONDS: Final = 2.0

_log = structlog.get_logger()


class CannotListen(Exception):
    """The address is taken or not ours, or cannot be told."""


class Server:
    """A running server.

    Attributes:
        port: the port it listens on.
    """

    def __init__(
        self,
        server: grpc.Server,
        admission: Admission,
        state: Health,
        watchers: Watchers,
        port: int,
        drain_seconds: float,
    ) -> None:
        self.port = port
        self._server = server
        self._admission = admission
        self._health = state
        self._watchers = watchers
        self._drain_seconds = drain_seconds

    def drain(self) -> None:
        """Tells everybody to go elsewhere, lets the calls under way finish and returns when they have."""
        _log.info("draining", seconds=self._drain_seconds)
        self._health.draining()
        self._watchers.drain()
        self._admission.close(lambda: self._server.stop(self._drain_seconds)).wait()
        _log.info("drained")


@contextmanager
def bind(
    settings: Settings,
    *,
    metrics: Metrics | None = None,
    watched: Callable[[], None] | None = None,
    kinds: Mapping[str, Kind] | None = None,
    others: Sequence[grpc.GenericRpcHandler] = (),
) -> Iterator[Server]:
    """Starts a server that is SERVING inside the `with` block.

    Args:
        settings: the settings.
        metrics: where to count; nobody sees it without.
        watched: called each second before the look at the store; may raise StoreError.
        kinds: the games to offer; the catalogue's by default.
        others: further services to serve on the same port.

    Raises:
        CannotListen: the address is taken or not ours.
        ValueError: a setting makes no sense.
    """
    with ExitStack() as closers:
        metrics = metrics or Metrics()
        tracing = closers.enter_context(tracing_to(settings.traces_endpoint))
        measured = metrics.stored if tracing is None else _all(metrics.stored, tracing.stored)
        store = connect(settings.store_url, durable_replicas=settings.durable_replicas, measured=measured)
        closers.callback(store.close)
        _look_at(store)
        kinds = all_kinds() if kinds is None else kinds
        tables = Tables(
            store,
            kinds,
            cached=settings.cached_games,
            idle_ms=settings.idle_ms,
            finished_ms=settings.finished_ms,
            quotas=Quotas(store, Quota(settings.max_live_games, settings.max_new_games, settings.new_games_window_ms)),
            metrics=metrics,
        )
        watchers = Watchers(tables, most=settings.max_watchers, heartbeat_seconds=settings.heartbeat_seconds)
        closers.callback(watchers.close)
        servicer = GameServicer(
            tables,
            kinds,
            Keyring(settings.token_keys),
            ApiKeys(settings.api_keys),
            watchers,
            allow_fixed_seed=settings.allow_fixed_seed,
        )
        state = Health(store, watched=watched)

        executor, admission = _door(closers, settings.threads, "rpc", most=settings.max_calls)
        server = grpc.server(
            cast("ThreadPoolExecutor", executor),  # gRPC only submits to it
            options=(*_OPTIONS, ("grpc.so_reuseport", int(settings.share_port))),
            maximum_concurrent_rpcs=settings.max_calls + 2 * _MOST_APART + _MOST_BEING_REFUSED,
        )
        server.add_registered_method_handlers(SERVICE, _handlers(servicer, admission, metrics, tracing))
        state.add_to(server, Apart(*_door(closers, _APART_THREADS, "health", most=_MOST_APART)))
        described = (SERVICE, health.SERVICE_NAME)
        add_reflection(server, described, Apart(*_door(closers, _APART_THREADS, "reflection", most=_MOST_APART)))
        server.add_generic_rpc_handlers(tuple(others))
        port = _listen(server, settings)
        server.start()
        closers.callback(lambda: server.stop(0).wait())
        state.start()
        closers.callback(state.stop)
        state.ready()
        _log.info("serving", host=settings.host, port=port, pid=os.getpid())
        if settings.port_file is not None:
            write_port(settings.port_file, port)
        yield Server(server, admission, state, watchers, port, settings.drain_seconds)


def _door(closers: ExitStack, threads: int, name: str, *, most: int) -> tuple[LeanExecutor, Admission]:
    executor = LeanExecutor(threads, name=name, most=most)
    closers.callback(executor.shutdown)
    admission = Admission(executor)
    closers.callback(admission.end)
    return executor, admission


@contextmanager
def tracing_to(endpoint: str) -> "Iterator[Tracing | None]":
    """Sends spans to a collector for the length of the block if there is one; see `service.observability.tracing`.

    Raises:
        ValueError: the endpoint is none, one of OpenTelemetry's variables makes no sense, or the extra `traces` is
            not installed.
    """
    if not endpoint:
        yield None
        return
    try:
        from service.observability.tracing import tracing
    except ModuleNotFoundError:
        raise ValueError(
            "a traces endpoint is set, but OpenTelemetry is not installed: "
            "install the extra `traces`, or leave the endpoint out"
        ) from None
    with tracing(endpoint) as made:
        yield made


def _all(*measured: Measured) -> Measured:
    def tell(operation: str, outcome: str, seconds: float) -> None:
        for each in measured:
            each(operation, outcome, seconds)

    return tell


def _handlers(
    servicer: GameServicer, admission: Admission, metrics: Metrics, tracing: "Tracing | None"
) -> "dict[str, grpc.RpcMethodHandler[bytes, bytes]]":
    common = (admission, metrics, tracing)
    return {
        "NewGame": rpc.unary("NewGame", pb.NewGameRequest, servicer.new_game, *common, changes=True),
        "LegalMoves": rpc.unary("LegalMoves", pb.LegalMovesRequest, servicer.legal_moves, *common),
        "ApplyMove": rpc.unary("ApplyMove", pb.ApplyMoveRequest, servicer.apply_move, *common, changes=True),
        "Score": rpc.unary("Score", pb.ScoreRequest, servicer.score, *common),
        "GetGame": rpc.unary("GetGame", pb.GetGameRequest, servicer.get_game, *common),
        "WatchGame": rpc.watching("WatchGame", pb.WatchGameRequest, servicer.watch_game, *common),
        "GetHistory": rpc.unary("GetHistory", pb.GetHistoryRequest, servicer.get_history, *common),
        "ListGameKinds": rpc.unary("ListGameKinds", pb.ListGameKindsRequest, servicer.list_game_kinds, *common),
        "DeleteGame": rpc.unary("DeleteGame", pb.DeleteGameRequest, servicer.delete_game, *common, changes=True),
    }


def _look_at(store: Store) -> None:
    """Tells the operator about the store; a store that is away now may come later."""
    try:
        checked = store.check(timeout=_CHECK_SECONDS)
    except StoreError as error:
        _log.error("store_away", problem=str(error))
        return
    _log.info("store", server=checked.server)
    for warning in checked.warnings:
        _log.warning("store_warning", problem=warning)


def _listen(server: grpc.Server, settings: Settings) -> int:
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    try:
        port = server.add_insecure_port(f"{host}:{settings.port}")
    except RuntimeError:
        port = 0
    if not port:
        raise CannotListen(f"cannot listen on {settings.host}:{settings.port}: is something else serving there?")
    if settings.socket is not None:
        try:
            server.add_insecure_port(f"unix:{settings.socket}")
        except RuntimeError:
            raise CannotListen(f"cannot listen on {settings.socket}: may sockets be made there?") from None
    return port


def write_port(path: Path, port: int) -> None:
    """Writes the port to a file, whole or not at all.

    Raises:
        CannotListen: it cannot be written.
    """
    fresh = path.with_suffix(f".{os.getpid()}")
    try:
        fresh.write_text(f"{port}\n")
        fresh.replace(path)
    except OSError as error:
        raise CannotListen(f"cannot write the port to {path}: {error.strerror}") from None
