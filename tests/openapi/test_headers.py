"""Headers that the service does not read have no effect: the gateway does not forward what gRPC would reject."""

import http.client
import json
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.support.rest import SECONDS, new_game


def get(url: str, path: str, headers: dict[str, str | bytes]) -> tuple[int, Any]:
    connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=SECONDS)
    try:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x%y", "1"),
        ("x+y", "1"),
        ("x", b"\xff"),
        ("x", "a\tb"),
        ("x-bin", "no base64!"),
        ("grpc-timeout", "soon"),
        ("grpc-timeout", "1n"),
        ("grpc-encoding", "gzip"),
        ("grpc-tags-bin", "no base64!"),
        ("x-envoy-upstream-rq-timeout-ms", "1"),
        ("cookie", "a" * 11_000),
    ],
)
def test_headers_that_the_service_does_not_read_have_no_effect(url: str, name: str, value: str | bytes) -> None:
    plain = get(url, "/v1/gameKinds", {})

    assert get(url, "/v1/gameKinds", {name: value}) == plain
    assert plain[0] == 200


@pytest.mark.parametrize("headers", [{"authorization": "Bearer " + "a" * 8000}, {"x-api-key": "a" * 11_000}])
def test_the_size_of_headers_that_the_service_reads_is_limited(url: str, headers: dict[str, str | bytes]) -> None:
    status, body = get(url, "/v1/gameKinds", headers)

    assert status == 431
    assert [detail["reason"] for detail in body["details"]] == ["LIMIT"]


def test_the_size_of_a_path_is_limited_too(url: str) -> None:
    status, body = get(url, "/v1/gameKinds?pageToken=" + "a" * 2100, {})

    assert status == 414
    assert [detail["reason"] for detail in body["details"]] == ["LIMIT"]


def test_a_token_that_is_not_text_is_invalid(url: str) -> None:
    game = new_game(url, {"sodaJerk": {}}, 2)

    status, body = get(url, f"/v1/games/{game.id}", {"authorization": b"Bearer \xff"})

    assert status == 401
    assert [detail["reason"] for detail in body["details"]] == ["TOKEN_INVALID"]
