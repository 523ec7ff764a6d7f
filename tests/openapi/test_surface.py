"""The service does what docs/openapi.yaml says, whatever it is sent: schemathesis makes the calls.

Each call is drawn from the description, as it should be or with something wrong in it, and is then sent as a stranger
sends it or as a player would: with a real game's id and a token, good or not. Legal moves are among the moves.
"""

import random
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, given, settings
from schemathesis import GenerationMode, Response
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from tests.support.long_cases import long_case
from tests.support.rest import Json, RestGame, new_game

Case: TypeAlias = schemathesis.Case[Any]  # Any: as schemathesis leaves it

DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.yaml"
SCHEMA = schemathesis.openapi.from_path(DOCUMENT)
CALLS = {
    operation["operationId"]: SCHEMA[path][method]
    for path, item in SCHEMA.raw_schema["paths"].items()
    for method, operation in item.items()
}
EXAMPLES = dict.fromkeys(CALLS, 42) | {"NewGame": 18, "ApplyMove": 25}  # whose bodies take long to draw
"""How many of each call; six times as many, more than two thousand in all, where there is time for them."""
CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
OPTIONS: list[tuple[Json, int]] = [
    ({"sodaJerk": {"advanced": True}}, 2),
    ({"sodaSmugglers": {}}, 3),
    ({"juices": {}}, 1),
]


class World:
    """Games of every kind, some that go on and some that are over."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self._active = [new_game(url, options, seats) for options, seats in OPTIONS]

    @cached_property
    def finished(self) -> list[RestGame]:
        """Games that are over."""
        games = [new_game(self.url, options, seats) for options, seats in OPTIONS]
        for game in games:
            game.finish()
        return games

    def active(self, kind: int) -> RestGame:
        """A game that goes on."""
        return self._active[kind]

    def move(self, kind: int) -> Json:
        """A legal move of the game that goes on; of another where it does not any more."""
        while (body := self._active[kind].move()) is None:
            self._active[kind] = self.fresh(kind)
        return body

    def fresh(self, kind: int) -> RestGame:
        """A game that nobody else uses."""
        return new_game(self.url, *OPTIONS[kind])


@pytest.fixture(scope="module")
def world(url: str) -> World:
    return World(url)


def as_somebody(name: str, case: Case, world: World, draw: random.Random) -> None:
    """Makes a stranger's call that of somebody who plays."""
    kind = draw.randrange(len(OPTIONS))
    if name == "ApplyMove" and draw.random() < 0.5:
        case.body = world.move(kind)
    if name == "DeleteGame":
        game = world.fresh(kind)
    elif name == "WatchGame" or draw.random() < 0.3:
        game = world.finished[kind]  # whose streams end
    else:
        game = world.active(kind)
    if "game_id" in case.path_parameters:
        case.path_parameters["game_id"] = game.id
    tokens = [game.host, *game.seats, None, draw.choice([world.finished[0].host, "nonsense"])]
    if token := draw.choice(tokens):
        case.headers["authorization"] = f"Bearer {token}"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("times", [1, long_case(6)])
def test_every_answer_is_as_described(name: str, times: int, world: World) -> None:
    wanted = times * EXAMPLES[name]
    sent = 0

    def check(case: Case) -> None:
        nonlocal sent
        draw = random.Random(f"{case.path_parameters} {case.query} {case.body!r}")
        if draw.random() < 0.75:
            as_somebody(name, case, world, draw)
        response = case.call(base_url=world.url, session=world.session)
        streams = name == "WatchGame" and response.status_code == 200
        for part in each_message(response) if streams else [response]:
            case.validate_response(part, checks=CHECKS)
        sent += 1

    wrong = wanted // 4
    for mode, examples in ((GenerationMode.POSITIVE, wanted - wrong), (GenerationMode.NEGATIVE, wrong)):
        asked = settings(max_examples=examples, suppress_health_check=list(HealthCheck))
        asked(given(case=CALLS[name].as_strategy(generation_mode=mode))(check))()
    assert sent >= wanted


def each_message(response: Response) -> Iterator[Response]:
    """Takes a stream that has ended apart: an answer for each of its messages."""
    for line in response.content.splitlines():
        headers = dict(response.headers)
        yield Response(response.status_code, headers, line, response.request, response.elapsed, response.verify)
