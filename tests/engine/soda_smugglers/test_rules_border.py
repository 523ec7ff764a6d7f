"""The guard's turn: SS-B0 to SS-B6."""

from collections.abc import Callable

import pytest

from engine.game import SPECTATOR
from engine.soda_smugglers.components import EventCard, Tokens
from engine.soda_smugglers.events import Inspected, LeftBorder, RoundEnded, RoundStarted
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Move,
    Open,
    Pack,
    Sniff,
    WaveThrough,
)
from tests.engine.soda_smugglers.positions import (
    GAME,
    WAVE,
    border,
    caps,
    departures,
    error_text,
    happens,
    known,
    legal,
    play,
    seen,
)

THREE = ("21+1", "00+2", "10+0")
"""Three travelers, with 3, 0 and 1 bottles in their luggage."""

# --- The order of the stages ------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B0")
def test_the_guard_may_begin_with_any_stage() -> None:
    kinds = {type(move) for move in GAME.legal_moves(border(*THREE), 0)}
    assert kinds == {AcceptBribe, Inspect, Arrest, WaveThrough}


@pytest.mark.rule("SS-B0")
def test_an_inspection_closes_the_bribes() -> None:
    state = play(border(*THREE), Inspect(2, 1))
    assert {type(move) for move in GAME.legal_moves(state, 0)} == {Arrest, WaveThrough}
    assert error_text(state, 0, AcceptBribe(1)) == "Now it is your turn as the guard; bribes are over."


@pytest.mark.rule("SS-B0")
def test_an_arrest_closes_bribes_and_inspections() -> None:
    state = play(border(*THREE, "00+0"), Arrest(1))
    assert {type(move) for move in GAME.legal_moves(state, 0)} == {Arrest, WaveThrough}
    for move in (AcceptBribe(2), Inspect(2, 1), Sniff(2), AcceptAll()):
        assert error_text(state, 0, move) == "Now it is your turn as the guard; bribes and inspections are over."


@pytest.mark.rule("SS-B0")
def test_after_a_bribe_everything_is_still_open() -> None:
    state = play(border(*THREE, "00+0", "00+0", "00+0"), AcceptBribe(1))
    assert state.tokens == Tokens(1, 2, 2)
    kinds = {type(move) for move in GAME.legal_moves(state, 0)}
    assert kinds == {AcceptBribe, Inspect, Arrest, WaveThrough}


@pytest.mark.rule("SS-B0")
@pytest.mark.parametrize(
    ("first", "second", "remaining"),
    [
        (AcceptBribe(1), AcceptBribe(2), Tokens(0, 1, 1)),
        (Inspect(1, 1), Inspect(2, 1), Tokens(1, 0, 1)),
        (Arrest(1), Arrest(2), Tokens(1, 1, 0)),
    ],
)
def test_each_token_is_used_once(first: Move, second: Move, remaining: Tokens) -> None:
    state = play(border(*THREE), first)
    assert GAME.view(state, SPECTATOR).tokens == remaining
    assert legal(state, type(second)) == []
    assert "token left" in error_text(state, 0, second)


@pytest.mark.rule("SS-B0")
def test_the_guard_sees_each_result_before_the_next_token() -> None:
    state = border(*THREE, "32+0", "00+0", "00+0")
    for move, seat, seen_then in (
        (AcceptBribe(2), 2, [0, 0]),
        (AcceptBribe(3), 3, [1, 0]),
        (Inspect(1, 1), 1, [2, None]),
        (Inspect(4, 2), 4, [None, 2]),
        (Arrest(4), 4, [3, 2]),
        (Arrest(5), 5, [0, 0]),
    ):
        assert GAME.to_act(state) == (0,)
        assert known(state, seat, viewer=0) != seen_then
        state = play(state, move)
        assert known(state, seat, viewer=0) == seen_then
    assert state.tokens == Tokens(0, 0, 0)


@pytest.mark.rule("SS-B0")
def test_the_guard_ends_the_turn_by_waving_through() -> None:
    state = border(*THREE)
    assert [type(event) for event in happens(state, WAVE)] == [LeftBorder] * 3 + [RoundEnded, RoundStarted]


@pytest.mark.rule("SS-B0")
def test_the_turn_continues_without_tokens_until_the_guard_waves_through() -> None:
    state = play(border(*THREE), AcceptBribe(1), Inspect(2, 1), Arrest(3))
    assert state.tokens == Tokens(0, 0, 0)
    assert GAME.legal_moves(state, 0) == (WAVE,)


@pytest.mark.rule("SS-B0")
def test_the_turn_ends_when_no_traveler_is_left() -> None:
    state = play(border("21+1", "00+2"), AcceptBribe(2))
    assert [type(event) for event in happens(state, Arrest(1))] == [LeftBorder, RoundEnded, RoundStarted]


@pytest.mark.rule("SS-B0")
@pytest.mark.parametrize("move", [Pack((0, 0), 0), Open(1)])
def test_moves_of_travelers_are_illegal_for_the_guard(move: Move) -> None:
    assert error_text(border(*THREE), 0, move) == "Now it is your turn as the guard."


@pytest.mark.rule("SS-B0", "SS-B1", "SS-B2", "SS-B3")
@pytest.mark.parametrize("seat", [-1, 0, 1, 4, 8])
@pytest.mark.parametrize("act", [AcceptBribe, Arrest, lambda seat: Inspect(seat, 1)])
def test_only_travelers_at_the_border_can_be_chosen(seat: int, act: Callable[[int], Move]) -> None:
    """Seat 0 is the guard; seat 1 has left."""
    state = play(border(*THREE, event=EventCard.NIGHT_SHIFT), AcceptBribe(1))
    assert error_text(state, 0, act(seat)) == f"Seat {seat} is not a traveler at the border."


# --- Bribes -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B1")
def test_an_accepted_bribe_is_paid_and_the_traveler_gains_and_leaves() -> None:
    state = border(*THREE)
    assert happens(state, AcceptBribe(1)) == [LeftBorder(1, Departure.BRIBED, (2, 1), 2, 1)]
    state = play(state, AcceptBribe(1))
    assert state.caps == (11, 12, 10, 10)
    assert known(state, 1) == [2, 1]
    assert (seen(state, 1).at_border, seen(state, 1).left) == (False, Departure.BRIBED)
    assert legal(state, Arrest) == [Arrest(2), Arrest(3)]


@pytest.mark.rule("SS-B1")
def test_the_bribe_is_paid_from_the_caps_held_before_the_gain() -> None:
    assert caps(border("33+3", "00+0", caps=(10, 2, 10)), AcceptBribe(1)) == (12, 6, 10)


@pytest.mark.rule("SS-B1")
def test_an_empty_bribe_can_be_accepted_and_uses_a_token() -> None:
    assert legal(border(*THREE), AcceptBribe) == [AcceptBribe(1), AcceptBribe(2), AcceptBribe(3)]
    state = play(border(*THREE), AcceptBribe(3))
    assert state.caps == (10, 10, 10, 11)
    assert state.tokens.bribe == 0


@pytest.mark.rule("SS-B1")
def test_a_bribe_is_described() -> None:
    (event,) = happens(border(*THREE), AcceptBribe(1))
    assert GAME.describe(event) == "Seat 1 pays 1 cap and passes with 3 bottles."


# --- Inspections ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B2")
@pytest.mark.parametrize(("slot", "bottles"), [(1, 2), (2, 1)])
def test_an_inspected_slot_becomes_public(slot: int, bottles: int) -> None:
    state = border(*THREE)
    assert happens(state, Inspect(1, slot)) == [Inspected(1, slot, bottles)]
    state = play(state, Inspect(1, slot))
    for viewer in (0, 2, SPECTATOR):
        assert known(state, 1, viewer) == [bottles if at == slot else None for at in (1, 2)]
        assert [suitcase.face_up for suitcase in seen(state, 1, viewer).luggage] == [slot == 1, slot == 2]
    assert known(state, 1, viewer=1) == [2, 1]
    assert seen(state, 1).at_border


@pytest.mark.rule("SS-B2")
def test_each_traveler_is_inspected_once_a_round() -> None:
    state = play(border("21+1", "00+2", "10+0", "00+0", "00+0"), Inspect(1, 1))
    assert legal(state, Inspect) == [Inspect(seat, slot) for seat in range(2, 6) for slot in (1, 2)]
    assert (
        error_text(state, 0, Inspect(1, 2))
        == "A suitcase of seat 1 was opened already; only one can be opened in a round."
    )
    assert (
        error_text(state, 0, Inspect(1, 1))
        == "A suitcase of seat 1 was opened already; only one can be opened in a round."
    )


@pytest.mark.rule("SS-B2")
def test_a_traveler_can_be_inspected_again_in_the_next_round() -> None:
    state = play(border("21+1", "00+2"), Inspect(1, 1), WAVE)
    for seat in GAME.to_act(state):
        state, _ = GAME.apply(state, seat, GAME.legal_moves(state, seat)[0])
    assert Inspect(2, 1) in GAME.legal_moves(state, 1)
    assert state.opened == bytes(3)


@pytest.mark.rule("SS-B2")
@pytest.mark.parametrize("slot", [-1, 0, 3])
def test_a_slot_that_does_not_exist_cannot_be_inspected(slot: int) -> None:
    text = f"There is no suitcase {slot}; luggage has 2 suitcases this round."
    assert error_text(border(*THREE), 0, Inspect(1, slot)) == text


@pytest.mark.rule("SS-B2")
def test_an_inspection_is_described() -> None:
    text = [GAME.describe(happens(border(*THREE), Inspect(seat, 2))[0]) for seat in (1, 2)]
    assert text == [
        "The guard inspects suitcase 2 of seat 1: 1 bottle.",
        "The guard inspects suitcase 2 of seat 2: no bottles.",
    ]


# --- Arrests ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B3")
@pytest.mark.parametrize(("pack", "bottles"), [("11+0", 2), ("02+0", 2), ("33+0", 6)])
def test_two_or_more_bottles_go_to_the_guard(pack: str, bottles: int) -> None:
    state = border(pack, "00+0")
    (event,) = departures(happens(state, Arrest(1)))
    assert event == LeftBorder(1, Departure.CAUGHT, tuple(int(each) for each in pack[:2]), 0, bottles)
    state = play(state, Arrest(1))
    assert state.caps == (10 + bottles, 10, 10)
    assert known(state, 1) == [int(each) for each in pack[:2]]
    assert not seen(state, 1).at_border


@pytest.mark.rule("SS-B3")
@pytest.mark.parametrize(("pack", "bottles"), [("00+3", 0), ("10+3", 1), ("01+3", 1)])
def test_one_bottle_or_none_is_an_undue_arrest(pack: str, bottles: int) -> None:
    (event,) = departures(happens(border(pack, "00+0"), Arrest(1)))
    assert (event.how, event.caps, event.guard_caps) == (Departure.UNDULY_ARRESTED, 2 + bottles, -2)
    state = play(border(pack, "00+0"), Arrest(1))
    assert state.caps == (8, 12 + bottles, 10)
    assert seen(state, 1).left is Departure.UNDULY_ARRESTED


@pytest.mark.rule("SS-B3")
def test_the_guard_apologizes() -> None:
    (event,) = departures(happens(border("10+3", "00+0"), Arrest(1)))
    text = "Seat 1 is arrested unduly with 1 bottle; the guard apologizes and pays 2 caps."
    assert GAME.describe(event) == text


@pytest.mark.rule("SS-B3")
def test_a_right_arrest_is_described() -> None:
    (event,) = departures(happens(border("12+3", "00+0"), Arrest(1)))
    assert GAME.describe(event) == "Seat 1 is caught with 3 bottles; the guard confiscates them."


@pytest.mark.rule("SS-B3")
def test_travelers_can_be_arrested_with_or_without_an_inspection() -> None:
    state = play(border(*THREE, "11+0"), Inspect(1, 1))
    assert legal(state, Arrest) == [Arrest(seat) for seat in (1, 2, 3, 4)]
    assert caps(state, Arrest(1)) == (13, 10, 10, 10, 10)


@pytest.mark.rule("SS-B4")
@pytest.mark.parametrize(("pack", "bottles"), [("00+3", 0), ("10+1", 1)])
def test_a_bribe_never_counts_as_luggage(pack: str, bottles: int) -> None:
    assert caps(border(pack, "00+0"), Arrest(1)) == (8, 12 + bottles, 10)
    assert caps(border(pack, "00+0"), WAVE) == (10, 10 + bottles, 10)
    assert caps(border("21+3", "00+0"), Arrest(1)) == (13, 10, 10)
    assert caps(border("11+1", "00+0"), AcceptBribe(1)) == (11, 11, 10)


# --- Wave through -----------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B5")
def test_waved_through_travelers_reveal_luggage_and_gain_its_bottles() -> None:
    events = happens(border(*THREE), WAVE)
    assert departures(events) == [
        LeftBorder(1, Departure.WAVED_THROUGH, (2, 1), 3, 0),
        LeftBorder(2, Departure.WAVED_THROUGH, (0, 0), 0, 0),
        LeftBorder(3, Departure.WAVED_THROUGH, (1, 0), 1, 0),
    ]
    assert GAME.describe(events[0]) == "Seat 1 is waved through with 3 bottles."


@pytest.mark.rule("SS-B5")
def test_no_bribe_is_paid_when_travelers_are_waved_through() -> None:
    assert caps(border("21+3", "00+2"), WAVE) == (10, 13, 10)


@pytest.mark.rule("SS-B5")
def test_only_the_remaining_travelers_are_waved_through() -> None:
    events = happens(border(*THREE), AcceptBribe(2), Arrest(1), WAVE)
    assert [event.seat for event in departures(events)] == [3]


# --- Caps are never negative ------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-B6")
@pytest.mark.parametrize(("held", "paid"), [(0, 0), (1, 1), (2, 2), (3, 3), (9, 3)])
def test_a_traveler_with_fewer_caps_than_the_bribe_pays_all_its_caps(held: int, paid: int) -> None:
    state = border("00+3", "00+0", caps=(5, held, 10))
    assert caps(state, AcceptBribe(1)) == (5 + paid, held - paid, 10)


@pytest.mark.rule("SS-B6")
@pytest.mark.parametrize(("held", "paid"), [(0, 0), (1, 1), (2, 2), (7, 2)])
def test_a_guard_with_fewer_caps_than_it_owes_pays_all_its_caps(held: int, paid: int) -> None:
    state = border("10+3", "00+0", caps=(held, 10, 10))
    assert caps(state, Arrest(1)) == (held - paid, 11 + paid, 10)


@pytest.mark.rule("SS-B6")
def test_the_event_of_a_guard_without_caps_says_that_it_pays_nothing() -> None:
    (event,) = departures(happens(border("00+0", "00+0", caps=(0, 10, 10)), Arrest(1)))
    assert GAME.describe(event).endswith("the guard apologizes and pays nothing.")
