"""What every game must keep, whatever its rules."""

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


def test_the_conformance_tests_know_the_game(kind: str) -> None:
    assert kind in CASES


@given(GENERATED)
def test_a_state_survives_encoding(kind: str, data: st.DataObject) -> None:
    codec = Codec(GAMES[kind])
    for state in data.draw(plays(kind)).states:
        snapshot = codec.encode_snapshot(state)
        decoded = codec.decode_snapshot(snapshot)
        assert decoded == state
        assert codec.encode_snapshot(decoded) == snapshot


@given(GENERATED)
def test_options_moves_and_events_survive_encoding(kind: str, data: st.DataObject) -> None:
    codec, game = Codec(GAMES[kind]), data.draw(plays(kind))
    assert codec.decode_options(encode(game.options)) == game.options
    assert codec.decode_events(encode(game.opening)) == game.opening
    for step in game.steps:
        assert codec.decode_move(encode(step.move)) == step.move
        assert codec.decode_events(encode(step.events)) == step.events


@given(GENERATED)
def test_a_snapshot_stays_small(kind: str, data: st.DataObject) -> None:
    codec = Codec(GAMES[kind])
    largest = max(len(codec.encode_snapshot(state)) for state in data.draw(plays(kind)).states)
    assert largest <= CASES[kind].largest


@given(GENERATED)
def test_no_move_changes_an_earlier_state(kind: str, data: st.DataObject) -> None:
    game, state, earlier = GAMES[kind], data.draw(plays(kind)).start, []
    luck = Random(data.draw(st.integers(0, 2**64 - 1)))
    while awaited := game.to_act(state):
        earlier.append((state, encode(state)))
        seat = luck.choice(awaited)
        state, _ = game.apply(state, seat, luck.choice(game.legal_moves(state, seat)))
    assert all(encode(state) == before for state, before in earlier)


@given(GENERATED)
def test_what_is_handed_out_can_be_a_key(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from(viewers(played.seat_count)))
    for step in played.steps:
        for value in (step.move, *step.events, game.view(step.after, viewer)):
            assert len({value, msgspec.convert(msgspec.to_builtins(value), type(value), strict=False)}) == 1


@given(GENERATED)
def test_apply_accepts_exactly_the_legal_moves(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for step in played.steps:
        moves = CASES[kind].moves_to_try(step.before, step.seat)
        accepted = {move for move in moves if accepts(game, step.before, step.seat, move)}
        assert accepted == set(game.legal_moves(step.before, step.seat))


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
def test_only_an_awaited_seat_moves(kind: str, data: st.DataObject) -> None:
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
def test_another_seats_move_does_not_change_the_moves_of_an_awaited_one(kind: str, data: st.DataObject) -> None:
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
def test_every_game_ends_and_stays_over(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    assert len(played.steps) <= CASES[kind].longest
    assert game.to_act(played.end) == ()
    for seat in range(played.seat_count):
        assert game.legal_moves(played.end, seat) == ()
        assert game.prompt(played.end, seat) == ""
        with pytest.raises(GameOver):
            game.apply(played.end, seat, played.steps[-1].move)


@given(GENERATED)
def test_seed_and_moves_replay_to_the_same_bytes(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    state, events = game.new_game(played.options, played.seat_count, Rng(played.rng.seed))
    assert encode((state, events)) == encode((played.start, played.opening))
    for step in played.steps:
        state, events = game.apply(state, step.seat, step.move)
        assert encode((state, events)) == encode((step.after, step.events))


# --- What is told -----------------------------------------------------------------------------------------------------


@given(GENERATED)
def test_moves_events_and_open_decisions_have_words(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        for seat in range(played.seat_count):
            assert bool(game.prompt(state, seat)) == (seat in game.to_act(state))
            labels = [game.label(move) for move in game.legal_moves(state, seat)]
            assert all(labels)
            assert len(labels) == len(set(labels))
    for events in (played.opening, *(step.events for step in played.steps)):
        for event in events:
            for viewer in viewers(played.seat_count):
                assert game.describe(game.view_event(event, viewer)).endswith(".")


@given(GENERATED)
def test_every_move_brings_an_event_about(kind: str, data: st.DataObject) -> None:
    played = data.draw(plays(kind))
    assert played.opening
    assert all(step.events for step in played.steps)


@given(GENERATED)
def test_score_lines_add_up_and_ranks_follow_the_totals(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        score = game.score(state)
        assert [seat.seat for seat in score.seats][: played.seat_count] == list(range(played.seat_count))
        assert score.note.endswith(".")
        for seat in score.seats:
            assert seat.total == sum(line.points for line in seat.lines)
            assert all(line.code and line.label for line in seat.lines)
        standing = sorted(score.seats, key=lambda seat: (seat.total, seat.tie_breakers), reverse=True)
        assert standing[0].rank == 1
        for better, worse in pairwise(standing):
            assert better.rank <= worse.rank
            assert better.rank < worse.rank or better.total == worse.total


@given(GENERATED)
def test_winners_are_named_at_the_end_and_not_before(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    for state in played.states:
        score = game.score(state)
        assert score.final == (not game.to_act(state))
        assert bool(score.winners) == score.final


# --- What is hidden ---------------------------------------------------------------------------------------------------


@given(GENERATED)
def test_what_a_viewer_may_not_know_changes_nothing_that_it_gets(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    viewer = data.draw(st.sampled_from(viewers(played.seat_count)))
    luck = Random(data.draw(st.integers(0, 2**64 - 1)))
    compared = 0
    for first, last, other, moves in CASES[kind].twins(played.steps, viewer, luck):
        assert gets(kind, other, viewer) == gets(kind, played.steps[first].before, viewer)
        for step, move in zip(played.steps[first:last], moves, strict=True):
            other, events = game.apply(other, step.seat, move)
            assert list(told(game, events, viewer)) == list(told(game, step.events, viewer))
            assert gets(kind, other, viewer) == gets(kind, step.after, viewer)
            compared += 1
    assert compared > 0


def gets(kind: str, state: Any, viewer: Viewer) -> tuple[Any, ...]:
    """Everything that a viewer can get out of a state."""
    game = GAMES[kind]
    public = encode(game.view(state, viewer)), game.to_act(state), game.score(state)
    if viewer is SPECTATOR:
        return public
    moves = game.legal_moves(state, viewer)
    errors = [refusal(game, state, viewer, move) for move in CASES[kind].moves_to_try(state, viewer)]
    return *public, moves, [game.label(move) for move in moves], game.prompt(state, viewer), errors


def refusal(game: AnyGame, state: Any, seat: int, move: Any) -> tuple[str, str] | None:
    try:
        game.apply(state, seat, move)
    except EngineError as error:
        return type(error).__name__, str(error)
    return None


def told(game: AnyGame, events: tuple[Any, ...], viewer: Viewer) -> Iterator[tuple[bytes, str]]:
    for event in events:
        seen = game.view_event(event, viewer)
        yield encode(seen), game.describe(seen)


@given(GENERATED)
def test_twin_games_differ_for_somebody_who_may_know(kind: str, data: st.DataObject) -> None:
    """Else the test of secrecy would compare games with themselves."""
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


def test_every_option_is_told_with_its_default(kind: str) -> None:
    game = GAMES[kind]
    told = {option.field: option.default for option in game.about.options}
    assert told == msgspec.structs.asdict(game.options_type())


def test_the_first_preset_is_the_default(kind: str) -> None:
    game = GAMES[kind]
    assert game.presets[0].options == game.options_type()


def test_every_preset_has_a_title_and_options_of_its_own(kind: str) -> None:
    presets = GAMES[kind].presets
    assert all(preset.title for preset in presets)
    assert len({preset.title for preset in presets}) == len({preset.options for preset in presets}) == len(presets)


def test_the_default_preset_makes_a_game_for_every_number_of_seats_and_each_other_for_a_range(kind: str) -> None:
    game = GAMES[kind]
    for preset in game.presets:
        seats = seats_for(game, preset.options)
        assert seats == tuple(range(seats[0], seats[-1] + 1))
        assert seats == tuple(game.about.seats) or preset != game.presets[0]
        for seat_count in seats:
            played: Play = play(game, preset.options, seat_count, bytes(SEED_BYTES), Random(0), CASES[kind].longest)
            assert game.score(played.end).final


def test_a_number_of_seats_that_cannot_play_is_refused(kind: str) -> None:
    game = GAMES[kind]
    for seat_count in (-1, 0, game.about.seats[0] - 1, game.about.seats[-1] + 1, 1000):
        with pytest.raises(InvalidOptions) as refused:
            game.new_game(game.options_type(), seat_count, Rng(bytes(SEED_BYTES)))
        assert refused.value.field == "seat_count"
