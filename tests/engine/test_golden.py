"""Golden games and snapshots do not change. `golden` explains how to regenerate them after an intended change."""

import pytest

from engine.catalogue import GAMES, PREVIOUS
from engine.codec import Codec
from tests.engine.golden import Playthrough

GOLDEN_GAMES = [(kind, name) for kind in GAMES for name in Playthrough(kind).games]


@pytest.mark.parametrize("kind", GAMES)
def test_every_kind_of_game_has_golden_games(kind: str) -> None:
    assert Playthrough(kind).games


@pytest.mark.parametrize(("kind", "name"), GOLDEN_GAMES)
def test_a_golden_game_does_not_change(kind: str, name: str) -> None:
    playthrough = Playthrough(kind)
    expected = (playthrough.folder / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough.text(name) == expected


@pytest.mark.parametrize("kind", GAMES)
def test_golden_snapshots_of_all_schemas_can_be_read(kind: str) -> None:
    playthrough = Playthrough(kind)
    assert playthrough.schemas()
    for schema in playthrough.schemas():
        state = Codec(playthrough.game, PREVIOUS.get(kind, ())).decode_snapshot(schema.read_bytes())
        assert playthrough.game.format_state(state) == schema.with_suffix(".txt").read_text(encoding="utf-8")


@pytest.mark.parametrize("kind", GAMES)
def test_the_golden_snapshot_of_this_schema_does_not_change(kind: str) -> None:
    playthrough = Playthrough(kind)
    game, codec = playthrough.game, Codec(playthrough.game)
    schema = game.about.schema
    path = playthrough.folder / f"schema-{schema}.msgpack"
    snapshot, text = path.read_bytes(), path.with_suffix(".txt").read_text(encoding="utf-8")
    assert codec.encode_snapshot(codec.decode_snapshot(snapshot), schema) == snapshot
    assert codec.encode_snapshot(game.parse_state(text), schema) == snapshot


@pytest.mark.parametrize("kind", GAMES)
def test_a_game_continues_from_the_golden_snapshot(kind: str) -> None:
    game, folder = GAMES[kind], Playthrough(kind).folder
    state = Codec(game).decode_snapshot((folder / f"schema-{game.about.schema}.msgpack").read_bytes())
    assert game.to_act(state)
    while awaited := game.to_act(state):
        state, _ = game.apply(state, awaited[0], game.legal_moves(state, awaited[0])[-1])
    assert game.score(state).finished
