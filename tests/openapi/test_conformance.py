"""The service conforms to docs/openapi.yaml for any request. Schemathesis generates the requests.

Each request is generated from the document, either valid or invalid. Most are then changed to those of a player: with
the id of a real game and with a token, valid or not. Some of the moves are legal.
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

Case: TypeAlias = schemathesis.Case[Any]  # Any: schemathesis does not specify it

DOCUMENT = Path(__file__).parents[2] / "docs" / "openapi.yaml"
SCHEMA = schemathesis.openapi.from_path(DOCUMENT)
CALLS = {
    operation["operationId"]: SCHEMA[path][method]
    for path, item in SCHEMA.raw_schema["paths"].items()
    for method, operation in item.items()
}
EXAMPLES = dict.fromkeys(CALLS, 42) | {"NewGame": 18, "ApplyMove": 25}  # their bodies take long to generate
"""The number of requests per call. The long tests send six times as many, more than two thousand in all."""
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
    """Active and finished games of every kind."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.session = requests.Session()
        self._active = [new_game(url, options, seats) for options, seats in OPTIONS]

    @cached_property
    def finished(self) -> list[RestGame]:
        """A finished game of each kind."""
        games = [new_game(self.url, options, seats) for options, seats in OPTIONS]
        for game in games:
            game.finish()
        return games

    def active(self, kind: int) -> RestGame:
        """Return an active game."""
        return self._active[kind]

    def move(self, kind: int) -> Json:
        """Return a legal move of the active game. If the game is finished, replace it first."""
        while (body := self._active[kind].move()) is None:
            self._active[kind] = self.fresh(kind)
        return body

    def fresh(self, kind: int) -> RestGame:
        """Create a game that no other request uses."""
        return new_game(self.url, *OPTIONS[kind])


@pytest.fixture(scope="module")
def world(url: str) -> World:
    return World(url)


def as_player(name: str, case: Case, world: World, draw: random.Random) -> None:
    """Change a generated request to one of a player."""
    kind = draw.randrange(len(OPTIONS))
    if name == "ApplyMove" and draw.random() < 0.5:
        case.body = world.move(kind)
    if name == "DeleteGame":
        game = world.fresh(kind)
    elif name == "WatchGame" or draw.random() < 0.3:
        game = world.finished[kind]  # its stream ends
    else:
        game = world.active(kind)
    if "game_id" in case.path_parameters:
        case.path_parameters["game_id"] = game.id
    tokens = [game.host, *game.seats, None, draw.choice([world.finished[0].host, "nonsense"])]
    if token := draw.choice(tokens):
        case.headers["authorization"] = f"Bearer {token}"


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("times", [1, long_case(6)])
def test_every_response_conforms_to_the_document(name: str, times: int, world: World) -> None:
    requested = times * EXAMPLES[name]
    sent = 0

    def check(case: Case) -> None:
        nonlocal sent
        draw = random.Random(f"{case.path_parameters} {case.query} {case.body!r}")
        if draw.random() < 0.75:
            as_player(name, case, world, draw)
        response = case.call(base_url=world.url, session=world.session)
        is_stream = name == "WatchGame" and response.status_code == 200
        for part in each_message(response) if is_stream else [response]:
            case.validate_response(part, checks=CHECKS)
        sent += 1

    invalid = requested // 4
    for mode, examples in ((GenerationMode.POSITIVE, requested - invalid), (GenerationMode.NEGATIVE, invalid)):
        limits = settings(max_examples=examples, suppress_health_check=list(HealthCheck))
        limits(given(case=CALLS[name].as_strategy(generation_mode=mode))(check))()
    assert sent >= requested


def each_message(response: Response) -> Iterator[Response]:
    """Split an ended stream into one response per message."""
    for line in response.content.splitlines():
        headers = dict(response.headers)
        yield Response(response.status_code, headers, line, response.request, response.elapsed, response.verify)
