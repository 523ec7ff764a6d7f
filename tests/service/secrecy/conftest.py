"""Fixtures for tests of secrecy: a service that logs all it ever logs, and evenings of which everything is heard."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import grpc
import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.ears import Evening, eavesdrop
from tests.support.players import ADVANCED, BASIC
from tests.support.raw import Ear
from tests.support.service import Service, channel_to, running
from tests.support.transports import ear_over

API_KEY: Final = "a-key-for-evenings-with-friends"
SEED: Final = bytes.fromhex("c0ffee" * 10 + "beef")


class Open(NamedTuple):
    """A running service and a connection to it.

    Attributes:
        service: the service.
        channel: the connection.
        stub: the same.
        ear: the way by which it is listened to.
    """

    service: Service
    channel: grpc.Channel
    stub: GameServiceStub
    ear: grpc.Channel | Ear


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Listens to every evening over gRPC, and to one over each of the other ways: evenings are long."""
    if "evening" in metafunc.fixturenames:
        ways = [*(("grpc", name) for name in EVENINGS), ("rest", "three-advanced"), ("web", "two-advanced-sealed")]
        metafunc.parametrize(("transport", "evening"), ways, indirect=True, scope="module")


@pytest.fixture(scope="module")
def house(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service that logs all it ever logs."""
    folder: Path = tmp_path_factory.mktemp("listened-to")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS, "SODAFOUNTAIN_API_KEYS": f"friends:{API_KEY}"}
    flags = ("--store-url", store_url, "--allow-fixed-seed", "--log-level=debug")
    with running(folder, *flags, env=env) as service:
        yield service


@pytest.fixture(scope="module")
def there(house: Service, transport: str, gateway_of: Callable[[str], str]) -> Iterator[Open]:
    """A connection to it, and an ear."""
    with channel_to(house.target) as channel, ear_over(transport, house.target, gateway_of) as ear:
        yield Open(house, channel, GameServiceStub(channel), ear or channel)


EVENINGS: Final = {
    "two-advanced-sealed": (2, ADVANCED, True),
    "three-advanced": (3, ADVANCED, False),
    "four": (4, BASIC, False),
}


@pytest.fixture(scope="module")
def evening(request: pytest.FixtureRequest, there: Open) -> Evening:
    """A game of which everything was heard."""
    seats, options, sealed = EVENINGS[request.param]
    ear = None if isinstance(there.ear, grpc.Channel) else there.ear
    return eavesdrop(there.channel, seats, options, SEED, sealed=sealed, api_key=API_KEY, ear=ear)


def spellings(secret: bytes) -> list[bytes]:
    """The ways in which bytes may be written."""
    return [
        secret,
        secret[::-1],
        secret.hex().encode(),
        secret.hex().upper().encode(),
        base64.b64encode(secret).rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        base64.b32encode(secret).rstrip(b"="),
        str(int.from_bytes(secret, "big")).encode(),
        str(list(secret)).encode(),
    ]
