"""Requirements that every game must meet, independent of its rules."""

from collections.abc import Iterator
from itertools import pairwise
from random import Random
from typing import Any, Final

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.codec import Codec, encode
from engine.errors import EngineError, GameOver, IllegalMove, InvalidOptions, NotYourTurn
from engine.game import SPECTATOR, AnyGame, Viewer, seats_for
from engine.rng import SEED_BYTES, Rng
from tests.engine.cases import CASES
from tests.engine.plays import Play, play, plays

GENERATED: Final = st.data()

pytestmark = pytest.mark.parametrize("kind", GAMES)


def viewers(seat_count: int) -> tuple[Viewer, ...]:
    return (*range(seat_count), SPECTATOR)


# --- States and moves -------------------------------------------------------------------------------------------------


def test_the_game_has_conformance_cases(kind: str) -> None:
    assert kind in CASES


@given(GENERATED)
def test_a_state_survives_encoding(kind: str, data: st.DataObject) -> None:
    codec, schema = Codec(GAMES[kind]), GAMES[kind].about.schema
    for state in data.draw(plays(kind)).states:
        snapshot = codec.encode_snapshot(state, schema)
        decoded = codec.decode_snapshot(snapshot)
        assert decoded == state
        assert codec.encode_snapshot(decoded, schema) == snapshot


@given(GENERATED)
def test_options_moves_and_events_survive_encoding(kind: str, data: st.DataObject) -> None:
    codec, schema, game = Codec(GAMES[kind]), GAMES[kind].about.schema, data.draw(plays(kind))
    assert codec.decode_options(codec.encode_options(game.options, schema), schema) == game.options
    assert codec.decode_events(codec.encode_events(game.opening, schema), schema) == game.opening
    for step in game.steps:
        assert codec.decode_move(codec.encode_move(step.move, schema), schema) == step.move
        assert codec.decode_events(codec.encode_events(step.events, schema), schema) == step.events


@given(GENERATED)
def test_a_snapshot_stays_small(kind: str, data: st.DataObject) -> None:
    codec, schema = Codec(GAMES[kind]), GAMES[kind].about.schema
    largest = max(len(codec.encode_snapshot(state, schema)) for state in data.draw(plays(kind)).states)
    assert largest <= CASES[kind].max_bytes


@given(GENERATED)
def test_no_move_changes_an_earlier_state(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    state, earlier = played.start, []
    for step in played.steps:
        earlier.append((state, encode(state)))
        state, _ = game.apply(state, step.seat, step.move)
    assert all(encode(state) == before for state, before in earlier)


@given(GENERATED)
def test_moves_events_and_views_are_hashable(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from(viewers(played.seat_count)))
    for step in played.sample(8):
        for value in (step.move, *step.events, game.view(step.after, viewer)):
            assert len({value, msgspec.convert(msgspec.to_builtins(value), type(value), strict=False)}) == 1


@given(GENERATED)
def test_apply_accepts_exactly_the_legal_moves(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for step in played.sample(6):
        moves = CASES[kind].moves_to_try(step.before, step.seat)
        accepted = {move for move in moves if accepts(game, step.before, step.seat, move)}
        wrong = accepted.symmetric_difference(game.legal_moves(step.before, step.seat))
        assert not wrong, f"{', '.join(map(str, wrong))}\nin\n{game.format_state(step.before)}"


def accepts(game: AnyGame, state: Any, seat: int, move: Any) -> bool:
    try:
        game.apply(state, seat, move)
    except IllegalMove:
        return False
    return True


@given(GENERATED)
def test_a_legal_move_is_listed_once(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        for seat in range(played.seat_count):
            moves = game.legal_moves(state, seat)
            assert len(moves) == len(set(moves))


@given(GENERATED)
def test_only_awaited_seats_can_move(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for step in played.steps:
        awaited = game.to_act(step.before)
        assert list(awaited) == sorted(set(awaited))
        for seat in range(-1, played.seat_count + 1):
            assert bool(game.legal_moves(step.before, seat)) == (seat in awaited)
            if seat not in awaited:
                with pytest.raises(NotYourTurn):
                    game.apply(step.before, seat, step.move)


@given(GENERATED)
def test_moves_of_other_seats_do_not_change_the_moves_of_an_awaited_seat(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for step in played.steps:
        for seat in set(game.to_act(step.before)) - {step.seat}:
            assert game.legal_moves(step.after, seat) == game.legal_moves(step.before, seat)


@given(GENERATED)
def test_no_piece_appears_or_disappears(kind: str, data: st.DataObject) -> None:
    cases = CASES[kind]
    for step in data.draw(plays(kind)).steps:
        if not any(cases.deals(event) for event in step.events):
            assert cases.pieces(step.after) == cases.pieces(step.before)


@given(GENERATED)
def test_every_game_ends_and_accepts_no_move_afterwards(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    assert len(played.steps) <= CASES[kind].max_moves
    assert game.to_act(played.end) == ()
    for seat in range(played.seat_count):
        assert game.legal_moves(played.end, seat) == ()
        assert game.prompt(played.end, seat) == ""
        with pytest.raises(GameOver):
            game.apply(played.end, seat, played.steps[-1].move)


@given(GENERATED)
def test_a_replay_from_seed_and_moves_gives_identical_bytes(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    state, events = game.new_game(played.options, played.seat_count, Rng(played.rng.seed))
    assert encode((state, events)) == encode((played.start, played.opening))
    for step in played.steps:
        state, events = game.apply(state, step.seat, step.move)
        assert encode((state, events)) == encode((step.after, step.events))


# --- Texts and scores -------------------------------------------------------------------------------------------------


@given(GENERATED)
def test_moves_events_and_decisions_have_texts(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for step in played.sample(4):
        for seat in range(played.seat_count):
            assert bool(game.prompt(step.before, seat)) == (seat in game.to_act(step.before))
            for text in (game.label, str):
                texts = [text(move) for move in game.legal_moves(step.before, seat)]
                assert all(texts)
                assert len(texts) == len(set(texts))
    for events in (played.opening, *(step.events for step in played.steps)):
        for event in events:
            for viewer in viewers(played.seat_count):
                assert game.describe(game.view_event(event, viewer)).endswith(".")


@given(GENERATED)
def test_every_move_causes_an_event(kind: str, data: st.DataObject) -> None:
    played = data.draw(plays(kind))
    assert played.opening
    assert all(step.events for step in played.steps)


@given(GENERATED)
def test_score_lines_add_up_and_ranks_follow_the_totals(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        score = game.score(state)
        seats = list(range(played.seat_count))
        assert [player.seat for player in score.scores] in (seats, [*seats, None])
        assert score.note.endswith(".")
        for seat in score.scores:
            assert seat.total == sum(line.points for line in seat.lines)
            assert all(line.code and line.label for line in seat.lines)
        standing = sorted(score.scores, key=lambda seat: (seat.total, seat.tie_breakers), reverse=True)
        assert standing[0].rank == 1
        for better, worse in pairwise(standing):
            assert better.rank <= worse.rank
            assert better.rank < worse.rank or better.total == worse.total


@given(GENERATED)
def test_a_score_has_winners_only_at_the_end(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        score = game.score(state)
        assert score.finished == (not game.to_act(state))
        assert score.winners == tuple(each.seat for each in score.scores if score.finished and each.rank == 1)
        assert bool(score.winners) == score.finished


# --- Hidden information -----------------------------------------------------------------------------------------------


@given(GENERATED)
def test_hidden_information_changes_nothing_that_a_viewer_receives(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from(viewers(played.seat_count)))
    random = Random(data.draw(st.integers(0, 2**64 - 1)))
    compared = 0
    for first, last, other, moves in CASES[kind].twins(played.steps, viewer, random):
        assert received(kind, other, viewer) == received(kind, played.steps[first].before, viewer)
        for step, move in zip(played.steps[first:last], moves, strict=True):
            other, events = game.apply(other, step.seat, move)
            assert list(described(game, events, viewer)) == list(described(game, step.events, viewer))
            assert received(kind, other, viewer) == received(kind, step.after, viewer)
            if random.random() < 0.2:  # errors take most of the time
                assert errors(kind, other, viewer) == errors(kind, step.after, viewer)
            compared += 1
    assert compared > 0


def received(kind: str, state: Any, viewer: Viewer) -> tuple[Any, ...]:
    """Return everything that a viewer can receive from a state, except errors."""
    game = GAMES[kind]
    public = encode(game.view(state, viewer)), game.to_act(state), game.score(state)
    if viewer is SPECTATOR:
        return public
    moves = game.legal_moves(state, viewer)
    return *public, moves, [game.label(move) for move in moves], game.prompt(state, viewer)


def errors(kind: str, state: Any, viewer: Viewer) -> list[tuple[str, str] | None]:
    """Return the errors of all moves that a viewer may try."""
    if viewer is SPECTATOR:
        return []
    return [error_of(GAMES[kind], state, viewer, move) for move in CASES[kind].moves_to_try(state, viewer)]


def error_of(game: AnyGame, state: Any, seat: int, move: Any) -> tuple[str, str] | None:
    try:
        game.apply(state, seat, move)
    except EngineError as error:
        return type(error).__name__, str(error)
    return None


def described(game: AnyGame, events: tuple[Any, ...], viewer: Viewer) -> Iterator[tuple[bytes, str]]:
    for event in events:
        seen = game.view_event(event, viewer)
        yield encode(seen), game.describe(seen)


@given(GENERATED)
def test_the_states_compared_for_hidden_information_differ(kind: str, data: st.DataObject) -> None:
    """At least one other seat sees a difference. Otherwise the test above would compare equal states."""
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from(viewers(played.seat_count)))
    twins = list(CASES[kind].twins(played.steps, viewer, Random(0)))
    others = [seat for seat in range(played.seat_count) if seat != viewer]
    assume(others)
    assume(any(played.steps[first].before != other for first, _, other, _ in twins))
    assert any(
        game.view(other, seat) != game.view(played.steps[first].before, seat)
        for first, _, other, _ in twins
        for seat in others
    )


# --- Options ----------------------------------------------------------------------------------------------------------


def test_every_option_is_described_with_its_default(kind: str) -> None:
    game = GAMES[kind]
    described = {option.field: option.default for option in game.about.options}
    assert described == msgspec.structs.asdict(game.options_type())


def test_the_first_preset_is_the_default(kind: str) -> None:
    game = GAMES[kind]
    assert game.presets[0].options == game.options_type()


def test_every_preset_has_its_own_title_and_options(kind: str) -> None:
    presets = GAMES[kind].presets
    assert all(preset.title for preset in presets)
    assert len({preset.title for preset in presets}) == len({preset.options for preset in presets}) == len(presets)


def test_a_preset_is_valid_for_a_range_of_seats_and_the_default_for_all(kind: str) -> None:
    game = GAMES[kind]
    for preset in game.presets:
        seats = seats_for(game, preset.options)
        assert seats == tuple(range(seats[0], seats[-1] + 1))
        assert seats == tuple(game.about.seats) or preset != game.presets[0]
        for seat_count in seats:
            played: Play = play(game, preset.options, seat_count, bytes(SEED_BYTES), Random(0), CASES[kind].max_moves)
            assert game.score(played.end).finished


def test_an_invalid_number_of_seats_is_an_error(kind: str) -> None:
    game = GAMES[kind]
    for seat_count in (-1, 0, game.about.seats[0] - 1, game.about.seats[-1] + 1, 1000):
        with pytest.raises(InvalidOptions) as error:
            game.new_game(game.options_type(), seat_count, Rng(bytes(SEED_BYTES)))
        assert error.value.field == "seat_count"
