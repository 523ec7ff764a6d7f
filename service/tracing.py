"""Traces: a span a call for a collector of OpenTelemetry, with one below it for each question to the store.

Imported only where a collector is named: OpenTelemetry is an optional extra, and whoever wants no traces pays nothing.

Spans say what log lines say: methods, outcomes, ids of games and calls. A token, a request id, a seed, a move or a
view never becomes an attribute. Of what callers send, the ids of their trace alone are taken over.
"""

import logging
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from typing import Final
from urllib.parse import urlparse

import grpc
import structlog
from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExportResult
from opentelemetry.trace import Span, SpanKind, StatusCode, Tracer, format_trace_id, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service.call import Call

_FLUSH_SECONDS: Final = 2.0
"""How long the end of the process may be put off for the last spans."""
_SERVICE: Final = "sodafountain.v1.GameService"
_FAILED: Final = frozenset(
    {grpc.StatusCode.INTERNAL, grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.UNKNOWN}
)
"""The statuses of which a service and not its caller is to blame (OpenTelemetry's conventions for RPC)."""

_log = structlog.get_logger()
_propagator = TraceContextTextMapPropagator()


class Trace:
    """The span of a call.

    Attributes:
        trace_id: the trace that it belongs to: the caller's if there is one. 32 hexadecimal digits.
    """

    def __init__(self, span: Span, current: threading.local) -> None:
        self.trace_id = format_trace_id(span.get_span_context().trace_id)
        self._span = span
        self._current = current
        current.span = span

    def end(self, call: Call, code: grpc.StatusCode, reason: str = "") -> None:
        """Ends it with what has become known of the call."""
        self._current.span = None
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
    """Makes spans. All threads may use it at once."""

    def __init__(self, tracer: Tracer) -> None:
        self._tracer = tracer
        self._current = threading.local()

    def begin(self, method: str, context: grpc.ServicerContext) -> Trace:
        """Begins the span of this thread's call: below its caller's, if that sent a good `traceparent`."""
        sent = {key: value for key, value in context.invocation_metadata() if key == "traceparent"}
        span = self._tracer.start_span(
            f"{_SERVICE}/{method}",
            _propagator.extract(sent),
            SpanKind.SERVER,
            {"rpc.system": "grpc", "rpc.service": _SERVICE, "rpc.method": method},
        )
        return Trace(span, self._current)

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
        ValueError: the endpoint is none.
    """
    check(endpoint)
    logging.getLogger("opentelemetry").setLevel(logging.CRITICAL)  # `_Exporter` tells of what is worth telling
    ours = Resource(
        {
            "service.name": "sodafountain",
            "service.version": version("sodafountain-service"),
            "service.instance.id": str(uuid.uuid4()),
        }
    )
    provider = TracerProvider(resource=ours.merge(OTELResourceDetector().detect()), shutdown_on_exit=False)
    exporter = _Exporter(endpoint=endpoint)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    try:
        yield Tracing(provider.get_tracer("sodafountain"))
    finally:
        # It would wait half a minute for a collector that hangs.
        flushing = threading.Thread(target=provider.shutdown, name="traces", daemon=True)
        flushing.start()
        flushing.join(_FLUSH_SECONDS)
        exporter.close()
        flushing.join(_FLUSH_SECONDS)  # at once, unless it hangs elsewhere


def check(endpoint: str) -> None:
    """Makes sure that an endpoint can be one.

    Raises:
        ValueError: it cannot.
    """
    parts = urlparse(endpoint)
    if parts.scheme not in {"http", "https"} or not parts.netloc or parts.path.strip("/"):
        raise ValueError(f"the traces endpoint must be like http://collector:4317, not {endpoint!r}")


class _Exporter(OTLPSpanExporter):
    """Sends spans, and logs which it could not send."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Sends a batch; tries again for some seconds."""
        result = super().export(spans)
        if result is not SpanExportResult.SUCCESS:
            _log.warning("traces_lost", spans=len(spans))
        return result

    def close(self) -> None:
        """Gives up what is still being sent."""
        if not self._shutdown:
            self.shutdown()
