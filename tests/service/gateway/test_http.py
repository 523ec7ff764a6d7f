"""HTTP as RFC 9110 and RFC 9112 describe it: what the gateway supports, and what it answers otherwise."""

import gzip
import http.client
import json
import random
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Final

import pytest

from service.gateway import Gateway, running_gateway
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import GOOD, SOMEWHERE, check
from tests.support import http2
from tests.support.game_clients import Game, new_game, play
from tests.support.gateways import SECONDS, Answer, gateway_to, http_request
from tests.support.ports import free_port
from tests.support.processes import resident_mib
from tests.support.service import Service

APP: Final = "https://app.example"
KINDS: Final = "/v1/gameKinds"
MAX_ENVOY_MIB: Final = 500
"""The limit for the memory of Envoy, whose heap may have 384 MiB."""
JSON: Final = {"content-type": "application/json"}


def raw(target: str, request: str | bytes) -> Answer:
    """Send a request as it is, and return the response."""
    host, _, port = target.rpartition(":")
    data = request.encode("latin-1") if isinstance(request, str) else request
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        connection.sendall(data)
        response = http.client.HTTPResponse(connection, method=data.partition(b" ")[0].decode("latin-1"))
        response.begin()
        return Answer(response.status, {name.lower(): value for name, value in response.getheaders()}, response.read())


Ask = Callable[..., Answer]


@pytest.fixture(scope="module")
def gateway(service: Service) -> Iterator[str]:
    """A gateway that pages of one origin may call."""
    with gateway_to(service.target, origins=(APP,)) as target:
        yield target


@pytest.fixture
def ask(gateway: str) -> Ask:
    """A function that sends a request line and headers as they are."""

    def send(line: str, *headers: str, body: bytes | str = b"") -> Answer:
        content = body.encode() if isinstance(body, str) else body
        length = (f"content-length: {len(content)}",) if content else ()
        head = "\r\n".join((line, "host: games", "connection: close", f"origin: {APP}", *headers, *length))
        return raw(gateway, head.encode("latin-1") + b"\r\n\r\n" + content)

    return send


@pytest.fixture
def game(stub: GameServiceStub) -> Game:
    """A game of two seats."""
    return new_game(stub, 2)


# --- Methods and paths ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("PUT", KINDS, "GET, HEAD, OPTIONS"),
        ("POST", KINDS, "GET, HEAD, OPTIONS"),
        ("GET", "/v1/games", "POST, OPTIONS"),
        ("HEAD", "/v1/games", "POST, OPTIONS"),
        ("PATCH", SOMEWHERE, "GET, HEAD, DELETE, OPTIONS"),
        ("POST", SOMEWHERE, "GET, HEAD, DELETE, OPTIONS"),
        ("GET", f"{SOMEWHERE}:applyMove", "POST, OPTIONS"),
        ("DELETE", f"{SOMEWHERE}:score", "GET, HEAD, OPTIONS"),
        ("POST", f"{SOMEWHERE}:watch", "GET, OPTIONS"),
        ("HEAD", f"{SOMEWHERE}:watch", "GET, OPTIONS"),  # it would have no end
        ("TRACE", KINDS, "GET, HEAD, OPTIONS"),
        ("FOO", KINDS, "GET, HEAD, OPTIONS"),
    ],
)
def test_a_method_that_a_path_does_not_support_is_not_allowed(ask: Ask, method: str, path: str, allowed: str) -> None:
    answer = ask(f"{method} {path} HTTP/1.1", body="{}" if method in {"PUT", "PATCH", "POST"} else "")

    assert (answer.status, answer.headers["allow"]) == (405, allowed)
    if method != "HEAD":
        check(answer, 405, "UNIMPLEMENTED", "UNIMPLEMENTED")


@pytest.mark.parametrize(
    ("path", "allowed"),
    [(KINDS, "GET, HEAD, OPTIONS"), ("/v1/games", "POST, OPTIONS"), (f"{SOMEWHERE}:watch", "GET, OPTIONS")],
)
def test_options_lists_the_methods_of_a_path(ask: Ask, path: str, allowed: str) -> None:
    answer = ask(f"OPTIONS {path} HTTP/1.1")

    assert (answer.status, answer.headers["allow"], answer.body) == (204, allowed, b"")


def test_a_preflight_for_another_origin_permits_nothing(gateway: str) -> None:
    answer = raw(
        gateway,
        f"OPTIONS {KINDS} HTTP/1.1\r\nhost: games\r\norigin: https://other.example\r\n"
        "access-control-request-method: GET\r\nconnection: close\r\n\r\n",
    )

    assert answer.status == 204
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("suffix", ["", ":score", ":history", "?includeLegalMoves=true"])
def test_head_is_get_without_the_body(gateway: str, game: Game, suffix: str) -> None:
    for path in (f"/v1/games/{game.game_id}{suffix}", KINDS):
        connection = http.client.HTTPConnection(gateway, timeout=SECONDS)
        answers = []
        for method in ("GET", "HEAD", "GET"):  # on one connection: no byte of a body may follow HEAD
            connection.request(method, path)
            response = connection.getresponse()
            body = response.read()
            headers = {name: value for name, value in response.getheaders() if name not in {"date", "content-length"}}
            answers.append((response.status, headers, len(body), int(response.headers["content-length"])))
        connection.close()

        (status, headers, size, length), head, again = answers
        assert (status, size) == (200, length)
        assert head[:3] == (200, headers, 0)
        assert abs(head[3] - length) <= 8  # a history and a state contain times
        assert again[:2] == (200, headers)


def test_head_of_an_error_has_its_status(ask: Ask) -> None:
    answer = ask(f"HEAD {SOMEWHERE} HTTP/1.1")

    assert (answer.status, answer.body) == (404, b"")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "form",
    [
        "/v1/games/{id}/",
        "//v1//games/{id}",
        "/v1/x/../games/{id}",
        "/v1/./games/{id}",
        "/%76%31/games/{id}",
        "/v1/games/%{hex}{rest}",
        "http://games/v1/games/{id}",
    ],
)
def test_equivalent_forms_of_a_path_reach_the_same_game(ask: Ask, game: Game, form: str) -> None:
    name = game.game_id
    target = form.format(id=name, hex=f"{ord(name[0]):02x}", rest=name[1:])

    assert ask(f"GET {target} HTTP/1.1").json["state"]["gameId"] == name


@pytest.mark.parametrize(
    ("target", "status", "reason"),
    [
        (f"{SOMEWHERE}%3Ascore", 400, "MALFORMED"),  # an escaped colon belongs to the id
        ("/v1/games%2F" + "a" * 26, 400, "MALFORMED"),
        ("/v1/games/%00", 400, "MALFORMED"),
        ("/v1/games/%zz", 400, "MALFORMED"),
        (f"{KINDS}#fragment", 400, "MALFORMED"),
        (f"{KINDS}?pageToken=" + "a" * 2048, 414, "LIMIT"),
        (f"{KINDS}?pageToken=" + "a" * 7000, 414, "LIMIT"),
        (f"{KINDS}?pageToken=" + "a" * 20_000, 431, "LIMIT"),
        ("*", 400, "MALFORMED"),
        ("/nothing", 404, "UNIMPLEMENTED"),
    ],
)
def test_a_target_that_is_not_valid_has_a_documented_answer(ask: Ask, target: str, status: int, reason: str) -> None:
    answer = ask(f"GET {target} HTTP/1.1")

    assert (answer.status, answer.json["details"][0]["reason"]) == (status, reason)


# --- Versions and connections -----------------------------------------------------------------------------------------


def test_http_1_0_is_served_as_nginx_and_haproxy_send_it(gateway: str) -> None:
    body = json.dumps(GOOD)
    requests = {
        f"GET {KINDS} HTTP/1.0\r\n\r\n": 200,
        f"GET {KINDS} HTTP/1.0\r\nHost: games\r\nConnection: close\r\n\r\n": 200,
        f"HEAD {KINDS} HTTP/1.0\r\n\r\n": 200,
        f"OPTIONS {KINDS} HTTP/1.0\r\n\r\n": 204,
        "OPTIONS / HTTP/1.0\r\n\r\n": 404,  # HAProxy's httpchk without a path
        f"POST /v1/games HTTP/1.0\r\nContent-Length: {len(body)}\r\n\r\n{body}": 200,
    }

    assert {request: raw(gateway, request).status for request in requests} == requests


@pytest.mark.parametrize(
    "fields", ["", "host: a\r\nhost: b\r\n", "host: a\r\nx y: b\r\n", "host: a\r\ncontent-length: x\r\n"]
)
def test_invalid_headers_are_malformed(gateway: str, fields: str) -> None:
    check(
        raw(gateway, f"GET {KINDS} HTTP/1.1\r\n{fields}connection: close\r\n\r\n"), 400, "INVALID_ARGUMENT", "MALFORMED"
    )


def test_a_protocol_upgrade_is_refused_or_ignored(ask: Ask) -> None:
    websocket = ask(f"GET {KINDS} HTTP/1.1", "connection: upgrade", "upgrade: websocket")
    h2c = ask(
        f"GET {KINDS} HTTP/1.1", "connection: upgrade, http2-settings", "upgrade: h2c", "http2-settings: AAMAAABk"
    )

    check(websocket, 403, "UNIMPLEMENTED", "UNIMPLEMENTED")
    assert h2c.status == 200


def test_connect_is_refused(gateway: str) -> None:
    answer = raw(gateway, "CONNECT games:80 HTTP/1.1\r\nhost: games:80\r\n\r\n")

    assert answer.status == 404


# --- Bodies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "header",
    [
        *(
            "application/json",
            "Application/JSON",
            "application/json; charset=utf-8",
            'application/json;charset="UTF-8"',
        ),
        *("text/plain", "application/x-www-form-urlencoded", ""),  # curl's -d sends the second
    ],
)
def test_these_types_are_json(ask: Ask, header: str) -> None:
    fields = [f"content-type: {header}"] if header else []

    assert ask("POST /v1/games HTTP/1.1", *fields, body=json.dumps(GOOD)).status == 200


@pytest.mark.parametrize(
    "header",
    ["application/json; charset=latin-1", "application/xml", "multipart/form-data; boundary=x", "application/protobuf"],
)
def test_other_types_are_not_supported(ask: Ask, header: str) -> None:
    answer = ask("POST /v1/games HTTP/1.1", f"content-type: {header}", body=json.dumps(GOOD))

    check(answer, 415, "INVALID_ARGUMENT", "MALFORMED")
    assert answer.headers["accept"] == "application/json"


def test_a_compressed_body_is_not_supported(ask: Ask) -> None:
    packed = gzip.compress(json.dumps(GOOD).encode())

    answer = ask("POST /v1/games HTTP/1.1", "content-encoding: gzip", body=packed)

    check(answer, 415, "INVALID_ARGUMENT", "MALFORMED")
    assert answer.headers["accept-encoding"] == "identity"
    assert ask("POST /v1/games HTTP/1.1", "content-encoding: identity", body=json.dumps(GOOD)).status == 200


def test_a_body_that_is_announced_too_large_is_not_read(gateway: str) -> None:
    answer = raw(gateway, "POST /v1/games HTTP/1.1\r\nhost: a\r\ncontent-length: 65537\r\n\r\n")

    check(answer, 413, "RESOURCE_EXHAUSTED", "LIMIT")


def test_a_client_may_wait_for_100_continue(gateway: str) -> None:
    body = json.dumps(GOOD).encode()
    host, _, port = gateway.rpartition(":")
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        head = f"POST /v1/games HTTP/1.1\r\nhost: a\r\nexpect: 100-continue\r\ncontent-length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode())
        assert connection.recv(1024).startswith(b"HTTP/1.1 100 ")
        connection.sendall(body)
        assert connection.recv(1024).startswith(b"HTTP/1.1 200 ")


# --- Responses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fields", ["accept: application/xml", "accept-encoding: gzip, br", "range: bytes=0-9", 'if-none-match: "x"']
)
def test_negotiation_and_conditions_are_ignored(ask: Ask, fields: str) -> None:
    answer = ask(f"GET {KINDS} HTTP/1.1", fields)

    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    assert not {"content-encoding", "etag", "content-range"} & answer.headers.keys()


def test_no_cache_may_store_a_response(ask: Ask, game: Game) -> None:
    for path in (KINDS, f"/v1/games/{game.game_id}", SOMEWHERE):
        assert ask(f"GET {path} HTTP/1.1").headers["cache-control"] == "no-store"


def test_a_rejected_token_or_key_names_the_scheme(ask: Ask, game: Game) -> None:
    answer = ask(f"GET /v1/games/{game.game_id} HTTP/1.1", "authorization: Bearer x")

    assert (answer.status, answer.headers["www-authenticate"]) == (401, "Bearer")


ERRORS: Final = {
    "a path that does not exist": ("GET /nothing HTTP/1.1", 404),
    "a method that is not supported": (f"PUT {KINDS} HTTP/1.1", 405),
    "too long a path": (f"GET {KINDS}?pageToken={'a' * 2048} HTTP/1.1", 414),
    "a query that is not known": (f"GET {KINDS}?x=1 HTTP/1.1", 400),
    "a game that does not exist": (f"GET {SOMEWHERE} HTTP/1.1", 404),
}


@pytest.mark.parametrize(("line", "status"), ERRORS.values(), ids=list(ERRORS))
def test_a_page_can_read_errors(ask: Ask, line: str, status: int) -> None:
    answer = ask(line)

    assert answer.status == status
    assert answer.headers["access-control-allow-origin"] == APP
    assert answer.headers["vary"] == "Origin"
    assert "retry-after" in answer.headers["access-control-expose-headers"]


# --- Limits -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def behind_proxy(service: Service) -> Iterator[str]:
    """A gateway behind one proxy, with a low limit for each caller."""
    with gateway_to(service.target, origins=(APP,), caller_rate=2, trusted_hops=1) as target:
        yield target


def request_from(gateway: str, address: str) -> Answer:
    return raw(
        gateway,
        f"GET {KINDS} HTTP/1.1\r\nhost: a\r\norigin: {APP}\r\nx-forwarded-for: {address}\r\nconnection: close\r\n\r\n",
    )


def test_a_caller_above_its_limit_is_rejected_and_others_are_not(behind_proxy: str) -> None:
    answers = [request_from(behind_proxy, "203.0.113.1") for _ in range(20)]

    rejected = [answer for answer in answers if answer.status != 200]
    assert len(rejected) >= 10
    for answer in rejected:
        check(answer, 429, "RESOURCE_EXHAUSTED", "LIMIT")
        assert answer.headers["retry-after"] == "1"
        assert answer.headers["access-control-allow-origin"] == APP
    for number in range(20):
        assert request_from(behind_proxy, f"203.0.113.{100 + number}").status == 200
    assert request_from(behind_proxy, "2001:db8::1").status == 200


def test_the_addresses_of_one_ipv6_network_are_one_caller(behind_proxy: str) -> None:
    answers = [request_from(behind_proxy, f"2001:db8:1:2::{number}").status for number in range(1, 21)]

    assert answers.count(429) >= 10


def test_callers_that_read_no_responses_do_not_affect_others(service: Service, stub: GameServiceStub) -> None:
    finished = new_game(stub, 4)
    play(finished, random.Random(1))
    request = pb.GetHistoryRequest(game_id=finished.game_id, page_size=1000).SerializeToString()
    fields = http2.call_fields(b"/sodafountain.v1.GameService/GetHistory")
    port = free_port()
    settings = Gateway(host="127.0.0.1", port=port, admin="", services=[service.target], trusted_hops=1)
    with running_gateway(settings) as envoy, ExitStack() as closers:
        target = f"127.0.0.1:{port}"
        for _ in range(40):
            opening = http2.PREFACE + http2.settings((http2.INITIAL_WINDOW_SIZE, 0))
            silent = closers.enter_context(http2.Connection(target, opening=opening))
            with suppress(OSError):  # the gateway may end it
                for _ in range(250):
                    silent.send(http2.call(silent.next_stream(), fields, http2.message(request)))
        for _ in range(10):
            assert http_request(target, "GET", KINDS, headers={"x-forwarded-for": "203.0.113.1"}).status == 200
            time.sleep(0.3)

        assert resident_mib(envoy.pid) < MAX_ENVOY_MIB
