"""Traces: a span per call for an OpenTelemetry collector, with a child span per store operation.

Imported only if a collector is configured: OpenTelemetry is an optional extra.

Spans contain what log lines contain: methods, outcomes, ids of games and calls. Tokens, request ids, seeds, moves and
views never become attributes. Only the trace ids of the caller's metadata are used.
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

from service.contract import GAME_SERVICE

_FLUSH_SECONDS: Final = 2.0
"""The maximum time that the process waits at its end for the last spans to be sent."""
_GIVE_UP_SECONDS: Final = 2.0
"""The maximum time that it then waits for the count of the lost spans, which is immediate unless something hangs."""
_FAILED: Final = frozenset(
    {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN}
)
"""The statuses that mark a failure of the server (OpenTelemetry's semantic conventions for RPC)."""
_ENDPOINT: Final = re.compile(r"https?://(\[[0-9a-f:.%]+\]|[^\s/?#@:\[\]]+)(:(?P<port>[0-9]+))?/?", re.IGNORECASE)

_log = structlog.get_logger()
_propagator = TraceContextTextMapPropagator()


class Trace:
    """The span of a call.

    Attributes:
        trace_id: the id of its trace, 32 hexadecimal digits. It is the caller's trace if the caller sent one.
    """

    def __init__(self, span: Span) -> None:
        self.trace_id = format_trace_id(span.get_span_context().trace_id)
        self._span = span

    def end(self, code: grpc.StatusCode, *, call_id: str, reason: str, game_id: str, game_kind: str) -> None:
        """End the span. Empty strings are not recorded."""
        span = self._span
        if span.is_recording():
            attributes: dict[str, str | int] = {
                "rpc.grpc.status_code": code.value[0],
                "sodafountain.call_id": call_id,
                "sodafountain.reason": reason,
                "sodafountain.game_id": game_id,
                "sodafountain.game_kind": game_kind,
            }
            span.set_attributes({name: value for name, value in attributes.items() if value != ""})
            if code in _FAILED:
                span.set_status(StatusCode.ERROR)
        span.end()


class Tracing:
    """Creates spans. Thread-safe.

    Args:
        tracer: creates the spans.
        joins: whether calls join the traces of their callers; otherwise each starts a trace.
    """

    def __init__(self, tracer: Tracer, *, joins: bool) -> None:
        self._tracer = tracer
        self._joins = joins
        self._current = threading.local()

    def begin(self, method: str, context: grpc.ServicerContext) -> Trace:
        """Start the span of this thread's call, in the caller's trace if this is enabled and `traceparent` is valid."""
        sent = {key: value for key, value in context.invocation_metadata() if self._joins and key == "traceparent"}
        span = self._tracer.start_span(
            f"{GAME_SERVICE}/{method}",
            _propagator.extract(sent),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": GAME_SERVICE, "rpc.method": method},
        )
        self._current.span = span
        return Trace(span)

    def stored(self, operation: str, outcome: str, seconds: float) -> None:
        """Record a finished store operation as a child of the span of this thread's call, if there is one."""
        span: Span | None = getattr(self._current, "span", None)
        if span is None or not span.is_recording():
            return
        now = time.time_ns()
        child = self._tracer.start_span(
            f"store {operation}",
            set_span_in_context(span),
            SpanKind.CLIENT,
            {"db.system.name": "redis", "db.operation.name": operation, "sodafountain.outcome": outcome},
            start_time=now - int(seconds * 1e9),
        )
        if outcome != "ok":
            child.set_status(StatusCode.ERROR)
        child.end(now)


@contextmanager
def tracing(endpoint: str) -> Iterator[Tracing]:
    """Send spans to a collector within the block, in the background. Spans that it does not accept are dropped.

    OpenTelemetry's environment variables configure the rest: OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER,
    OTEL_EXPORTER_OTLP_HEADERS, …

    Args:
        endpoint: the collector's OTLP endpoint over gRPC: `http://host:port`, or `https://` for TLS.

    Raises:
        ValueError: the endpoint or one of OpenTelemetry's variables is invalid.
    """
    check(endpoint)
    provider, exporter = _provider(endpoint)
    try:
        yield Tracing(provider.get_tracer("sodafountain"), joins=_joins())
    finally:
        # The provider itself would wait half a minute for a collector that hangs.
        flushing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
        flushing.start()
        flushing.join(_FLUSH_SECONDS)
        exporter.shutdown()  # cancels what is still being sent
        flushing.join(_GIVE_UP_SECONDS)
        exporter.log_lost()


def check(endpoint: str) -> None:
    """Check an endpoint.

    Raises:
        ValueError: the endpoint is invalid. The message never contains a password.
    """
    expected = "the traces endpoint must have the form http://collector:4317"
    if set("@?#") & set(endpoint):  # these parts may be secret
        raise ValueError(f"{expected}, with host and port only: keys belong in OTEL_EXPORTER_OTLP_HEADERS")
    found = _ENDPOINT.fullmatch(endpoint)
    if found is None or not 0 < int(found["port"] or 443) < 2**16:
        raise ValueError(f"{expected}, not {endpoint!r}")


def _joins() -> bool:
    names = {name.strip().lower() for name in (os.environ.get("OTEL_PROPAGATORS") or "tracecontext").split(",")}
    return "tracecontext" in names and "none" not in names


def _provider(endpoint: str) -> "tuple[TracerProvider, _Exporter]":
    """Create the provider that OpenTelemetry's variables describe.

    Raises:
        ValueError: a variable is invalid. OpenTelemetry itself would only log most such errors.
    """
    defaults = Resource(
        {
            "service.name": "sodafountain",
            "service.version": version("sodafountain-service"),
            "service.instance.id": str(uuid.uuid4()),
        }
    )
    errors = _ErrorCollector()
    logger = logging.getLogger("opentelemetry")
    logger.setLevel(logging.WARNING)
    logger.addHandler(errors)
    logger.propagate = False  # the errors are raised instead
    try:
        queue_size = _integer("OTEL_BSP_MAX_QUEUE_SIZE", 2048)
        provider = TracerProvider(resource=defaults.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
        exporter = _Exporter(endpoint, queue_size)
        provider.add_span_processor(_Processor(exporter, queue_size))
    except Exception as error:  # noqa: BLE001 - OpenTelemetry's errors have no common class
        raise ValueError(f"an OpenTelemetry variable is invalid: {error}") from None
    finally:
        logger.removeHandler(errors)
        logger.propagate = True
        logger.setLevel(logging.CRITICAL)  # from here on `_Exporter` logs what matters
    if errors.messages:
        provider.shutdown()
        raise ValueError(f"an OpenTelemetry variable is invalid: {errors.messages[0]}")
    return provider, exporter


def _integer(variable: str, default: int) -> int:
    value = os.environ.get(variable, "")
    try:
        return int(value) if value else default
    except ValueError:
        raise ValueError(f"{variable} must be an integer, not {value!r}") from None


class _ErrorCollector(logging.Handler):
    """Collects what OpenTelemetry logs in this thread."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []
        self._thread = threading.get_ident()

    def emit(self, record: logging.LogRecord) -> None:
        """Collect a record, except for the value of a header, which may be secret."""
        if record.thread == self._thread:
            secret = record.name == "opentelemetry.util.re"
            self.messages.append(
                "OTEL_EXPORTER_OTLP_HEADERS must have the form key=value" if secret else record.getMessage()
            )


class _Exporter(OTLPSpanExporter):
    """Sends spans. Logs how many were lost because they could not be sent or the queue was full.

    Args:
        endpoint: the collector.
        queue_size: how many spans may be queued.
    """

    def __init__(self, endpoint: str, queue_size: int) -> None:
        super().__init__(endpoint=endpoint)
        self._lock = threading.Lock()
        self._queue_size = queue_size
        self._queued = 0
        self._rejected = 0

    def try_enqueue(self) -> bool:
        """Count a span as queued, or as lost if the queue is full; return whether it was queued."""
        with self._lock:
            if self._queued < self._queue_size:
                self._queued += 1
                return True
            self._rejected += 1
            return False

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Send a batch; retries for some seconds."""
        with self._lock:
            self._queued -= len(spans)
        lost = len(spans)
        try:
            result = super().export(spans)
            if result is SpanExportResult.SUCCESS:
                lost = 0
            return result
        finally:
            self._log_lost(lost)

    def log_lost(self) -> None:
        """Log the spans that were lost and not logged yet."""
        with self._lock:
            left, self._queued = self._queued, 0
        self._log_lost(left)

    def _log_lost(self, lost: int) -> None:
        with self._lock:
            lost += self._rejected
            self._rejected = 0
        if lost:
            _log.warning("traces_lost", spans=lost)


class _Processor(BatchSpanProcessor):
    """Queues spans. The base class drops spans silently when its queue is full; this one counts them."""

    def __init__(self, exporter: _Exporter, queue_size: int) -> None:
        super().__init__(exporter, max_queue_size=queue_size)
        self._try_enqueue = exporter.try_enqueue

    def on_end(self, span: ReadableSpan) -> None:
        """Queue a span that has ended, unless the queue is full."""
        if span.context and span.context.trace_flags.sampled and self._try_enqueue():
            super().on_end(span)
