"""Games and snapshots that must stay as they are; `playthrough` says how to write them anew after a meant change."""

from pathlib import Path

import pytest

from engine.codec import Codec
from engine.juices import JUICES
from tests.engine.juices import playthrough

SCHEMAS = sorted(playthrough.GOLDEN.glob("schema-*.msgpack"))


@pytest.mark.parametrize("name", playthrough.GAMES)
def test_a_golden_game_goes_as_it_went(name: str) -> None:
    told = (playthrough.GOLDEN / f"{name}.txt").read_text(encoding="utf-8")
    assert playthrough.playthrough(name) == told


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda path: path.stem)
def test_a_golden_snapshot_is_still_read(schema: Path) -> None:
    state = Codec(JUICES).decode_snapshot(schema.read_bytes())
    assert playthrough.shown(state) == schema.with_suffix(".txt").read_text(encoding="utf-8")


def test_the_golden_snapshot_of_this_schema_is_written_as_it_was() -> None:
    written = (playthrough.GOLDEN / f"schema-{JUICES.about.schema}.msgpack").read_bytes()
    codec = Codec(JUICES)
    assert codec.encode_snapshot(codec.decode_snapshot(written)) == written


def test_the_golden_snapshot_plays_on() -> None:
    (written,) = (path.read_bytes() for path in SCHEMAS if path.stem == f"schema-{JUICES.about.schema}")
    state = Codec(JUICES).decode_snapshot(written)
    while awaited := JUICES.to_act(state):
        state, _ = JUICES.apply(state, awaited[0], JUICES.legal_moves(state, awaited[0])[-1])
    assert JUICES.score(state).final
