"""Fixtures for tests of secrecy: a service with verbose logs, and transcripts of whole games."""

import base64
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

import grpc
import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.game_clients import ADVANCED, BASIC
from tests.support.raw_calls import RawCaller
from tests.support.service import Service, channel_to, running
from tests.support.transcripts import Transcript, record_game
from tests.support.transports import raw_caller_over

API_KEY: Final = "a-key-for-transcripts"
SEED: Final = bytes.fromhex("c0ffee" * 10 + "beef")


class ConnectedService(NamedTuple):
    """A running service and a connection to it.

    Attributes:
        service: the service.
        channel: a gRPC channel.
        stub: a stub on that channel.
        raw_caller: makes the calls that are recorded.
    """

    service: Service
    channel: grpc.Channel
    stub: GameServiceStub
    raw_caller: grpc.Channel | RawCaller


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Record every transcript over gRPC, and one over each of the other transports, because games take long."""
    if "transcript" in metafunc.fixturenames:
        cases = [*(("grpc", name) for name in TRANSCRIPTS), ("rest", "three-advanced"), ("web", "two-advanced-sealed")]
        metafunc.parametrize(("transport", "transcript"), cases, indirect=True, scope="module")


@pytest.fixture(scope="module")
def verbose_service(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with verbose logs."""
    folder: Path = tmp_path_factory.mktemp("verbose")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS, "SODAFOUNTAIN_API_KEYS": f"friends:{API_KEY}"}
    flags = ("--store-url", store_url, "--allow-fixed-seed", "--log-level=debug")
    with running(folder, *flags, env=env) as service:
        yield service


@pytest.fixture(scope="module")
def connected(verbose_service: Service, transport: str, gateway_of: Callable[[str], str]) -> Iterator[ConnectedService]:
    """A connection to it over the transport of the test."""
    with (
        channel_to(verbose_service.target) as channel,
        raw_caller_over(transport, verbose_service.target, gateway_of) as raw_caller,
    ):
        yield ConnectedService(verbose_service, channel, GameServiceStub(channel), raw_caller or channel)


TRANSCRIPTS: Final = {
    "two-advanced-sealed": (2, ADVANCED, True),
    "three-advanced": (3, ADVANCED, False),
    "four": (4, BASIC, False),
}


@pytest.fixture(scope="module")
def transcript(request: pytest.FixtureRequest, connected: ConnectedService) -> Transcript:
    """A recorded game."""
    seats, options, sealed = TRANSCRIPTS[request.param]
    raw_caller = None if isinstance(connected.raw_caller, grpc.Channel) else connected.raw_caller
    return record_game(connected.channel, seats, options, SEED, sealed=sealed, api_key=API_KEY, raw_caller=raw_caller)


def encodings(secret: bytes) -> list[bytes]:
    """Return several encodings of a secret."""
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
