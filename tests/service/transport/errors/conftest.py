"""Services for tests of errors, and checks after every test."""

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.access import new_token_key
from sodafountain.v1 import game_pb2
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_BLUEBERRY, FLAVOR_KIWI, FLAVOR_STRAWBERRY, SodaJerkCard
from tests.service.transport.errors.fixtures import API_KEY, FIRST_REQUEST, OTHER_API_KEY, SEED, Games, etags, views
from tests.support import forging
from tests.support.game_clients import Game, new_game, play
from tests.support.moves import flip, jerk, place
from tests.support.service import Service, channel_to, running
from tests.support.transports import stub_over


@pytest.fixture(scope="session")
def service_with_known_key(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service whose signing key is known to the tests."""
    folder: Path = tmp_path_factory.mktemp("service_with_known_key")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}
    with running(folder, "--store-url", store_url, "--allow-fixed-seed", env=env) as service:
        yield service


@pytest.fixture(scope="session")
def strict_service(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service on the same store with another signing key, without fixed seeds, and with API keys."""
    folder: Path = tmp_path_factory.mktemp("strict")
    env = {
        "SODAFOUNTAIN_TOKEN_KEYS": new_token_key(),
        "SODAFOUNTAIN_API_KEYS": f"app:{API_KEY},other:{OTHER_API_KEY}",
    }
    with running(folder, "--store-url", store_url, env=env) as service:
        yield service


@pytest.fixture(scope="session")
def strict(strict_service: Service, transport: str, gateway_of: Callable[[str], str]) -> Iterator[GameServiceStub]:
    """A stub of that service."""
    with stub_over(transport, strict_service.target, gateway_of) as stub:
        yield stub


@pytest.fixture(scope="session")
def played(service_with_known_key: Service) -> Iterator[Games]:
    """Games at several stages."""
    options = jerk(first_seat=0, removed_flavor=FLAVOR_KIWI)
    with channel_to(service_with_known_key.target) as channel:
        stub = GameServiceStub(channel)
        opened, active, finished = (new_game(stub, 2, options, seed=SEED) for _ in range(3))
        for game in (opened, active):
            game.seats[0].apply(place(_first_card(game, 0), FLAVOR_STRAWBERRY), request_id=FIRST_REQUEST)
        active.seats[1].apply(place(_first_card(active, 1), FLAVOR_BLUEBERRY))
        active.seats[0].apply(flip(FLAVOR_BLUEBERRY, 1))
        play(finished, random.Random(1))
        private = new_game(stub, 2, options, visibility=game_pb2.VISIBILITY_PRIVATE)
        games = Games(stub, channel, opened, active, finished, private, ())
        yield games._replace(etags=etags(games))


@pytest.fixture(scope="session")
def games(
    played: Games, service_with_known_key: Service, transport: str, gateway_of: Callable[[str], str]
) -> Iterator[Games]:
    """The same games over the transport of the test."""
    with stub_over(transport, service_with_known_key.target, gateway_of) as stub:
        yield played.over_stub(stub)


@pytest.fixture(scope="module", autouse=True)
def unchanged_views(played: Games) -> Iterator[None]:
    """Check after each module that every seat sees every game unchanged."""
    before = views(played)
    yield
    assert views(played) == before


@pytest.fixture(autouse=True)
def unchanged_games(played: Games, unchanged_views: None) -> Iterator[None]:
    """Check after each test that the service answers and that no game has changed: each change has a new etag."""
    yield
    assert etags(played) == played.etags


def _first_card(game: Game, seat: int) -> SodaJerkCard:
    """Return the first card in a seat's hand."""
    return game.seats[seat].state().view.soda_jerk.hands[seat].cards[0]
