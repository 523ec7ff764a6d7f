"""The setup of traces: their endpoint, OpenTelemetry's own variables, and collectors that are unavailable."""

import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from service.observability import tracing
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.collector import PARENT, TRACE, TRACEPARENT, Collector, Span
from tests.support.command import run_command
from tests.support.forging import KEYS
from tests.support.game_clients import SECONDS, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.ports import free_port
from tests.support.service import channel_to, clean_environment, running

pytestmark = pytest.mark.one_store

ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": KEYS}
IMMEDIATE: Final = {"OTEL_BSP_SCHEDULE_DELAY": "10"}
SMALL: Final = IMMEDIATE | {"OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4"}
"""No delay, and a queue that is full immediately."""


def set_all(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


# --- OpenTelemetry's own settings -------------------------------------------------------------------------------------


def test_the_service_name_can_be_changed(store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("sodafountain", "fizz"):
        with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
            new_game(stub)
        assert collector.calls()[-1].resource["service.name"] == name
        set_all(monkeypatch, {"OTEL_SERVICE_NAME": "fizz", "OTEL_RESOURCE_ATTRIBUTES": "deployment=bar"})
    assert collector.calls()[-1].resource["deployment"] == "bar"
    assert len({span.resource["service.instance.id"] for span in collector.spans}) == 2


def test_headers_and_the_sampler_are_applied(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, {"OTEL_TRACES_SAMPLER": "parentbased_always_off", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc"})
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        game = new_game(stub)
        new_game(stub, metadata=TRACEPARENT)
        game.spectator.score()

    assert [span.trace_id for span in collector.calls()] == [TRACE]
    assert collector.metadata[0]["x-key"] == "abc"


@pytest.mark.parametrize("sampler", ["parentbased_always_off", "traceidratio"])
def test_callers_cannot_force_a_trace_without_a_propagator(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch, sampler: str
) -> None:
    chosen = (("traceparent", f"00-{'0' * 31}1-{PARENT}-01"),)  # any ratio selects this id
    ratio = {"OTEL_TRACES_SAMPLER": sampler, "OTEL_TRACES_SAMPLER_ARG": "0.0000000001"}
    set_all(monkeypatch, ratio | {"OTEL_PROPAGATORS": "none"})
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        for _ in range(20):
            new_game(stub, metadata=chosen)

    assert collector.spans == []


@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("OTEL_TRACES_SAMPLER", "traceidratioo", "traceidratioo"),
        ("OTEL_TRACES_SAMPLER_ARG", "1%", "TRACES_SAMPLER_ARG"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nope", "/nope"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/", "Is a directory"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "deflate", "OTEL_EXPORTER_OTLP_COMPRESSION"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "many", "OTEL_BSP_MAX_QUEUE_SIZE"),
        ("OTEL_BSP_MAX_QUEUE_SIZE", "0", "max_queue_size"),
        ("OTEL_BSP_SCHEDULE_DELAY", "soon", "OTEL_BSP_SCHEDULE_DELAY"),
        ("OTEL_EXPORTER_OTLP_HEADERS", "s3cret", "OTEL_EXPORTER_OTLP_HEADERS"),
    ],
)
def test_an_invalid_variable_is_rejected(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, problem: str
) -> None:
    set_all(monkeypatch, {"OTEL_TRACES_SAMPLER": "traceidratio", "OTEL_TRACES_SAMPLER_ARG": "1", variable: value})

    with (
        pytest.raises(ValueError, match="an OpenTelemetry variable is invalid") as caught,
        tracing.tracing("https://127.0.0.1:1"),
    ):
        pass

    assert problem in str(caught.value)
    assert "s3cret" not in str(caught.value)


# --- Unavailable collectors -------------------------------------------------------------------------------------------


@pytest.fixture
def silent() -> Iterator[str]:
    """A collector that accepts connections and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def absent() -> str:
    """The endpoint of a collector that does not exist."""
    return f"http://127.0.0.1:{free_port()}"


def lost_spans(logs: list[Any]) -> int:
    return sum(line["spans"] for line in logs if line["event"] == "traces_lost")


@pytest.mark.parametrize("which", ["silent", "absent"])
def test_an_unavailable_collector_causes_no_delay_and_a_count_of_lost_spans(
    store_url: str,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    request: pytest.FixtureRequest,
    which: str,
) -> None:
    set_all(monkeypatch, SMALL)
    monkeypatch.setattr(tracing, "_FLUSH_SECONDS", 0.2)
    with capture_logs() as logs:
        with in_process_stub(store_url, traces_endpoint=request.getfixturevalue(which)) as stub:
            for _ in range(100):
                stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS)  # one span each, without a store call
            ending = time.monotonic()
        assert time.monotonic() - ending < 8.0  # OpenTelemetry's own timeout is half a minute

    assert lost_spans(logs) == 100
    assert not [record for record in caplog.records if record.name.startswith("opentelemetry")]


def test_an_available_collector_loses_no_spans(store_url: str, collector: Collector) -> None:
    with capture_logs() as logs, in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        for _ in range(100):
            stub.ListGameKinds(pb.ListGameKindsRequest(), timeout=SECONDS)

    assert (len(collector.spans), lost_spans(logs)) == (100, 0)


@pytest.mark.long
@pytest.mark.parametrize("which", ["silent", "absent"])
def test_a_process_ends_although_its_collector_is_unavailable(
    store_url: str, tmp_path: Path, request: pytest.FixtureRequest, which: str
) -> None:
    flags = ("--store-url", store_url, "--traces-endpoint", request.getfixturevalue(which))
    with running(tmp_path, *flags, env=ENV | SMALL) as service, channel_to(service.target) as channel:
        play(new_game(GameServiceStub(channel), 2), random.Random(1))

        assert service.stop(8.0) == 0

    lines = service.logs()
    assert {"drained", "traces_lost"} <= {line["event"] for line in lines}
    assert not any(line["event"] == "library" for line in lines)


# --- On and off -------------------------------------------------------------------------------------------------------

PROGRAM: Final = """
import sys
from service.commands import main, serve
from service.server import run
from service.server.composition import bind
from service.server.settings import Settings

def loaded(endpoint):
    settings = Settings(port=0, store_url="redis://127.0.0.1:1", token_keys={"k": bytes(32)}, traces_endpoint=endpoint)
    with bind(settings):
        # redis-py always loads OpenTelemetry's metrics if they are installed.
        found = any(name.startswith(("opentelemetry.exporter", "opentelemetry.sdk.trace.")) for name in sys.modules)
        assert found == ("service.observability.tracing" in sys.modules)
    return found

print(loaded(""), loaded("http://127.0.0.1:1"))
"""


def test_opentelemetry_is_loaded_only_with_a_traces_endpoint() -> None:
    result = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False, timeout=60)

    assert result.stdout.splitlines()[-1] == "False True"


def test_without_the_extra_the_error_names_it() -> None:
    without = "import sys; sys.modules['opentelemetry'] = None; from service.commands.main import main; main()"
    flags = ["--store-url", "redis://127.0.0.1:1", "--port", "0", "--workers", "2"]
    result = subprocess.run(
        [sys.executable, "-c", without, "serve", *flags, "--traces-endpoint", "http://127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=clean_environment() | ENV,
    )

    assert result.returncode == 2
    assert result.stderr.splitlines()[-1] == (
        "sodafountain: a traces endpoint is set, but OpenTelemetry is not installed: "
        "install the extra `traces`, or remove the endpoint"
    )


def test_an_invalid_variable_is_reported_in_one_line_before_anything_starts(tmp_path: Path) -> None:
    flags = ("--port=0", f"--data-dir={tmp_path / 'data'}", "--traces-endpoint=http://127.0.0.1:1")

    result = run_command("serve", *flags, env={"OTEL_TRACES_SAMPLER": "nonsense"})

    assert result.code == 2
    (error,) = result.err.splitlines()
    assert error.startswith("sodafountain: an OpenTelemetry variable is invalid: ")
    assert not (tmp_path / "data").exists(), "a store was started"


@pytest.mark.parametrize(
    "endpoint",
    [
        "collector:4317",
        "http://",
        "http://:4317",
        "http://collector:",
        "http://collector:abc",
        "http://collector:0",
        "http://collector:65536",
        "http://[::1",
        "http://two words:4317",
        "http://collector:4318/v1/traces",
        "grpc://collector:4317",
    ],
)
def test_an_invalid_endpoint_is_rejected(store_url: str, endpoint: str) -> None:
    with (
        pytest.raises(ValueError, match="must have the form http://collector:4317") as caught,
        in_process_stub(store_url, traces_endpoint=endpoint),
    ):
        pass

    assert str(caught.value).endswith(f", not {endpoint!r}")


@pytest.mark.parametrize(
    "endpoint",
    [
        "grpc://user:s3cret@collector:4317",
        "http://user:s3cret@collector:4317",
        "http://s3cret@collector",
        "user:s3cret@collector:4317",
        "http://user:s3c/s3cret@collector:4317",
        "http://collector:4317?key=s3cret",
        "http://collector:4317/#s3cret",
    ],
)
def test_a_password_in_an_endpoint_is_rejected_and_not_repeated(endpoint: str) -> None:
    with pytest.raises(ValueError, match="must have the form http://collector:4317, with host and port only") as caught:
        tracing.check(endpoint)

    assert "s3c" not in str(caught.value)


@pytest.mark.parametrize(
    "endpoint", ["http://c", "http://c:1", "https://c.d.example:65535/", "HTTP://10.0.0.1:4317", "http://[::1]:4317"]
)
def test_a_valid_endpoint_is_accepted(endpoint: str) -> None:
    tracing.check(endpoint)


@pytest.mark.long
def test_each_worker_sends_spans_with_an_id_of_its_own(store_url: str, collector: Collector, tmp_path: Path) -> None:
    flags = ("--store-url", store_url, "--traces-endpoint", collector.endpoint, "--workers=2")
    with running(tmp_path, *flags, env=ENV | IMMEDIATE) as service:

        def both(spans: list[Span]) -> bool:
            return len({span.resource["service.instance.id"] for span in spans}) == 2

        for _ in range(200):  # the worker of a connection is random
            with channel_to(service.target) as channel:
                new_game(GameServiceStub(channel))
            if both(collector.spans):
                break
        collector.wait_for(both)
