"""A service whose metrics have values for all series."""

import random
import urllib.request
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

import pytest
from prometheus_client.parser import text_string_to_metric_families

from sodafountain.v1.game_pb2 import Options
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.juices_pb2 import JuicesOptions
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions
from tests.support.game_clients import GameClient, expect_error, new_game, play
from tests.support.service import channel_to, running

KINDS: Final = (
    Options(soda_jerk=SodaJerkOptions()),
    Options(soda_smugglers=SodaSmugglersOptions()),
    Options(juices=JuicesOptions()),
)


class Busy(NamedTuple):
    """A service with metrics.

    Attributes:
        address: the address of its metrics, `host:port`.
        play: plays and watches one game of each kind, and makes an invalid call.
        series: the names of its series after that, each with its labels.
    """

    address: str
    play: Callable[[], None]
    series: dict[str, set[str]]


def series_of(address: str) -> dict[str, set[str]]:
    """Return the series of a service, each with its labels."""
    with urllib.request.urlopen(f"http://{address}/metrics", timeout=10) as response:
        page = response.read().decode()
    found: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            found.setdefault(sample.name, set()).update(sample.labels)
    return found


@pytest.fixture(scope="session")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Busy]:
    """A service that has finished a game of each kind."""
    folder = tmp_path_factory.mktemp("busy")
    chance = random.Random(7)
    with (
        running(folder, f"--data-dir={folder / 'data'}", "--metrics-port=0") as service,
        channel_to(service.target) as channel,
    ):
        stub = GameServiceStub(channel)

        def play_all() -> None:
            for options in KINDS:
                game = new_game(stub, 3, options)
                stream = game.spectator.watch(timeout=60)
                next(stream)
                play(game, chance)
                assert [message.WhichOneof("item") for message in stream][-1] == "end"
                assert expect_error(GameClient(stub, "made-up").state).reason == "MALFORMED"

        play_all()
        (port,) = [line["port"] for line in service.logs() if line["event"] == "metrics"]
        address = f"127.0.0.1:{port}"
        yield Busy(address, play_all, series_of(address))
