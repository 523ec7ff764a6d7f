"""Errors of the gateway itself: a google.rpc.Status in JSON with one ErrorInfo, and never a server error."""

import json
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from tests.service.gateway.conftest import GOOD, SOMEWHERE, Request, check
from tests.support.gateways import SECONDS, gateway_to, http_request
from tests.support.service import Service

pytestmark = pytest.mark.one_store


def nested(depth: int) -> str:
    """Return nested objects of a depth."""
    return '{"options":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/v1/games", GOOD | {"seatCuont": 2}, "seatCuont"),
        ("/v1/games", {"options": {"sodaJerk": {"advancd": True}}, "seatCount": 2}, "options.soda_jerk.advancd"),
        ("/v1/games", {"options": {"soda_Jerk": {}}}, "options.soda_Jerk"),
        ("/v1/games", {"seatCount": 2, "x": {"options": {}}}, "x"),
        ("/v1/games", {"": 1}, ""),
        ("/v1/games", {'"<script>\n': 1}, "???script??n"),
        ("/v1/games", {"é" * 100: 1}, "?" * 64),
        ("/v1/games", {"gameId": "a" * 26}, "gameId"),
        (f"{SOMEWHERE}:applyMove", {"move": {}, "note": ""}, "note"),
        (f"{SOMEWHERE}:applyMove", {"move": {}, "gameId": "a" * 26}, "gameId"),  # the path contains it
        (f"{SOMEWHERE}:applyMove", {"move": {}, "game_id": "a" * 26}, "game_id"),
        (
            f"{SOMEWHERE}:applyMove",
            {"move": {"sodaJerk": {"place": {"card": {"flavour": 1}}}}},
            "move.soda_jerk.place.card.flavour",
        ),
        (
            f"{SOMEWHERE}:applyMove",
            {"move": {"sodaSmugglers": {"nothing": {}}}},
            "move.soda_smugglers.nothing",
        ),
        ("/v1/games/", {"foo": 1}, "foo"),
        ("/v1//games", {"foo": 1}, "foo"),
        ("/v1/./games", {"foo": 1}, "foo"),
        ("/v1/%67ames", {"foo": 1}, "foo"),
    ],
)
def test_an_unknown_field_is_named(send: Request, path: str, body: Any, field: str) -> None:
    message = check(send("POST", path, json.dumps(body)), 400, "INVALID_ARGUMENT", "MALFORMED", field)

    assert message.startswith(f"There is no field {field.rpartition('.')[2]} in sodafountain.v1.")


@pytest.mark.parametrize("word", ["true", "yes", "TRUE", "0", ""])
def test_booleans_must_not_be_quoted(send: Request, word: str) -> None:
    body = json.dumps({"options": {"sodaJerk": {"advanced": word}}, "seatCount": 2})

    message = check(send("POST", "/v1/games", body), 400, "INVALID_ARGUMENT", "MALFORMED", "options.soda_jerk.advanced")

    assert message == "options.soda_jerk.advanced must be true or false, without quotes."


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ('{"seatCount": 2, "seatCount": 3}', "seat_count"),
        ('{"seatCount": 2, "seat_count": 2}', "seat_count"),
        ('{"options": {"sodaJerk": {"advanced": true, "advance\\u0064": true}}}', "options.soda_jerk.advanced"),
    ],
)
def test_a_duplicate_field_is_named(send: Request, text: str, field: str) -> None:
    message = check(send("POST", "/v1/games", text), 400, "INVALID_ARGUMENT", "MALFORMED", field)

    assert "twice" in message


@pytest.mark.parametrize(
    "text",
    [
        *("{", "}", "[", '"', "{]", '{"options"', '{"options":', '{"options":}', '{"options":{}', "nonsense", " "),
        *("{options: {}}", "{'options': {}}", '{"options": {},}', '{,"options": {}}', '{"options" {}}', "{} {}"),
        *('{"seatCount": 02}', '{"seatCount": +2}', '{"seatCount": .2}', '{"seatCount": 2.}', '{"seatCount": 0x2}'),
        *('{"seatCount": NaN}', '{"seatCount": TRUE}', '{"seatCount": 2e}', '{"seatCount": -}', '{"seatCount": 1 2}'),
        *('{"etag": "\\x"}', '{"etag": "\\u12"}', '{"requestId": "\n"}', '{"requestId": "\\"}', "/* */ {}", "{} //"),
        *("\ufeff{}", "{}\x00", '{"requestId": "\x00"}'),
    ],
)
def test_invalid_json_is_rejected(send: Request, text: str) -> None:
    check(send("POST", "/v1/games", text.encode()), 400, "INVALID_ARGUMENT", "MALFORMED", *_unknown(text))


def _unknown(text: str) -> list[str]:
    return ["etag"] if '"etag"' in text else []  # NewGame has no etag, and that error is found first


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "null", "1", '"x"', "true", "[{}]", '{"options": 1}', '{"options": []}', '{"options": [{}]}'),
        *('{"seatCount": {}}', '{"seatCount": [2]}', '{"seatCount": "two"}', '{"seatCount": 2.5}'),
        *('{"seatCount": 3000000000}', '{"seatCount": 1e99}', '{"seatCount": true}', '{"sealed": 1}'),
        *('{"seed": "not base64!"}', '{"options": {"sodaJerk": {"removedFlavor": "FLAVOR_COLA"}}}'),
        *('{"options": {"sodaJerk": {"copiesPerValue": [[3], 3, 3]}}}', '{"options": {"sodaJerk": {}, "juices": {}}}'),
        *(nested(1000), "[" * 60_000, '{"options":' * 5_000),
    ],
    ids=lambda text: text[:50],
)
def test_json_that_does_not_match_the_message_is_rejected(send: Request, text: str) -> None:
    answer = send("POST", "/v1/games", text)

    fields = {
        violation["field"] for detail in answer.json["details"] for violation in detail.get("fieldViolations", ())
    }
    check(answer, 400, "INVALID_ARGUMENT", "MALFORMED", *fields)


def test_text_that_is_not_utf_8_is_rejected(send: Request) -> None:
    body = b'{"options": {"sodaJerk": {}}, "seatCount": 2, "requestId": "\xff\xfe"}'

    check(send("POST", "/v1/games", body), 400, "INVALID_ARGUMENT", "MALFORMED")


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        ("GET", "/v1/gameKinds?pageSise=1"),
        ("GET", "/v1/gameKinds?pageSize=one"),
        ("GET", f"{SOMEWHERE}?seat=x"),
        ("GET", f"{SOMEWHERE}?seat=1&seet=1"),
        ("GET", f"{SOMEWHERE}:watch?last=1"),
        ("DELETE", f"{SOMEWHERE}?force=true"),
        ("POST", "/v1/games?seatCount=2"),
        ("POST", f"{SOMEWHERE}:applyMove?seat=1"),
        ("GET", f"{SOMEWHERE}%2Fetc"),
        ("GET", f"{SOMEWHERE}%00"),
    ],
)
def test_an_unknown_query_or_path_is_rejected(send: Request, verb: str, path: str) -> None:
    body = json.dumps(GOOD) if verb == "POST" else None

    check(send(verb, path, body), 400, "INVALID_ARGUMENT", "MALFORMED")


@pytest.mark.parametrize(("verb", "path"), [("GET", "/v1/gameKinds"), ("GET", SOMEWHERE), ("DELETE", SOMEWHERE)])
def test_an_unexpected_body_is_rejected(send: Request, verb: str, path: str) -> None:
    check(send(verb, path, "{}"), 400, "INVALID_ARGUMENT", "MALFORMED")


@pytest.mark.parametrize(
    ("verb", "path"),
    [
        *(("GET", "/"), ("GET", "/v1"), ("GET", "/v2/games"), ("GET", "/v1/nothing"), ("GET", "/favicon.ico")),
        *(("PUT", "/v1/nothing"), ("OPTIONS", "/v1/nothing"), ("GET", f"{SOMEWHERE}:nothing"), ("FOO", "/")),
        *(("GET", "/sodafountain.v1.GameService/GetGame"), ("POST", "/sodafountain.v1.GameService/GetGame")),
        *(
            ("GET", "/stats"),
            ("GET", "/config_dump"),
            ("POST", "/quitquitquit"),
            ("POST", "/grpc.health.v1.Health/Check"),
        ),
    ],
)
def test_an_unknown_path_does_not_exist(send: Request, verb: str, path: str) -> None:
    check(send(verb, path), 404, "UNIMPLEMENTED", "UNIMPLEMENTED")


@pytest.mark.parametrize(
    ("verb", "path", "field"),
    [
        ("DELETE", f"{SOMEWHERE}?gameId={'b' * 26}", "game_id"),
        ("DELETE", f"{SOMEWHERE}?game_id={'b' * 26}", "game_id"),
        ("DELETE", f"{SOMEWHERE}?%67ame%49d={'b' * 26}", "game_id"),
        ("GET", f"{SOMEWHERE}?gameId=", "game_id"),
        ("GET", f"{SOMEWHERE}?gameId", "game_id"),
        ("GET", f"{SOMEWHERE}:watch?seat=0&gameId={'b' * 26}", "game_id"),
        ("GET", f"{SOMEWHERE}:history?gameId={'a' * 26}", "game_id"),
        ("GET", f"{SOMEWHERE}?seat=0&seat=0", "seat"),
        ("GET", f"{SOMEWHERE}?seat=0&se%61t=1", "seat"),
        ("GET", "/v1/gameKinds?pageSize=1&page_size=2", "page_size"),
        ("GET", f"{SOMEWHERE}:history?page_size=1&pageToken=x&pageSize=1", "page_size"),
    ],
)
def test_a_parameter_that_repeats_the_path_or_another_is_named(send: Request, verb: str, path: str, field: str) -> None:
    message = check(send(verb, path), 400, "INVALID_ARGUMENT", "MALFORMED", field)
    assert "is in the path" in message or "appears twice" in message


def test_the_path_decides_which_game_is_deleted(send: Request) -> None:
    one, other = (send("POST", "/v1/games", json.dumps(GOOD)).json for _ in range(2))
    host = {"authorization": f"Bearer {other['hostToken']}"}

    answer = send("DELETE", f"/v1/games/{one['state']['gameId']}?gameId={other['state']['gameId']}", headers=host)

    check(answer, 400, "INVALID_ARGUMENT", "MALFORMED", "game_id")
    for game in (one, other):
        assert send("GET", f"/v1/games/{game['state']['gameId']}").status == 200


@pytest.mark.parametrize("size", [66_000, 100_000, 600_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_that_is_too_large_is_rejected(send: Request, size: int, chunked: bool) -> None:
    body = json.dumps(GOOD | {"requestId": "x" * size}).encode()
    parts = (body[start : start + 8192] for start in range(0, len(body), 8192))

    check(send("POST", "/v1/games", parts if chunked else body), 413, "RESOURCE_EXHAUSTED", "LIMIT")


def test_a_long_list_is_rejected_by_its_length(send: Request) -> None:
    body = {"options": {"sodaJerk": {"copiesPerValue": [1] * 20_000}}, "seatCount": 2}

    check(send("POST", "/v1/games", json.dumps(body)), 400, "INVALID_ARGUMENT", "MALFORMED")


@pytest.mark.parametrize(
    "headers", [{"x-much": "x" * 70_000}, {f"x-{n}": "1" for n in range(80)}], ids=["large", "many"]
)
def test_headers_that_are_too_large_are_rejected(send: Request, headers: dict[str, str]) -> None:
    check(send("GET", "/v1/gameKinds", headers=headers), 431, "RESOURCE_EXHAUSTED", "LIMIT")


def test_headers_above_the_limit_of_the_service_are_the_callers_error(send: Request) -> None:
    for size in (12_300, 16_000, 30_000):
        check(send("GET", "/v1/gameKinds", headers={"x-much": "x" * size}), 431, "RESOURCE_EXHAUSTED", "LIMIT")
    many = {f"x-{number}": "x" * 190 for number in range(50)}
    assert send("GET", "/v1/gameKinds", headers=many).status == 200


@pytest.mark.parametrize(
    "raw",
    [
        b"GARBAGE\r\n\r\n",
        b"GET /v1/gameKinds HTTP/1.1\r\n\r\n",
        b"GET /v1/gameKinds HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n",
        b"GET /v1/gameKinds HTTP/1.1\r\nhost: a\r\nbad header\r\n\r\n",
        b"POST /v1/games HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n\r\n0\r\n\r\n",
    ],
    ids=["no HTTP", "no host", "no length", "no header", "two lengths"],
)
def test_an_answer_to_invalid_http_contains_no_html(rest: str, raw: bytes) -> None:
    host, _, port = rest.rpartition(":")
    with socket.create_connection((host, int(port)), SECONDS) as connection:
        connection.sendall(raw)
        head, _, body = b"".join(iter(lambda: connection.recv(4096), b"")).partition(b"\r\n\r\n")

    assert head.startswith(b"HTTP/1.1 400 ")
    assert not body or json.loads(body)["details"][0]["reason"] == "MALFORMED"


@pytest.fixture(scope="module")
def slow(service: Service) -> Iterator[str]:
    """A gateway with a low rate limit."""
    with gateway_to(service.target, rate=1) as target:
        yield target


def test_calls_above_the_rate_limit_are_rejected(slow: str) -> None:
    answers = [http_request(slow, "GET", "/v1/gameKinds") for _ in range(12)]

    error = [answer for answer in answers if answer.status != 200]
    assert error
    for answer in error:
        check(answer, 429, "RESOURCE_EXHAUSTED", "LIMIT")
    web = [
        http_request(
            slow,
            "POST",
            "/sodafountain.v1.GameService/ListGameKinds",
            bytes(5),
            {"content-type": "application/grpc-web+proto", "x-grpc-web": "1"},
        )
        for _ in range(6)
    ]
    error = [answer for answer in web if answer.status != 200]
    assert error
    for answer in error:
        assert answer.status == 429
        assert answer.headers["content-type"].startswith("application/grpc-web")
        assert answer.headers["grpc-status"] == "14"  # gRPC's status for HTTP 429


# --- Slow requests ----------------------------------------------------------------------------------------------------

ARRIVAL_SECONDS = 10.0
"""The time in which a request must arrive."""


@pytest.mark.parametrize(
    "head",
    [
        "POST /v1/games HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{",
        "POST /v1/games HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
        "POST /v1/games HTTP/1.1\r\nhost: a\r\ncontent-",
    ],
    ids=["length", "chunked", "head"],
)
def test_a_request_that_does_not_arrive_is_ended(rest: str, head: str) -> None:
    host, _, port = rest.rpartition(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), 3 * ARRIVAL_SECONDS) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert ARRIVAL_SECONDS - 1 < time.monotonic() - began < 2 * ARRIVAL_SECONDS
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["details"][0]["reason"] == "LIMIT"


def test_a_body_that_trickles_in_is_ended(rest: str) -> None:
    host, _, port = rest.rpartition(":")
    began = time.monotonic()
    with socket.create_connection((host, int(port)), ARRIVAL_SECONDS) as connection:
        connection.sendall(b"POST /v1/games HTTP/1.1\r\nhost: a\r\ncontent-length: 1000\r\n\r\n")
        connection.settimeout(0.5)
        answer = b""
        while not answer and time.monotonic() < began + 2 * ARRIVAL_SECONDS:
            connection.sendall(b" ")
            with suppress(TimeoutError):
                answer = connection.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408 ")
