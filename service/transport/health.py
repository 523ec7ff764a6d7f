"""Health, as gRPC's health protocol tells it.

| service asked for | SERVING means |
|---|---|
| `` (empty), `sodafountain.v1.GameService` | readiness: this process accepts calls |
| `store` | the store answers |
| `liveness` | the process is alive; depends on nothing else |

Readiness does not depend on the store: while it is away every replica would drop out at once, and callers would get
connection errors where they now get an answer that tells them what is the matter.
"""

import threading
from collections.abc import Callable
from typing import Any, Final

import grpc
import structlog
from grpc_health.v1 import health
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse

from service.store import Store, StoreError
from service.transport.auxiliary import Apart
from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb

READINESS: Final = ("", "sodafountain.v1.GameService")
STORE: Final = "store"
LIVENESS: Final = "liveness"
PERIOD: Final = 1.0
"""Seconds between two looks at the store."""

_NAMES: Final = (*READINESS, STORE, LIVENESS)
_MOST_WATCHES: Final = 1000

_SERVING = HealthCheckResponse.SERVING
_NOT_SERVING = HealthCheckResponse.NOT_SERVING
_log = structlog.get_logger()


class _Servicer(health.HealthServicer):
    """gRPC's own, but its Watch streams can be ended: open ones make draining last as long as it may."""

    def __init__(self) -> None:
        super().__init__()
        self._ends: set[Callable[[], None]] = set()

    def Watch(  # noqa: N802 - gRPC's name
        self, request: HealthCheckRequest, context: grpc.ServicerContext, send_response_callback: Any = None
    ) -> Any:
        """Sends the status of a service now and whenever it changes.

        Raises:
            Refusal: LIMIT, as many watch already as may.
        """
        if len(self._ends) >= _MOST_WATCHES:
            raise Refusal(pb.ERROR_REASON_LIMIT, "Too many watches of health are open at this server: use Check.")
        once = threading.Lock()

        def send(response: HealthCheckResponse | None) -> None:
            if response is not None or once.acquire(blocking=False):  # None ends the stream, which can be done once
                send_response_callback(response)

        def end() -> None:
            send(None)

        self._ends.add(end)
        if not context.add_callback(lambda: self._ends.discard(end)):  # the caller has gone
            self._ends.discard(end)
        elif request.service in _NAMES:
            super().Watch(request, context, send)
        else:  # which gRPC's own would remember for ever, by a name that anybody may make up
            send(HealthCheckResponse(status=HealthCheckResponse.SERVICE_UNKNOWN))

    def end_streams(self) -> None:
        """Ends every Watch stream."""
        for end in tuple(self._ends):
            end()


class Health:
    """The health service and the thread that watches the store."""

    def __init__(self, store: Store, *, watched: Callable[[], None] | None = None) -> None:
        """`watched`, if given, is called before each look at the store, and may raise StoreError."""
        self.servicer = _Servicer()
        for name in READINESS:
            self.servicer.set(name, _NOT_SERVING)
        self.servicer.set(LIVENESS, _SERVING)
        self.servicer.set(STORE, HealthCheckResponse.UNKNOWN)
        self._store = store
        self._watched = watched
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="health", daemon=True)

    def add_to(self, server: grpc.Server, apart: Apart) -> None:
        """Offers the health service on a server, apart from its games."""
        handlers: dict[str, grpc.RpcMethodHandler[bytes, HealthCheckResponse]] = {
            "Check": grpc.stream_unary_rpc_method_handler(
                apart.of_one(HealthCheckRequest, self.servicer.Check),
                response_serializer=HealthCheckResponse.SerializeToString,
            ),
            "Watch": grpc.stream_stream_rpc_method_handler(
                apart.of_one(HealthCheckRequest, self.servicer.Watch, non_blocking=True),
                response_serializer=HealthCheckResponse.SerializeToString,
            ),
        }
        server.add_registered_method_handlers(health.SERVICE_NAME, handlers)

    def start(self) -> None:
        """Starts watching the store."""
        self._thread.start()

    def ready(self) -> None:
        """Tells that this process accepts calls."""
        for name in READINESS:
            self.servicer.set(name, _SERVING)

    def draining(self) -> None:
        """Tells that this process accepts no more calls, and ends the streams of those who watch."""
        for name in READINESS:
            self.servicer.set(name, _NOT_SERVING)
        self.servicer.end_streams()

    def stop(self) -> None:
        """Stops watching the store."""
        self._stopping.set()
        self._thread.join()

    def _watch(self) -> None:
        was: bool | None = None
        while True:
            answers = self._store_answers()
            if answers != was:
                self.servicer.set(STORE, _SERVING if answers else _NOT_SERVING)
                if not answers:
                    _log.error("store_away")
                elif was is not None:
                    _log.info("store_back")
                was = answers
            if self._stopping.wait(PERIOD):
                return

    def _store_answers(self) -> bool:
        try:
            if self._watched is not None:
                self._watched()
            self._store.ping(timeout=PERIOD)
        except StoreError:
            return False
        return True
