"""Gateways under test: real Envoys in front of real services."""

import http.client
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

from service.gateway import Gateway, running_gateway
from tests.support.ports import free_port

SECONDS = 10.0
UNLIMITED = 1_000_000


@contextmanager
def gateway_to(*services: str, **settings: Any) -> Iterator[str]:
    """Run a gateway to services during the block; yield its address."""
    port = free_port()
    settings = {"caller_rate": UNLIMITED, "rate": UNLIMITED} | settings
    with running_gateway(Gateway(host="127.0.0.1", port=port, admin="", services=services, **settings)):
        yield f"127.0.0.1:{port}"


@contextmanager
def gateways() -> Iterator[Callable[[str], str]]:
    """Yield a function that returns the address of a gateway to a service. It starts each gateway once."""
    running: dict[str, str] = {}
    with ExitStack() as closers:

        def to(service: str) -> str:
            if service not in running:
                running[service] = closers.enter_context(gateway_to(service))
            return running[service]

        yield to


class Answer(NamedTuple):
    """An HTTP response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """Decode the body, which must be declared as JSON."""
        assert self.headers["content-type"] == "application/json", self
        return json.loads(self.body)


def http_request(
    target: str, verb: str, path: str, body: bytes | str | None = None, headers: Mapping[str, str] | None = None
) -> Answer:
    """Make one HTTP/1.1 request on a new connection."""
    connection = http.client.HTTPConnection(target, timeout=SECONDS)
    try:
        connection.request(verb, path, body, dict(headers or {}))
        response = connection.getresponse()
        response_headers = {name.lower(): value for name, value in response.getheaders()}
        return Answer(response.status, response_headers, response.read())
    finally:
        connection.close()
