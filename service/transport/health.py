"""The standard gRPC health service.

| service name | SERVING means |
|---|---|
| `` (empty), `sodafountain.v1.GameService` | readiness: this process accepts calls |
| `store` | the store answers |
| `liveness` | the process is alive; depends on nothing else |

Readiness does not depend on the store: otherwise all replicas would be removed at the same time while the store is
unavailable, and callers would get connection errors instead of a response with the reason.
"""

import threading
from collections.abc import Callable
from typing import Any, Final

import grpc
import structlog
from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from service.contract import GAME_SERVICE
from service.contract import errors_pb2 as pb
from service.store import StoreAdministration, StoreError
from service.transport.auxiliary import AuxiliaryThreads
from service.transport.errors import StatusError

READINESS: Final = ("", GAME_SERVICE)
STORE: Final = "store"
LIVENESS: Final = "liveness"
CHECK_SECONDS: Final = 1.0
"""Interval and timeout of the checks of the store."""

_NAMES: Final = (*READINESS, STORE, LIVENESS)
_MAX_WATCHES: Final = 1000

_SERVING = HealthCheckResponse.SERVING
_NOT_SERVING = HealthCheckResponse.NOT_SERVING
_log = structlog.get_logger()


class _Servicer(health.HealthServicer):
    """gRPC's servicer, with Watch streams that can be ended: open ones would prolong draining to its limit."""

    def __init__(self) -> None:
        super().__init__()
        self._ends: set[Callable[[], None]] = set()

    def Watch(  # noqa: N802 - gRPC's name
        self, request: HealthCheckRequest, context: grpc.ServicerContext, send_response_callback: Any = None
    ) -> Any:
        """Send the status of a service now and whenever it changes.

        Raises:
            StatusError: LIMIT, the server has the maximum number of watches.
        """
        if len(self._ends) >= _MAX_WATCHES:
            raise StatusError(pb.ERROR_REASON_LIMIT, "The server has the maximum number of health watches: use Check.")
        ended = threading.Lock()

        def send(response: HealthCheckResponse | None) -> None:
            if response is not None or ended.acquire(blocking=False):  # None ends the stream; it must be sent once
                send_response_callback(response)

        def end() -> None:
            send(None)

        self._ends.add(end)
        if not context.add_callback(lambda: self._ends.discard(end)):  # the caller has disconnected
            self._ends.discard(end)
        elif request.service in _NAMES:
            super().Watch(request, context, send)
        else:  # gRPC's servicer would keep every unknown name forever
            send(HealthCheckResponse(status=HealthCheckResponse.SERVICE_UNKNOWN))

    def end_streams(self) -> None:
        """End every Watch stream."""
        for end in self._ends.copy():  # atomic, while callers come and go
            end()


class Health:
    """The health service, and the thread that checks the store.

    Args:
        store: the store to check.
        before_check: called before each check; may raise StoreError.
    """

    def __init__(self, store: StoreAdministration, *, before_check: Callable[[], None] | None = None) -> None:
        self.servicer = _Servicer()
        for name in READINESS:
            self.servicer.set(name, _NOT_SERVING)
        self.servicer.set(LIVENESS, _SERVING)
        self.servicer.set(STORE, HealthCheckResponse.UNKNOWN)
        self._store = store
        self._before_check = before_check
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._check, name="health", daemon=True)

    def add_to(self, server: grpc.Server, threads: AuxiliaryThreads) -> None:
        """Add the health service to a server."""
        handlers: dict[str, grpc.RpcMethodHandler[bytes, HealthCheckResponse]] = {
            "Check": grpc.stream_unary_rpc_method_handler(
                threads.single_request(HealthCheckRequest, self.servicer.Check),
                response_serializer=HealthCheckResponse.SerializeToString,
            ),
            "Watch": grpc.stream_stream_rpc_method_handler(
                threads.single_request(HealthCheckRequest, self.servicer.Watch, non_blocking=True),
                response_serializer=HealthCheckResponse.SerializeToString,
            ),
        }
        server.add_registered_method_handlers(health.SERVICE_NAME, handlers)

    def start(self) -> None:
        """Start checking the store."""
        self._thread.start()

    def set_ready(self) -> None:
        """Report that this process accepts calls."""
        for name in READINESS:
            self.servicer.set(name, _SERVING)

    def set_draining(self) -> None:
        """Report that this process accepts no more calls, and end all Watch streams."""
        for name in READINESS:
            self.servicer.set(name, _NOT_SERVING)
        self.servicer.end_streams()

    def stop(self) -> None:
        """Stop checking the store."""
        self._stopping.set()
        self._thread.join()

    def _check(self) -> None:
        was_available: bool | None = None
        while True:
            available = self._store_answers()
            if available != was_available:
                self.servicer.set(STORE, _SERVING if available else _NOT_SERVING)
                if not available:
                    _log.error("store_away")
                elif was_available is not None:
                    _log.info("store_back")
                was_available = available
            if self._stopping.wait(CHECK_SECONDS):
                return

    def _store_answers(self) -> bool:
        try:
            if self._before_check is not None:
                self._before_check()
            self._store.ping(timeout=CHECK_SECONDS)
        except StoreError:
            return False
        return True
