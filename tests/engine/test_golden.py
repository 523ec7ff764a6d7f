"""Games and snapshots that must stay as they are; `golden` says how to write them anew after a meant change."""

import pytest

from engine.catalogue import GAMES
from engine.codec import Codec
from tests.engine.golden import Playthrough, shown

GOLDEN_GAMES = [(kind, name) for kind in GAMES for name in Playthrough(kind).games]


@pytest.mark.parametrize("kind", GAMES)
def test_every_kind_of_game_has_golden_games(kind: str) -> None:
    assert Playthrough(kind).games


@pytest.mark.parametrize(("kind", "name"), GOLDEN_GAMES)
def test_a_golden_game_goes_as_it_went(kind: str, name: str) -> None:
    playthrough = Playthrough(kind)
    told = (playthrough.folder / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough.text(name) == told


@pytest.mark.parametrize("kind", GAMES)
def test_golden_snapshots_are_still_read(kind: str) -> None:
    playthrough = Playthrough(kind)
    assert playthrough.schemas()
    for schema in playthrough.schemas():
        state = Codec(playthrough.game).decode_snapshot(schema.read_bytes())
        assert shown(state) == schema.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", GAMES)
def test_the_golden_snapshot_of_this_schema_is_written_as_it_was(kind: str) -> None:
    game, folder = GAMES[kind], Playthrough(kind).folder
    written = (folder / f"schema-{game.about.schema}.msgpack").read_bytes()
    codec = Codec(game)
    assert codec.encode_snapshot(codec.decode_snapshot(written)) == written


@pytest.mark.parametrize("kind", GAMES)
def test_the_golden_snapshot_plays_on(kind: str) -> None:
    game, folder = GAMES[kind], Playthrough(kind).folder
    state = Codec(game).decode_snapshot((folder / f"schema-{game.about.schema}.msgpack").read_bytes())
    assert game.to_act(state)
    while awaited := game.to_act(state):
        state, _ = game.apply(state, awaited[0], game.legal_moves(state, awaited[0])[-1])
    assert game.score(state).final
