"""A gateway to the shared service."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from google.rpc.code_pb2 import Code

from tests.support.gateways import Answer, http_request
from tests.support.service import Service

Request = Callable[..., Answer]

GOOD: dict[str, Any] = {"options": {"sodaJerk": {}}, "seatCount": 2}
"""A valid request for a new game."""
SOMEWHERE = f"/v1/games/{'a' * 26}"
"""The path of a game that does not exist."""


@pytest.fixture(scope="session")
def rest(service: Service, gateway_of: Callable[[str], str]) -> str:
    """The address of a gateway to the service."""
    return gateway_of(service.target)


@pytest.fixture
def send(rest: str) -> Iterator[Request]:
    """A function that makes an HTTP request to that gateway. Its arguments are verb, path, body and headers."""

    def send_request(verb: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Answer:
        return http_request(rest, verb, path, body, headers)

    yield send_request
    assert http_request(rest, "GET", "/v1/gameKinds").status == 200  # it must still run after any request


def check(answer: Answer, http: int, code: str, reason: str, *fields: str) -> str:
    """Compare an error with the expected values; return its message."""
    status = answer.json
    assert answer.status == http, status
    assert Code.Name(status["code"]) == code
    infos = [detail for detail in status["details"] if detail["@type"].endswith("/google.rpc.ErrorInfo")]
    assert [(info["reason"], info["domain"]) for info in infos] == [(reason, "sodafountain")]
    bad = [detail for detail in status["details"] if detail["@type"].endswith("/google.rpc.BadRequest")]
    assert [violation["field"] for detail in bad for violation in detail["fieldViolations"]] == list(fields)
    message: str = status["message"]
    assert len(message.split()) > 2, f"not a sentence: {message!r}"
    return message
