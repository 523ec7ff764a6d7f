"""Kinds: each game of the catalogue is bound to the contract, and its values can be translated in both directions."""

import random
from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf.descriptor import FieldDescriptor
from hypothesis import given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.errors import InvalidOptions
from engine.game import SPECTATOR, seats_for
from engine.juices.events import Discarded, Why
from engine.rng import Rng
from engine.soda_jerk.components import CARDS, Flavor
from engine.soda_jerk.state import Options
from service.games import Kind, all_kinds
from service.games.errors import InvalidField
from service.translation import Translation, all_translations
from sodafountain.v1 import game_pb2 as pb
from sodafountain.v1 import game_service_pb2 as rpc
from sodafountain.v1.soda_jerk_pb2 import SodaJerkMove

KINDS = all_kinds()
TIME = 1_800_000_000_123
TRANSLATIONS = all_translations(KINDS)


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> Kind:
    """Each kind of game."""
    return KINDS[request.param]


def translation_of(kind: Kind) -> Translation:
    return TRANSLATIONS[kind.name]


def positions(kind: Kind, *, seed: int = 0) -> Iterator[tuple[Any, tuple[Any, ...]]]:
    """Play random games with each preset; yield their states and the events before each."""
    rng = random.Random(seed)
    for preset in kind.game.presets:
        possible = seats_for(kind.game, preset.options)
        for seats in {possible[0], possible[-1]}:
            state, events = kind.game.new_game(preset.options, seats, Rng(bytes([seed]) * 32))
            yield state, events
            while awaited := kind.game.to_act(state):
                seat = awaited[0]
                state, events = kind.game.apply(state, seat, rng.choice(kind.game.legal_moves(state, seat)))
                yield state, events


def test_every_game_of_the_catalogue_is_bound() -> None:
    assert {name: kind.game for name, kind in KINDS.items()} == GAMES


def test_the_number_of_a_kind_is_its_field_in_every_message(kind: Kind) -> None:
    for message in (pb.Options, pb.Move, pb.View, pb.EventDetail):
        assert message.DESCRIPTOR.fields_by_name[kind.name].number == translation_of(kind).number


def test_every_kind_of_the_contract_has_a_game() -> None:
    offered = {translation.number for translation in TRANSLATIONS.values()}
    assert {number for number in pb.GameKind.values() if number} == offered


def test_every_legal_move_survives_its_translation(kind: Kind) -> None:
    for state, _ in positions(kind):
        for seat in kind.game.to_act(state):
            for move in kind.game.legal_moves(state, seat):
                assert (
                    translation_of(kind).move_value(
                        pb.Move.FromString(translation_of(kind).move_message(move).SerializeToString())
                    )
                    == move
                )


def test_a_legal_move_is_encoded_with_its_label_under_the_given_field(kind: Kind) -> None:
    state, _ = next(positions(kind))
    move = kind.game.legal_moves(state, kind.game.to_act(state)[0])[0]

    message = pb.LegalMove(move=translation_of(kind).move_message(move), label=kind.game.label(move))

    assert pb.GameState.FromString(translation_of(kind).legal_move(11, move)) == pb.GameState(legal_moves=[message])
    assert rpc.LegalMovesResponse.FromString(translation_of(kind).legal_move(5, move)) == rpc.LegalMovesResponse(
        moves=[message]
    )


def test_a_view_contains_the_view_of_its_kind(kind: Kind) -> None:
    for state, _ in positions(kind):
        for viewer in (SPECTATOR, 0, 1):
            view = pb.View.FromString(translation_of(kind).view(kind.game.view(state, viewer)))

            assert view.WhichOneof("game") == kind.name
            assert view.ByteSize() == len(translation_of(kind).view(kind.game.view(state, viewer)))


def test_every_event_is_encoded_as_its_kind_with_a_sentence(kind: Kind) -> None:
    for _, events in positions(kind):
        for event in events:
            for viewer in (SPECTATOR, 0, 1):
                message = pb.Event.FromString(
                    translation_of(kind).event(7, TIME, 1, kind.game.view_event(event, viewer))
                )

                assert (message.version, message.commit_time.ToMilliseconds(), message.seat) == (7, TIME, 1)
                assert message.detail.WhichOneof("game") == kind.name
                assert getattr(message.detail, kind.name).WhichOneof("event")
                assert message.text.endswith(".")


def test_a_discarded_tile_of_juices_names_the_seat_without_a_cell() -> None:
    kind = KINDS["juices"]
    no_cell, passed_over = (
        pb.Event.FromString(translation_of(kind).event(7, TIME, 1, event)).detail.juices.discarded
        for event in (Discarded(3, Why.NO_CELL, 0), Discarded(3, Why.PASSED_OVER))
    )

    assert (no_cell.tile.number, no_cell.HasField("seat"), no_cell.seat) == (3, True, 0)
    assert not passed_over.HasField("seat")


def test_an_event_without_a_seat_has_no_seat_field(kind: Kind) -> None:
    _, events = next(positions(kind))

    assert not pb.Event.FromString(translation_of(kind).event(1, TIME, None, events[0])).HasField("seat")


def test_a_move_of_another_game_is_malformed(kind: Kind) -> None:
    with pytest.raises(InvalidField, match=f"must be {kind.name}: that is the game being played") as caught:
        translation_of(kind).move_value(pb.Move())

    assert caught.value.field == "move.game"


def test_an_unreadable_move_is_malformed_at_its_field() -> None:
    with pytest.raises(InvalidField) as caught:
        TRANSLATIONS["soda_jerk"].move_value(pb.Move(soda_jerk=SodaJerkMove()))

    assert caught.value.field == "move.soda_jerk.action"


@given(
    advanced=st.booleans(),
    first_seat=st.none() | st.integers(0, 3),
    removed_flavor=st.none() | st.sampled_from(Flavor),
    ones=st.integers(0, 9),
    twos=st.integers(0, 9),
)
def test_options_of_soda_jerk_survive_their_translation(
    advanced: bool, first_seat: int | None, removed_flavor: Flavor | None, ones: int, twos: int
) -> None:
    kind = KINDS["soda_jerk"]
    options = Options(advanced, first_seat, removed_flavor, (ones, twos, 9 - ones - twos))

    assert (
        translation_of(kind).options_value(
            pb.Options.FromString(translation_of(kind).options_message(options).SerializeToString())
        )
        == options
    )


def test_missing_options_have_the_defaults_of_the_game(kind: Kind) -> None:
    empty = pb.Options()
    getattr(empty, kind.name).SetInParent()

    assert translation_of(kind).options_value(empty) == kind.game.presets[0].options


def test_every_card_of_soda_jerk_has_a_different_message() -> None:
    kind = KINDS["soda_jerk"]
    state, _ = kind.game.new_game(Options(first_seat=0), 2, Rng(bytes(32)))
    place = type(kind.game.legal_moves(state, 0)[0])

    messages = {
        translation_of(kind).move_message(place(card, Flavor.KIWI)).soda_jerk.place.card.SerializeToString()
        for card in CARDS
    }

    assert len(messages) == len(CARDS) == 16


# --- The description of a form ----------------------------------------------------------------------------------------

_PROTO_TYPES = {
    pb.OPTION_TYPE_BOOLEAN: {FieldDescriptor.TYPE_BOOL},
    pb.OPTION_TYPE_INTEGER: {FieldDescriptor.TYPE_INT32},
    pb.OPTION_TYPE_CHOICE: {FieldDescriptor.TYPE_ENUM},
    pb.OPTION_TYPE_INTEGERS: {FieldDescriptor.TYPE_INT32},
}


def test_a_form_has_every_option_of_the_contract_with_its_type(kind: Kind) -> None:
    fields = getattr(pb.Options(), kind.name).DESCRIPTOR.fields_by_name

    options = {option.field: option for option in translation_of(kind).info().options}

    assert set(options) == set(fields)
    for name, option in options.items():
        assert fields[name].type in _PROTO_TYPES[option.value_type]
        assert fields[name].is_repeated == (option.value_type == pb.OPTION_TYPE_INTEGERS)


def test_the_choices_of_a_form_are_the_names_of_the_contract(kind: Kind) -> None:
    fields = getattr(pb.Options(), kind.name).DESCRIPTOR.fields_by_name

    for option in translation_of(kind).info().options:
        if option.value_type == pb.OPTION_TYPE_CHOICE:
            names = [value.name for value in fields[option.field].enum_type.values if value.number]
            assert list(option.choices) == names


def value_of(option: pb.OptionInfo) -> Any:
    """Return the default value of an option, which must be of the option's type."""
    name = pb.OptionType.Name(option.value_type).removeprefix("OPTION_TYPE_").lower()
    assert option.default_value.WhichOneof("value") == name
    value = getattr(option.default_value, name)
    return tuple(value.items) if name == "integers" else value


def test_the_defaults_of_a_form_are_the_defaults_of_the_options(kind: Kind) -> None:
    default: Any = kind.game.presets[0].options

    for option in translation_of(kind).info().options:
        expected = getattr(default, option.field)
        if expected is None:
            assert not option.HasField("default_value")
        else:
            assert value_of(option) == expected


def test_the_limits_of_a_form_are_those_of_the_rules() -> None:
    kind = KINDS["soda_jerk"]
    option = {option.field: option for option in translation_of(kind).info().options}["first_seat"]
    seats = kind.game.about.seats[-1]

    for first_seat in (option.minimum, option.maximum):
        assert kind.game.new_game(Options(first_seat=first_seat), seats, Rng(bytes(32)))
    for first_seat in (option.minimum - 1, option.maximum + 1):
        with pytest.raises(InvalidOptions):
            kind.game.new_game(Options(first_seat=first_seat), seats, Rng(bytes(32)))


def test_presets_are_listed_with_the_default_first(kind: Kind) -> None:
    options = [translation_of(kind).options_value(preset) for preset in translation_of(kind).info().presets]

    assert options == [preset.options for preset in kind.game.presets]


def test_every_preset_is_listed_with_its_title_and_seats(kind: Kind) -> None:
    presets = [
        (preset.title, tuple(range(preset.min_seats, preset.max_seats + 1)))
        for preset in translation_of(kind).info().preset_infos
    ]

    assert presets == [(preset.title, seats_for(kind.game, preset.options)) for preset in kind.game.presets]


def test_the_solo_preset_is_for_one_seat() -> None:
    seats = {
        preset.title: (preset.min_seats, preset.max_seats) for preset in TRANSLATIONS["juices"].info().preset_infos
    }

    assert (seats["Basic"], seats["Solo"]) == ((1, 14), (1, 1))
