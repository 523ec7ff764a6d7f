"""Golden games: this release reads what every earlier release has stored, and answers as that release did."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from service.games import all_kinds
from service.games.formats import NEWEST
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.store.golden_games import (
    FOLDER,
    OWNER,
    STAGES,
    answer,
    differences,
    golden_service,
    load,
    record,
    restore,
)
from tests.support import stores
from tests.support.quotas import counted_games

PATHS = sorted(FOLDER.glob("*/*"))


def name_of(path: Path) -> str:
    """Return the name of a golden game."""
    return f"{path.parent.name}/{path.name.partition('.')[0]}"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A store for these tests only."""
    with stores.server("valkey") as url:
        yield url


@pytest.fixture(scope="module")
def golden(url: str) -> Iterator[GameServiceStub]:
    """A service with the settings of the recordings."""
    with golden_service(url) as stub:
        yield stub


@pytest.fixture
def golden_store(url: str) -> Iterator[Any]:
    """A client of that store."""
    with Redis.from_url(url) as raw:
        yield raw


def test_every_format_has_a_golden_game_of_every_kind_and_stage() -> None:
    formats = range(1, NEWEST + 1)
    expected = {f"format-{number}/{kind}-{stage}" for number in formats for kind in all_kinds() for stage in STAGES}

    assert expected == {name_of(path) for path in PATHS}


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_a_golden_game_is_answered_as_it_was_recorded(path: Path, golden: GameServiceStub, golden_store: Any) -> None:
    game = load(path)
    restore(golden_store, game.keys)

    for call in game.calls:
        expected = {key: call[key] for key in ("response", "error") if key in call}
        found = answer(golden, call)
        assert list(differences(expected, found)) == [], f"{call['method']} with token {call['token']}"


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_the_values_of_a_golden_game_are_in_its_format(path: Path) -> None:
    number = int(path.parent.name.removeprefix("format-"))
    [stored] = [entry["value"] for entry in load(path).keys.values() if entry["type"] == "list"]

    head, *rest = map(bytes.fromhex, stored)
    if "deleted" in path.name:
        assert (head, rest) == (b"1 deleted", [])
        return
    meta, state, _, *log = rest
    assert head.startswith(b"1 ")
    assert {meta[0], state[0], *(element[6] for element in log)} == {number}


@pytest.mark.parametrize("path", PATHS, ids=name_of)
def test_a_golden_game_counts_for_its_owner(path: Path, golden: GameServiceStub, golden_store: Any) -> None:
    game = load(path)
    restore(golden_store, game.keys)
    stage = STAGES[path.name.partition(".")[0].partition("-")[2]]
    over = stage.share == 1 or stage.deleted

    assert counted_games(golden_store, OWNER) == (0 if over else 1, 1)
    [delete, *_] = [call for call in game.calls if call["method"] == "DeleteGame"]
    answer(golden, delete)
    assert counted_games(golden_store, OWNER) == (0, 1)


@pytest.mark.parametrize("kind", all_kinds())
@pytest.mark.parametrize("stage", STAGES)
def test_a_golden_game_can_be_recorded(url: str, kind: str, stage: str) -> None:
    recorded = load(FOLDER / f"format-{NEWEST}" / f"{kind}-{stage}.json.gz")

    again = record(url, kind, stage)

    assert [call["method"] for call in again.calls] == [call["method"] for call in recorded.calls]
    assert [call.get("error") for call in again.calls] == [call.get("error") for call in recorded.calls]
