"""An OpenTelemetry collector that keeps the spans that it receives."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any, Final, NamedTuple

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue

WAIT_SECONDS: Final = 20.0
"""How long to wait for spans, in seconds."""
TRACE: Final = "4bf92f3577b34da6a3ce929d0e0e4736"
PARENT: Final = "00f067aa0ba902b7"
TRACEPARENT: Final = (("traceparent", f"00-{TRACE}-{PARENT}-01"),)
"""The metadata of a caller with a trace and a span of its own."""


class Span(NamedTuple):
    """A received span."""

    name: str
    trace_id: str
    span_id: str
    parent_id: str
    kind: int
    failed: bool
    attributes: dict[str, str | int]
    resource: dict[str, str | int]
    seconds: float


class Collector:
    """The received requests.

    Attributes:
        endpoint: its address.
        raw: the bytes of each request.
        metadata: the metadata of each request.
    """

    def __init__(self) -> None:
        self.endpoint = ""
        self.raw: list[bytes] = []
        self.metadata: list[dict[str, str | bytes]] = []
        self._received = threading.Condition()

    def take(self, data: bytes, context: grpc.ServicerContext) -> bytes:
        with self._received:
            self.raw.append(data)
            self.metadata.append(dict(context.invocation_metadata()))
            self._received.notify_all()
        return ExportTraceServiceResponse().SerializeToString()

    @property
    def spans(self) -> list[Span]:
        """Return all received spans."""
        return [span for data in tuple(self.raw) for span in _spans(ExportTraceServiceRequest.FromString(data))]

    def calls(self) -> list[Span]:
        """Return the spans of calls."""
        return [span for span in self.spans if span.kind == 2]

    def wait_for(self, condition: Callable[[list[Span]], bool]) -> list[Span]:
        """Wait until the received spans satisfy a condition. Fail if they do not."""
        with self._received:
            assert self._received.wait_for(lambda: condition(self.spans), WAIT_SECONDS), (
                "the expected spans were not received"
            )
        return self.spans


@contextmanager
def collecting() -> Iterator[Collector]:
    """Run a collector during the block."""
    collector = Collector()
    server = grpc.server(ThreadPoolExecutor(2))
    handler: grpc.RpcMethodHandler[bytes, bytes] = grpc.unary_unary_rpc_method_handler(collector.take)
    service = "opentelemetry.proto.collector.trace.v1.TraceService"
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(service, {"Export": handler}),))
    collector.endpoint = f"http://127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    try:
        yield collector
    finally:
        server.stop(0).wait()


def _spans(request: ExportTraceServiceRequest) -> Iterator[Span]:
    for group in request.resource_spans:
        for scope in group.scope_spans:
            for span in scope.spans:
                yield Span(
                    name=span.name,
                    trace_id=span.trace_id.hex(),
                    span_id=span.span_id.hex(),
                    parent_id=span.parent_span_id.hex(),
                    kind=span.kind,
                    failed=span.status.code == 2,
                    attributes=_values(span.attributes),
                    resource=_values(group.resource.attributes),
                    seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
                )


def _values(attributes: Any) -> dict[str, str | int]:
    def value(attribute: KeyValue) -> str | int:
        kind = attribute.value.WhichOneof("value")
        assert kind in {"string_value", "int_value"}, f"{attribute.key} is {kind}"
        found: str | int = getattr(attribute.value, kind)
        return found

    return {attribute.key: value(attribute) for attribute in attributes}
