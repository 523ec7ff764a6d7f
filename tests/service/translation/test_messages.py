"""Messages of views and events have exactly the values of the engine, field by field, in random games of every kind."""

from collections.abc import Iterator
from enum import IntEnum
from typing import Any, Final

import msgspec
import pytest
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.game import SPECTATOR
from engine.juices.components import TILES
from engine.soda_jerk.components import Card
from service.contract import game_pb2 as pb
from service.games import all_kinds
from service.translation import all_translations
from tests.engine.plays import plays

TRANSLATIONS: Final = all_translations(all_kinds())
RENAMED: Final = {
    ("JuiceMade", "block_actions"): "actions",
    ("ActionsLost", "block_actions"): "actions",
    ("Tokens", "inspection"): "inspect",
    ("CardAtTap", "tap_flavor"): "tap",
}
"""Fields whose attribute in the engine has another name."""


def differences(message: Any, value: Any, path: str) -> Iterator[str]:
    """Yield the fields of a message that do not have the value of the engine."""
    if message.DESCRIPTOR.name == "JuicesTile":
        yield from _of_a_tile(message, value, path)
    elif isinstance(value, Card):
        number = 0 if value.flavor is None else value.flavor.value
        shown = (message.flavor, message.value, message.switcheroo)
        if shown != (number, value.value or 0, value.flavor is None):
            yield f"{path}: {shown}"
    else:
        for each in message.DESCRIPTOR.fields:
            expected = getattr(value, RENAMED.get((message.DESCRIPTOR.name, each.name), each.name))
            yield from _of_a_field(message, each, expected, f"{path}.{each.name}")


def _of_a_tile(message: Any, number: int, path: str) -> Iterator[str]:
    tile = TILES[number]
    shown = (message.number, [*message.fruits], message.complement, message.wild)
    complement = 0 if tile.complement is None else tile.complement.value
    if shown != (number, [fruit.value for fruit in tile.fruits], complement, not tile.fruits):
        yield f"{path}: {shown}"


def _of_a_field(message: Any, each: FieldDescriptor, expected: Any, path: str) -> Iterator[str]:
    shown = getattr(message, each.name)
    if isinstance(expected, tuple):
        if len(shown) != len(expected):
            yield f"{path}: {len(shown)} items, not {len(expected)}"
        for number, (item, value) in enumerate(zip(shown, expected, strict=False)):
            yield from _of_an_item(item, value, f"{path}[{number}]")
    elif expected is None:
        if message.HasField(each.name) if each.has_presence else shown:
            yield f"{path}: present"
    elif each.has_presence and not message.HasField(each.name):
        yield f"{path}: absent"
    else:
        yield from _of_an_item(shown, expected, path)


def _of_an_item(shown: Any, expected: Any, path: str) -> Iterator[str]:
    if isinstance(shown, Message):
        yield from differences(shown, expected, path)
    elif shown != (expected.value if isinstance(expected, IntEnum) else expected):
        yield f"{path}: {shown}, not {expected}"


@pytest.mark.parametrize("kind", GAMES)
@given(st.data())
def test_every_field_of_a_view_message_has_the_value_of_the_view(kind: str, data: st.DataObject) -> None:
    played = data.draw(plays(kind))
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    for state in played.states[:: max(1, len(played.states) // 20)]:
        view = GAMES[kind].view(state, viewer)
        message = pb.View.FromString(TRANSLATIONS[kind].view(view))
        assert message.WhichOneof("game") == kind
        assert [*differences(getattr(message, kind), view, kind)] == []


@pytest.mark.parametrize("kind", GAMES)
@given(st.data())
def test_every_field_of_an_event_message_has_the_value_of_the_event(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    for number, step in enumerate(played.steps, start=2):
        for hidden in step.events:
            event = game.view_event(hidden, viewer)
            message = pb.Event.FromString(TRANSLATIONS[kind].event(number, 0, step.seat, event))
            assert (message.version, message.seat, message.text) == (number, step.seat, game.describe(event))
            detail = getattr(message.detail, kind)
            name = detail.WhichOneof("event")
            assert name == msgspec.inspect.type_info(type(event)).tag  # type: ignore[attr-defined]
            value = event.result if name == "round_ended" and kind == "soda_jerk" else event
            assert [*differences(getattr(detail, name), value, name)] == []
