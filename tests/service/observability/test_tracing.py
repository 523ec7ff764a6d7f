"""Traces: a span for each call and each of its store calls, without secrets. They are off by default."""

import base64
import random
import re
import uuid
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import pytest
from structlog.testing import capture_logs

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.juices_pb2 import JuicesOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions
from tests.support.collector import PARENT, TRACE, TRACEPARENT, WAIT_SECONDS, Collector, Span
from tests.support.game_clients import BASIC, SECONDS, expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.ports import free_port

pytestmark = pytest.mark.one_store

SERVICE: Final = "sodafountain.v1.GameService"
CALL, STORE = 2, 3
"""The kinds of span: server and client."""


def only(spans: list[Span], method: str) -> Span:
    (span,) = (span for span in spans if span.name == f"{SERVICE}/{method}")
    return span


def below(spans: list[Span], parent: Span) -> list[Span]:
    return [span for span in spans if span.parent_id == parent.span_id and span.trace_id == parent.trace_id]


# --- Recorded spans ---------------------------------------------------------------------------------------------------


def test_a_call_is_a_span_in_its_callers_trace_with_its_store_calls_below(store_url: str, collector: Collector) -> None:
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
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
    store_spans = below(collector.spans, span)
    assert [(child.name, child.kind, child.failed) for child in store_spans] == [
        ("store reserve", STORE, False),
        ("store create", STORE, False),
    ]
    assert store_spans[1].attributes == {
        "db.system.name": "redis",
        "db.operation.name": "create",
        "sodafountain.outcome": "ok",
    }
    assert 0 < sum(child.seconds for child in store_spans) <= span.seconds


def test_every_call_is_one_span_and_starts_a_trace_if_its_caller_has_none(store_url: str, collector: Collector) -> None:
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        moves = len(play(game := new_game(stub, 2), random.Random(1)))
        game.spectator.score()
        list(game.spectator.watch())

    names = [span.name.removeprefix(f"{SERVICE}/") for span in collector.calls()]
    counts = {name: names.count(name) for name in set(names)}
    assert counts == {"NewGame": 1, "GetGame": 1, "LegalMoves": moves, "ApplyMove": moves, "Score": 1, "WatchGame": 1}
    assert len({span.trace_id for span in collector.calls()}) == len(names)
    assert not any(span.parent_id for span in collector.calls())
    assert {span.attributes["sodafountain.game_kind"] for span in collector.calls()} == {"soda_jerk"}
    assert {span.trace_id for span in collector.spans} == {span.trace_id for span in collector.calls()}


def test_a_client_error_has_its_reason_and_is_not_a_failed_span(store_url: str, collector: Collector) -> None:
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        expect_error(partial(new_game, stub, 99))

    span = only(collector.spans, "NewGame")
    assert (span.attributes["rpc.grpc.status_code"], span.attributes["sodafountain.reason"]) == (3, "MALFORMED")
    assert not span.failed


def test_the_span_of_an_error_has_the_kind_of_its_game(store_url: str, collector: Collector) -> None:
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        expect_error(partial(new_game, stub, 99))
        game = new_game(stub)
        expect_error(lambda: game.host.legal(seat=9))
        expect_error(lambda: game.host.state(seat=9))
        expect_error(lambda: list(game.host.watch(seat=9)))
        expect_error(lambda: game.host.history(seat=9))

    failed = [span for span in collector.calls() if span.attributes["rpc.grpc.status_code"]]
    assert len(failed) == 5
    assert {span.attributes.get("sodafountain.game_kind") for span in failed} == {"soda_jerk"}


def test_an_unavailable_store_is_a_failure_of_the_call_and_the_store_call(collector: Collector) -> None:
    url = f"redis://127.0.0.1:{free_port()}"
    with in_process_stub(url, traces_endpoint=collector.endpoint) as stub:
        expect_error(partial(new_game, stub))

    span = only(collector.spans, "NewGame")
    assert (span.attributes["rpc.grpc.status_code"], span.failed) == (14, True)
    (store_span,) = below(collector.spans, span)
    assert (store_span.attributes["sodafountain.outcome"], store_span.failed) == ("away", True)


def test_the_span_of_a_watch_ends_when_it_is_open(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_BSP_SCHEDULE_DELAY", "10")
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        watch = new_game(stub).spectator.watch(timeout=3 * WAIT_SECONDS)
        next(watch)

        collector.wait_for(lambda spans: any(span.name.endswith("WatchGame") for span in spans))


def test_log_lines_of_calls_and_streams_contain_their_trace_ids(store_url: str, collector: Collector) -> None:
    with capture_logs() as logs, in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        game = new_game(stub, 2, metadata=TRACEPARENT)
        expect_error(game.seats[0].delete)
        play(game, random.Random(1))
        list(game.spectator.watch())
        expect_error(lambda: list(stub.WatchGame(pb.WatchGameRequest(game_id="a" * 26), timeout=SECONDS)))
    lines = [line for line in logs if line["event"] == "rpc"]

    traces = {span.attributes["sodafountain.call_id"]: span.trace_id for span in collector.calls()}
    assert all(line["trace_id"] == traces[line["call_id"]] for line in lines)
    selected = [line for line in lines if line["log_level"] != "debug" and line["method"] != "ApplyMove"]
    outcomes = [(line["method"], line.get("reason")) for line in selected]
    assert outcomes == [
        ("NewGame", None),
        ("DeleteGame", "WRONG_SEAT"),
        ("WatchGame", "FINISHED"),
        ("WatchGame", "GAME_NOT_FOUND"),
    ]
    assert lines[0]["trace_id"] == TRACE


# --- Secrets ----------------------------------------------------------------------------------------------------------

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


def test_spans_contain_no_secret_and_only_the_listed_attributes(
    store_url: str, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    request_ids: list[uuid.UUID] = []
    uuid4 = uuid.uuid4

    def record_uuid4() -> uuid.UUID:
        request_ids.append(uuid4())
        return request_ids[-1]

    # Patch only the module of the clients: the service also generates a UUID for itself.
    monkeypatch.setattr("tests.support.game_clients.uuid", SimpleNamespace(uuid4=record_uuid4))
    seed, api_key = bytes(range(200, 232)), "the-app-teams-own-key"
    settings: dict[str, Any] = {"api_keys": {"app": api_key}, "allow_fixed_seed": True, "max_live_games": 1000}
    secrets: list[str] = [api_key]
    kinds = [
        (2, BASIC),
        (3, game_pb2.Options(soda_smugglers=SodaSmugglersOptions())),
        (2, game_pb2.Options(juices=JuicesOptions())),
    ]
    with in_process_stub(store_url, traces_endpoint=collector.endpoint, **settings) as stub:
        for seats, options in kinds:
            game = new_game(stub, seats, options, metadata=(("x-api-key", api_key), *TRACEPARENT), seed=seed)
            secrets += [game.created.host_token, *game.created.seat_tokens]
            watch = game.seats[0].watch()
            secrets.append(next(watch).resume_token)
            play(game, random.Random(1))
            game.spectator.history(page_size=1000)
            expect_error(partial(game.seats[0].state, seat=1))
            game.host.delete()

    assert len(request_ids) > 100
    encodings = [text.encode() for text in secrets]
    for request_id in request_ids:
        encodings += [str(request_id).encode(), request_id.hex.encode(), request_id.bytes]
    encodings += [seed, seed.hex().encode(), base64.b64encode(seed)]
    exported = b"".join(collector.raw)
    assert len(collector.calls()) > 200
    assert [encoding for encoding in encodings if encoding in exported] == []
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
def test_an_invalid_trace_of_a_caller_is_ignored(store_url: str, collector: Collector, sent: str) -> None:
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        new_game(stub, metadata=(("traceparent", sent),))

    span = only(collector.spans, "NewGame")
    assert (span.trace_id != TRACE, span.parent_id) == (True, "")
    assert b"evil" not in b"".join(collector.raw)


def test_other_trace_headers_of_a_caller_are_ignored(store_url: str, collector: Collector) -> None:
    more = (("tracestate", "vendor=evil"), ("baggage", "key=evil"), ("traceparent", "evil"))
    with in_process_stub(store_url, traces_endpoint=collector.endpoint) as stub:
        new_game(stub, metadata=(*more, *TRACEPARENT))

    assert only(collector.spans, "NewGame").trace_id == TRACE
    assert b"evil" not in b"".join(collector.raw)
