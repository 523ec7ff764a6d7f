"""Snapshots: valid and invalid data."""

import msgspec
import pytest

from engine.codec import Codec, UnknownSchema, encode
from engine.soda_jerk import SODA_JERK
from tests.engine.soda_jerk.positions import new

CODEC = Codec(SODA_JERK)


def test_a_snapshot_starts_with_its_schema() -> None:
    schema, _ = msgspec.msgpack.decode(CODEC.encode_snapshot(new()))
    assert schema == SODA_JERK.about.schema


@pytest.mark.parametrize("schema", [0, 2, 99])
def test_a_snapshot_of_an_unknown_schema_is_an_error(schema: int) -> None:
    with pytest.raises(UnknownSchema, match=f"schema {schema}"):
        CODEC.decode_snapshot(encode((schema, new())))


def test_an_unknown_schema_is_an_error_before_its_state_is_read() -> None:
    with pytest.raises(UnknownSchema):
        CODEC.decode_snapshot(encode((99, {"another": "form"})))


@pytest.mark.parametrize(
    "snapshot", [b"", b"\xff", encode((1, "no state")), encode((1,)), CODEC.encode_snapshot(new())[:-1]]
)
def test_invalid_data_is_not_a_snapshot(snapshot: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        CODEC.decode_snapshot(snapshot)


@pytest.mark.parametrize("move", [("place", [6, 1], 1), ("place", [1, 1], 0), ("peek", 1, 1), ("flip", 1, "2"), 7])
def test_invalid_data_is_not_a_move(move: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        CODEC.decode_move(encode(move))
