"""Traces: a span a call for a collector of OpenTelemetry, with one below it for each question to the store.

Imported only where a collector is named: OpenTelemetry is an optional extra, and whoever wants no traces pays nothing.

Spans say what log lines say: methods, outcomes, ids of games and calls. A token, a request id, a seed, a move or a
view never becomes an attribute. Of what callers send, the ids of their trace alone are taken over.
"""

import logging
import os
import re
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final

import grpc
import structlog
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service.transport.call import Call
from sodafountain.v1 import game_service_pb2 as pb

_FLUSH_SECONDS: Final = 2.0
"""How long the end of the process may be put off for the last spans."""
_GIVE_UP_SECONDS: Final = 2.0
"""And then for counting what is given up, which takes no time unless something hangs."""
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"].full_name
_FAILED: Final = frozenset(
    {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN}
)
"""The statuses of which a service and not its caller is to blame (OpenTelemetry's conventions for RPC)."""
_ENDPOINT: Final = re.compile(r"https?://(\[[0-9a-f:.%]+\]|[^\s/?#@:\[\]]+)(:(?P<port>[0-9]+))?/?", re.IGNORECASE)

_log = structlog.get_logger()
_propagator = TraceContextTextMapPropagator()


class Trace:
    """The span of a call.

    Attributes:
        trace_id: the trace that it belongs to: the caller's if there is one. 32 hexadecimal digits.
    """

    def __init__(self, span: Span) -> None:
        self.trace_id = format_trace_id(span.get_span_context().trace_id)
        self._span = span

    def end(self, call: Call, code: grpc.StatusCode, reason: str = "") -> None:
        """Ends it with what has become known of the call."""
        span = self._span
        if span.is_recording():
            facts: dict[str, str | int] = {
                "rpc.grpc.status_code": code.value[0],
                "sodafountain.call_id": call.call_id,
                "sodafountain.reason": reason,
                "sodafountain.game_id": call.game_id,
                "sodafountain.game_kind": call.kind,
            }
            span.set_attributes({name: fact for name, fact in facts.items() if fact != ""})
            if code in _FAILED:
                span.set_status(StatusCode.ERROR)
        span.end()


class Tracing:
    """Makes spans. All threads may use it at once.

    Args:
        tracer: what makes them.
        joins: whether calls belong to their callers' traces; if not, each begins one of its own.
    """

    def __init__(self, tracer: Tracer, *, joins: bool) -> None:
        self._tracer = tracer
        self._joins = joins
        self._current = threading.local()

    def begin(self, method: str, context: grpc.ServicerContext) -> Trace:
        """Begins the span of this thread's call: in its caller's trace, if it may and a good `traceparent` was sent."""
        sent = {key: value for key, value in context.invocation_metadata() if self._joins and key == "traceparent"}
        span = self._tracer.start_span(
            f"{_SERVICE}/{method}",
            _propagator.extract(sent),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": _SERVICE, "rpc.method": method},
        )
        self._current.span = span
        return Trace(span)

    def stored(self, operation: str, outcome: str, seconds: float) -> None:
        """Notes a question to the store that is over, below the call that this thread works on, if it does."""
        span: Span | None = getattr(self._current, "span", None)
        if span is None or not span.is_recording():
            return
        now = time.time_ns()
        asked = self._tracer.start_span(
            f"store {operation}",
            set_span_in_context(span),
            SpanKind.CLIENT,
            {"db.system.name": "redis", "db.operation.name": operation, "sodafountain.outcome": outcome},
            start_time=now - int(seconds * 1e9),
        )
        if outcome != "ok":
            asked.set_status(StatusCode.ERROR)
        asked.end(now)


@contextmanager
def tracing(endpoint: str) -> Iterator[Tracing]:
    """Sends spans to a collector for the length of the block, in the background. What it does not take is dropped.

    OpenTelemetry's own variables say the rest: OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS, …

    Args:
        endpoint: where it takes OTLP over gRPC: `http://host:port`, or `https://` for TLS.

    Raises:
        ValueError: the endpoint is none, or one of OpenTelemetry's variables makes no sense.
    """
    check(endpoint)
    provider, exporter = _provider(endpoint)
    try:
        yield Tracing(provider.get_tracer("sodafountain"), joins=_joins())
    finally:
        # It would wait half a minute for a collector that hangs.
        flushing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
        flushing.start()
        flushing.join(_FLUSH_SECONDS)
        exporter.shutdown()  # gives up what is still being sent
        flushing.join(_GIVE_UP_SECONDS)
        exporter.tell_rest()


def check(endpoint: str) -> None:
    """Makes sure that an endpoint can be one.

    Raises:
        ValueError: it cannot. The message never holds a password.
    """
    wanted = "the traces endpoint must be like http://collector:4317"
    if set("@?#") & set(endpoint):  # what is written there may be secret
        raise ValueError(f"{wanted}, with nothing beside host and port: keys belong into OTEL_EXPORTER_OTLP_HEADERS")
    found = _ENDPOINT.fullmatch(endpoint)
    if found is None or not 0 < int(found["port"] or 443) < 2**16:
        raise ValueError(f"{wanted}, not {endpoint!r}")


def _joins() -> bool:
    named = {name.strip().lower() for name in (os.environ.get("OTEL_PROPAGATORS") or "tracecontext").split(",")}
    return "tracecontext" in named and "none" not in named


def _provider(endpoint: str) -> "tuple[TracerProvider, _Exporter]":
    """Makes what OpenTelemetry's variables ask for.

    Raises:
        ValueError: one of them makes no sense. OpenTelemetry itself would log most of that and go on without.
    """
    ours = Resource(
        {
            "service.name": "sodafountain",
            "service.version": version("sodafountain-service"),
            "service.instance.id": str(uuid.uuid4()),
        }
    )
    complaints = _Complaints()
    logger = logging.getLogger("opentelemetry")
    logger.setLevel(logging.WARNING)
    logger.addHandler(complaints)
    logger.propagate = False  # what is complained about is told once, as an error
    try:
        room = _whole_number("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
        provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
        exporter = _Exporter(endpoint, room)
        provider.add_span_processor(_Processor(exporter, room))
    except Exception as error:  # noqa: BLE001 - theirs have no common class
        raise ValueError(f"a variable of OpenTelemetry's makes no sense: {error}") from None
    finally:
        logger.removeHandler(complaints)
        logger.propagate = True
        logger.setLevel(logging.CRITICAL)  # from here on `_Exporter` tells of what is worth telling
    if complaints.heard:
        provider.shutdown()
        raise ValueError(f"a variable of OpenTelemetry's makes no sense: {complaints.heard[0]}")
    return provider, exporter


def _whole_number(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    try:
        return int(value) if value else default
    except ValueError:
        raise ValueError(f"{variable} is no whole number: {value!r}") from None


class _Complaints(logging.Handler):
    """Hears what OpenTelemetry logs in this thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.heard: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Keeps it, except for the value of a header, which may be secret."""
        if record.thread == self._thread:
            secret = record.name == "opentelemetry.util.re"
            self.heard.append("OTEL_EXPORTER_OTLP_HEADERS is not like key=value" if secret else record.getMessage())


class _Exporter(OTLPSpanExporter):
    """Sends spans, and logs how many were lost: those that it could not send and those that found no room.

    Args:
        endpoint: where it sends them.
        room: how many may wait.
    """

    def __init__(self, endpoint: str, room: int) -> None:
        super().__init__(endpoint=endpoint)
        self._lock = threading.Lock()
        self._room = room
        self._waiting = 0
        self._turned_away = 0

    def admits(self) -> bool:
        """Counts a span in that would wait, or as lost if there is no room."""
        with self._lock:
            if self._waiting < self._room:
                self._waiting += 1
                return True
            self._turned_away += 1
            return False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends a batch; tries again for some seconds."""
        with self._lock:
            self._waiting -= len(spans)
        lost = len(spans)
        try:
            result = super().export(spans)
            if result is SpanExportResult.SUCCESS:
                lost = 0
            return result
        finally:
            self._tell(lost)

    def tell_rest(self) -> None:
        """Logs what was lost and not yet told."""
        with self._lock:
            left, self._waiting = self._waiting, 0
        self._tell(left)

    def _tell(self, lost: int) -> None:
        with self._lock:
            lost += self._turned_away
            self._turned_away = 0
        if lost:
            _log.warning("traces_lost", spans=lost)


class _Processor(BatchSpanProcessor):
    """Lets spans wait to be sent. By itself it would drop those that have no room in silence."""

    def __init__(self, exporter: _Exporter, room: int) -> None:
        super().__init__(exporter, max_queue_size=room)
        self._admits = exporter.admits

    def on_end(self, span: ReadableSpan) -> None:
        """Takes a span that is over, if there is room."""
        if span.context and span.context.trace_flags.sampled and self._admits():
            super().on_end(span)
