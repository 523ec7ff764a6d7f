"""Values of games as bytes: valid and invalid data, and the newest and the previous schema."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

import msgspec
import pytest

from engine.codec import Codec, Form, PreviousSchema, UnknownSchema, encode
from engine.soda_jerk import SODA_JERK
from engine.value import Value
from tests.engine.soda_jerk.positions import new

CODEC: Final = Codec(SODA_JERK)
SCHEMA: Final = SODA_JERK.about.schema


def test_a_snapshot_starts_with_its_schema() -> None:
    schema, _ = msgspec.msgpack.decode(CODEC.encode_snapshot(new(), SCHEMA))
    assert schema == SCHEMA


@pytest.mark.parametrize("schema", [0, 2, 99])
def test_a_snapshot_of_an_unknown_schema_is_an_error(schema: int) -> None:
    with pytest.raises(UnknownSchema, match=f"schema {schema}"):
        CODEC.decode_snapshot(encode((schema, new())))


def test_an_unknown_schema_is_an_error_before_its_state_is_read() -> None:
    with pytest.raises(UnknownSchema):
        CODEC.decode_snapshot(encode((99, {"another": "form"})))


@pytest.mark.parametrize(
    "snapshot", [b"", b"\xff", encode((1, "no state")), encode((1,)), CODEC.encode_snapshot(new(), SCHEMA)[:-1]]
)
def test_invalid_data_is_not_a_snapshot(snapshot: bytes) -> None:
    with pytest.raises(msgspec.DecodeError):
        CODEC.decode_snapshot(snapshot)


@pytest.mark.parametrize("move", [("place", [6, 1], 1), ("place", [1, 1], 0), ("peek", 1, 1), ("flip", 1, "2"), 7])
def test_invalid_data_is_not_a_move(move: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        CODEC.decode_move(encode(move), SCHEMA)


# --- Two schemas ------------------------------------------------------------------------------------------------------
#
# A game of counting. Schema 3 named the total alone; a move added one; an event repeated the total. Schema 4 has a
# step as an option, counts moves, and adds any number; an event no longer occurs for a move that adds nothing.


class Options(Value, frozen=True):
    step: int = 1


class State(Value, frozen=True):
    options: Options
    total: int
    moves: int


class Add(Value, frozen=True, tag="add"):
    number: int


class Added(Value, frozen=True, tag="added"):
    number: int


class OldOptions(Value, frozen=True):
    pass


class OldState(Value, frozen=True):
    total: int


class OldAdd(Value, frozen=True, tag="add"):
    pass


class OldReport(Value, frozen=True, tag="report"):
    quietly: bool


PREVIOUS: Final = PreviousSchema(
    number=3,
    state=Form(OldState, lambda old: State(Options(), old.total, old.total), lambda new: OldState(new.total)),
    options=Form(OldOptions, lambda _: Options(), lambda _: OldOptions()),
    move=Form(OldAdd, lambda _: Add(1), lambda _: OldAdd()),
    events=Form(
        tuple[OldReport, ...],
        lambda events: tuple(Added(1) for event in events if not event.quietly),
        lambda events: tuple(OldReport(False) for _ in events) or (OldReport(True),),
    ),
)
GAME: Final[Any] = SimpleNamespace(
    about=SimpleNamespace(schema=4), state_type=State, options_type=Options, move_type=Add, event_type=Added
)
COUNTING: Final = Codec(GAME, [PREVIOUS])


def test_the_newest_schema_keeps_values_as_they_are() -> None:
    state, options = State(Options(2), 7, 3), Options(2)
    assert COUNTING.encode_snapshot(state, 4) == encode((4, state))
    assert COUNTING.decode_snapshot(encode((4, state))) == state
    assert COUNTING.encode_options(options, 4) == encode(options)
    assert COUNTING.decode_options(encode(options), 4) == options
    assert COUNTING.encode_move(Add(5), 4) == encode(Add(5))
    assert COUNTING.decode_move(encode(Add(5)), 4) == Add(5)
    assert COUNTING.encode_events((Added(5), Added(2)), 4) == encode((Added(5), Added(2)))
    assert COUNTING.decode_events(encode((Added(5), Added(2))), 4) == (Added(5), Added(2))


def test_values_of_the_previous_schema_are_read_in_the_newest_form() -> None:
    assert COUNTING.decode_snapshot(encode((3, OldState(7)))) == State(Options(1), 7, 7)
    assert COUNTING.decode_options(encode(OldOptions()), 3) == Options(1)
    assert COUNTING.decode_move(encode(OldAdd()), 3) == Add(1)
    assert COUNTING.decode_events(encode((OldReport(False), OldReport(True))), 3) == (Added(1),)


def test_values_are_written_in_the_previous_schema() -> None:
    assert COUNTING.encode_snapshot(State(Options(1), 7, 7), 3) == encode((3, OldState(7)))
    assert COUNTING.encode_options(Options(1), 3) == encode(OldOptions())
    assert COUNTING.encode_move(Add(1), 3) == encode(OldAdd())
    assert COUNTING.encode_events((), 3) == encode((OldReport(True),))


def test_data_of_the_newest_schema_is_none_of_the_previous_one() -> None:
    with pytest.raises(msgspec.ValidationError):
        COUNTING.decode_events(encode((Added(1),)), 3)


def test_what_the_previous_schema_does_not_name_has_not_changed() -> None:
    codec = Codec(GAME, [PreviousSchema(3, move=PREVIOUS.move)])
    state = State(Options(2), 7, 3)
    assert codec.encode_snapshot(state, 3) == encode((3, state))
    assert codec.decode_snapshot(encode((3, state))) == state
    assert codec.decode_options(codec.encode_options(Options(2), 3), 3) == Options(2)
    assert codec.decode_events(codec.encode_events((Added(2),), 3), 3) == (Added(2),)
    assert codec.encode_move(Add(1), 3) == encode(OldAdd())


@pytest.mark.parametrize("schema", [2, 5])
def test_other_schemas_are_unknown_to_every_method(schema: int) -> None:
    calls: tuple[tuple[Callable[[Any, int], Any], Any], ...] = (
        (COUNTING.encode_snapshot, State(Options(), 1, 1)),
        (COUNTING.encode_options, Options()),
        (COUNTING.encode_move, Add(1)),
        (COUNTING.encode_events, ()),
        (COUNTING.decode_options, encode(Options())),
        (COUNTING.decode_move, encode(Add(1))),
        (COUNTING.decode_events, encode(())),
    )
    for call, value in calls:
        with pytest.raises(UnknownSchema, match=f"schema {schema} .* 3, 4"):
            call(value, schema)
    with pytest.raises(UnknownSchema, match=f"schema {schema} .* 3, 4"):
        COUNTING.decode_snapshot(encode((schema, State(Options(), 1, 1))))


@pytest.mark.parametrize("numbers", [[2], [4], [3, 2], [1, 3], [3, 3]])
def test_previous_schemas_precede_the_newest_without_a_gap(numbers: list[int]) -> None:
    with pytest.raises(ValueError, match="up to 3, ascending, not "):
        Codec(GAME, [PreviousSchema(number) for number in numbers])


# --- Three schemas ----------------------------------------------------------------------------------------------------
#
# In schema 2 the state was the total and nothing else; options, moves and events were those of schema 3.

OLDEST: Final = PreviousSchema(2, state=Form(int, OldState, lambda new: new.total))
SINCE_2: Final = Codec(GAME, [OLDEST, PREVIOUS])


def test_values_of_the_oldest_schema_are_upgraded_schema_by_schema() -> None:
    assert SINCE_2.decode_snapshot(encode((2, 7))) == State(Options(1), 7, 7)
    assert SINCE_2.decode_snapshot(encode((3, OldState(7)))) == State(Options(1), 7, 7)
    assert SINCE_2.decode_move(encode(OldAdd()), 2) == Add(1)
    assert SINCE_2.decode_events(encode((OldReport(True),)), 2) == ()


def test_values_are_downgraded_schema_by_schema() -> None:
    assert SINCE_2.encode_snapshot(State(Options(1), 7, 7), 2) == encode((2, 7))
    assert SINCE_2.encode_snapshot(State(Options(1), 7, 7), 3) == encode((3, OldState(7)))
    assert SINCE_2.encode_options(Options(1), 2) == encode(OldOptions())
