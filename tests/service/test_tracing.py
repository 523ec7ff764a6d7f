"""Traces: a span for each call and for what it asks of the store, with nothing secret, and off unless wanted."""

import base64
import random
import re
import socket
import subprocess
import sys
import uuid
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.juices_pb2 import JuicesOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions
from tests.support.collector import Collector, Span, collecting
from tests.support.forging import KEYS
from tests.support.here import stub_of_service
from tests.support.players import BASIC, SECONDS, new_game, play, refusal
from tests.support.ports import free_port
from tests.support.service import channel_to, clean_environment, running

pytestmark = pytest.mark.one_store

ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": KEYS}
AT_ONCE: Final = {"OTEL_BSP_SCHEDULE_DELAY": "10"}
SERVICE: Final = "sodafountain.v1.GameService"
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
TRACEPARENT: Final = (("traceparent", f"00-{TRACE}-{PARENT}-01"),)
CALL, STORE = 2, 3
"""The kinds of span: of a server, and of a client."""


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collecting() as collector:
        yield collector


def only(spans: list[Span], method: str) -> Span:
    (span,) = (span for span in spans if span.name == f"{SERVICE}/{method}")
    return span


def below(spans: list[Span], parent: Span) -> list[Span]:
    return [span for span in spans if span.parent_id == parent.span_id and span.trace_id == parent.trace_id]


# --- What is told -----------------------------------------------------------------------------------------------------


def test_a_call_is_a_span_in_its_callers_trace_with_its_questions_to_the_store_below(
    store_url: str, collector: Collector
) -> None:
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        game = new_game(stub, metadata=TRACEPARENT)

    span = only(collector.spans, "NewGame")
    assert (span.trace_id, span.parent_id, span.kind, span.failed) == (TRACE, PARENT, CALL, False)
    assert re.fullmatch("[0-9a-f]{8}-[0-9a-f]+", str(span.attributes.pop("sodafountain.call_id")))
    assert span.attributes == {
        "rpc.system": "grpc",
        "rpc.service": SERVICE,
        "rpc.method": "NewGame",
        "rpc.grpc.status_code": 0,
        "sodafountain.game_id": game.game_id,
        "sodafountain.game_kind": "soda_jerk",
    }
    asked = below(collector.spans, span)
    assert [(child.name, child.kind, child.failed) for child in asked] == [
        ("store reserve", STORE, False),
        ("store create", STORE, False),
    ]
    assert asked[1].attributes == {
        "db.system.name": "redis",
        "db.operation.name": "create",
        "sodafountain.outcome": "ok",
    }
    assert 0 < sum(child.seconds for child in asked) <= span.seconds


def test_every_call_is_one_span_and_a_trace_of_its_own_where_its_caller_has_none(
    store_url: str, collector: Collector
) -> None:
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        made = len(play(game := new_game(stub, 2), random.Random(1)))
        game.spectator.score()
        list(game.spectator.watch())

    names = [span.name.removeprefix(f"{SERVICE}/") for span in collector.calls()]
    counts = {name: names.count(name) for name in set(names)}
    assert counts == {"NewGame": 1, "GetGame": 1, "LegalMoves": made, "ApplyMove": made, "Score": 1, "WatchGame": 1}
    assert len({span.trace_id for span in collector.calls()}) == len(names)
    assert not any(span.parent_id for span in collector.calls())
    assert {span.attributes["sodafountain.game_kind"] for span in collector.calls()} == {"soda_jerk"}
    assert {span.trace_id for span in collector.spans} == {span.trace_id for span in collector.calls()}


def test_a_refusal_has_its_reason_and_is_no_failure_where_the_caller_is_to_blame(
    store_url: str, collector: Collector
) -> None:
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        refusal(partial(new_game, stub, 99))

    span = only(collector.spans, "NewGame")
    assert (span.attributes["rpc.grpc.status_code"], span.attributes["sodafountain.reason"]) == (3, "MALFORMED")
    assert not span.failed


def test_a_store_that_is_away_is_a_failure_of_the_call_and_of_what_was_asked(
    collector: Collector, tmp_path: Path
) -> None:
    url = f"redis://127.0.0.1:{free_port()}"
    with stub_of_service(url, traces_endpoint=collector.endpoint) as stub:
        refusal(partial(new_game, stub))

    span = only(collector.spans, "NewGame")
    assert (span.attributes["rpc.grpc.status_code"], span.failed) == (14, True)
    (asked,) = below(collector.spans, span)
    assert (asked.attributes["sodafountain.outcome"], asked.failed) == ("away", True)


def test_a_watch_is_the_span_of_its_opening(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, AT_ONCE)
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        watch = new_game(stub).spectator.watch()
        next(watch)

        collector.wait_for(lambda spans: any(span.name.endswith("WatchGame") for span in spans))


def test_log_lines_of_calls_and_of_streams_name_their_traces(
    store_url: str, collector: Collector, tmp_path: Path
) -> None:
    flags = ("--store-url", store_url, "--traces-endpoint", collector.endpoint)
    with running(tmp_path, *flags, env=ENV) as service, channel_to(service.target) as channel:
        stub = GameServiceStub(channel)
        game = new_game(stub, 2, metadata=TRACEPARENT)
        refusal(game.seats[0].delete)
        play(game, random.Random(1))
        list(game.spectator.watch())
        refusal(lambda: list(stub.WatchGame(pb.WatchGameRequest(game_id="a" * 26), timeout=SECONDS)))
    lines = [line for line in service.logs() if line["event"] == "rpc"]

    traces = {span.attributes["sodafountain.call_id"]: span.trace_id for span in collector.calls()}
    assert all(line["trace_id"] == traces[line["call_id"]] for line in lines)
    told = [(line["method"], line.get("reason")) for line in lines if line["method"] != "ApplyMove"]
    assert told == [
        ("NewGame", None),
        ("DeleteGame", "WRONG_SEAT"),
        ("WatchGame", "FINISHED"),
        ("WatchGame", "GAME_NOT_FOUND"),
    ]
    assert lines[0]["trace_id"] == TRACE


# --- OpenTelemetry's own settings -------------------------------------------------------------------------------------


def set_all(monkeypatch: pytest.MonkeyPatch, variables: dict[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def test_a_service_names_itself_unless_it_is_named(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sodafountain", "fizz"):
        with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
            new_game(stub)
        assert collector.calls()[-1].resource["service.name"] == name
        set_all(monkeypatch, {"OTEL_SERVICE_NAME": "fizz", "OTEL_RESOURCE_ATTRIBUTES": "deployment=bar"})
    assert collector.calls()[-1].resource["deployment"] == "bar"


def test_headers_are_sent_and_a_sampler_is_heeded(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    set_all(monkeypatch, {"OTEL_TRACES_SAMPLER": "parentbased_always_off", "OTEL_EXPORTER_OTLP_HEADERS": "x-key=abc"})
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        game = new_game(stub)
        new_game(stub, metadata=TRACEPARENT)
        game.spectator.score()

    assert [span.trace_id for span in collector.calls()] == [TRACE]
    assert collector.metadata[0]["x-key"] == "abc"


# --- What is not told -------------------------------------------------------------------------------------------------

ATTRIBUTES: Final = {
    "rpc.system": "grpc",
    "rpc.service": r"sodafountain\.v1\.GameService",
    "rpc.method": "[A-Za-z]+",
    "rpc.grpc.status_code": "[0-9]+",
    "sodafountain.call_id": "[0-9a-f]{8}-[0-9a-f]+",
    "sodafountain.reason": "[A-Z_]+",
    "sodafountain.game_id": "[a-z2-7]{26}",
    "sodafountain.game_kind": "soda_jerk|soda_smugglers|juices",
    "sodafountain.outcome": "[a-z]+",
    "db.system.name": "redis",
    "db.operation.name": "[a-z_]+",
}
RESOURCE: Final = {
    "service.name": "sodafountain",
    "service.version": "[0-9.]+",
    "service.instance.id": "[0-9a-f-]{36}",
}


def test_no_token_request_id_seed_or_key_is_sent_and_only_what_is_listed(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[uuid.UUID] = []
    draw = uuid.uuid4

    def noted() -> uuid.UUID:
        drawn.append(draw())
        return drawn[-1]

    monkeypatch.setattr("tests.support.players.uuid.uuid4", noted)
    seed, api_key = bytes(range(200, 232)), "the-app-teams-own-key"
    settings: dict[str, Any] = {"api_keys": {"app": api_key}, "allow_fixed_seed": True, "max_live_games": 1000}
    secrets: list[str] = [api_key]
    kinds = [
        (2, BASIC),
        (3, game_pb2.Options(soda_smugglers=SodaSmugglersOptions())),
        (2, game_pb2.Options(juices=JuicesOptions())),
    ]
    with stub_of_service(store_url, traces_endpoint=collector.endpoint, **settings) as stub:
        for seats, options in kinds:
            game = new_game(stub, seats, options, metadata=(("x-api-key", api_key), *TRACEPARENT), seed=seed)
            secrets += [game.made.host_token, *game.made.seat_tokens]
            watch = game.seats[0].watch()
            secrets.append(next(watch).resume_token)
            play(game, random.Random(1))
            game.spectator.history(page_size=1000)
            refusal(partial(game.seats[0].state, seat=1))
            game.host.delete()

    assert len(drawn) > 100
    needles = [text.encode() for text in secrets]
    needles += [form for made in drawn for form in (str(made).encode(), made.hex.encode(), made.bytes)]
    needles += [seed, seed.hex().encode(), base64.b64encode(seed)]
    told = b"".join(collector.raw)
    assert len(collector.calls()) > 200
    assert [needle for needle in needles if needle in told] == []
    for span in collector.spans:
        assert re.fullmatch(rf"{re.escape(SERVICE)}/[A-Za-z]+|store [a-z_]+", span.name)
        for known, found in ((ATTRIBUTES, span.attributes), (RESOURCE, span.resource)):
            assert all(re.fullmatch(known[name], str(value)) for name, value in found.items())


@pytest.mark.parametrize(
    "sent",
    [
        "",
        "evil",
        f"00-{TRACE}-{PARENT}",
        f"00-{'0' * 32}-{PARENT}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"ff-{TRACE}-{PARENT}-01",
        f"00-{TRACE.upper()}-{PARENT}-01-evil",
        f"00-{TRACE}-{PARENT}-01" * 50,
        "evil" * 2000,
        "<script>evil</script>",
        "%s%n{0}evil",
    ],
)
def test_a_callers_trace_that_is_none_does_no_harm_and_goes_no_further(
    store_url: str, collector: Collector, sent: str
) -> None:
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        new_game(stub, metadata=(("traceparent", sent),))

    span = only(collector.spans, "NewGame")
    assert (span.trace_id != TRACE, span.parent_id) == (True, "")
    assert b"evil" not in b"".join(collector.raw)


def test_what_else_a_caller_sends_of_its_trace_goes_no_further(store_url: str, collector: Collector) -> None:
    more = (("tracestate", "vendor=evil"), ("baggage", "key=evil"), ("traceparent", "evil"))
    with stub_of_service(store_url, traces_endpoint=collector.endpoint) as stub:
        new_game(stub, metadata=(*more, *TRACEPARENT))

    assert only(collector.spans, "NewGame").trace_id == TRACE
    assert b"evil" not in b"".join(collector.raw)


# --- Collectors that are away -----------------------------------------------------------------------------------------


@pytest.fixture
def silent() -> Iterator[str]:
    """A collector that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def nobody() -> str:
    """A collector that is not there."""
    return f"http://127.0.0.1:{free_port()}"


@pytest.mark.parametrize("which", ["silent", "nobody"])
def test_a_collector_that_is_away_holds_up_neither_calls_nor_the_end(
    store_url: str, tmp_path: Path, request: pytest.FixtureRequest, which: str
) -> None:
    endpoint = request.getfixturevalue(which)
    small = {"OTEL_BSP_MAX_QUEUE_SIZE": "8", "OTEL_BSP_MAX_EXPORT_BATCH_SIZE": "4"}  # it is full at once
    flags = ("--store-url", store_url, "--traces-endpoint", endpoint)
    with running(tmp_path, *flags, env=ENV | AT_ONCE | small) as service, channel_to(service.target) as channel:
        play(new_game(GameServiceStub(channel), 2), random.Random(1))

        assert service.stop(8.0) == 0  # OpenTelemetry's own patience is half a minute

    lines = service.logs()
    assert {"drained", "traces_lost"} <= {line["event"] for line in lines}
    assert not any(line["event"] == "library" for line in lines)


# --- On and off -------------------------------------------------------------------------------------------------------

LOADED, NOT_LOADED = 41, 42
"""Exit statuses that mean nothing else."""
PROGRAM: Final = """
import sys
from service.server import bind
from service.settings import Settings
from service import cli, serve
with bind(Settings(port=0, store_url="redis://127.0.0.1:1", token_keys={"k": bytes(32)}, traces_endpoint=sys.argv[1])):
    # redis-py loads OpenTelemetry's metrics where it finds them, whatever we do.
    loaded = any(name.startswith(("opentelemetry.exporter", "opentelemetry.sdk.trace.")) for name in sys.modules)
    assert loaded == ("service.tracing" in sys.modules)
sys.exit(41 if loaded else 42)
"""


@pytest.mark.parametrize(("endpoint", "loaded"), [("", NOT_LOADED), ("http://127.0.0.1:1", LOADED)])
def test_opentelemetry_is_loaded_where_traces_are_wanted_and_not_where_not(endpoint: str, loaded: int) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, endpoint], capture_output=True, check=False, timeout=60)

    assert done.returncode == loaded


@pytest.mark.parametrize("workers", ["1", "2"])
def test_without_the_extra_one_sentence_says_what_is_missing(workers: str) -> None:
    without = "import sys; sys.modules['opentelemetry'] = None; from service.cli import main; main()"
    flags = ["--store-url", "redis://127.0.0.1:1", "--port", "0", "--workers", workers]
    done = subprocess.run(
        [sys.executable, "-c", without, "serve", *flags, "--traces-endpoint", "http://127.0.0.1:1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=clean_environment() | ENV,
    )

    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == (
        "sodafountain: a traces endpoint is set, but OpenTelemetry is not installed: "
        "install the extra `traces`, or leave the endpoint out"
    )


@pytest.mark.parametrize(
    "endpoint", ["collector:4317", "http://", "http://collector:4318/v1/traces", "grpc://collector:4317"]
)
def test_an_endpoint_that_is_none_is_refused(store_url: str, endpoint: str) -> None:
    with (
        pytest.raises(ValueError, match=f"must be like http://collector:4317, not '{endpoint}'"),
        stub_of_service(store_url, traces_endpoint=endpoint),
    ):
        pass


def test_workers_send_their_spans_each_under_an_id_of_its_own(
    store_url: str, collector: Collector, tmp_path: Path
) -> None:
    flags = ("--store-url", store_url, "--traces-endpoint", collector.endpoint, "--workers=2")
    with running(tmp_path, *flags, env=ENV | AT_ONCE) as service:

        def both(spans: list[Span]) -> bool:
            return len({span.resource["service.instance.id"] for span in spans}) == 2

        for _ in range(200):  # which worker takes a connection is chance
            with channel_to(service.target) as channel:
                new_game(GameServiceStub(channel))
            if both(collector.spans):
                break
        collector.wait_for(both)
