"""The engine and the independent reference play the same games and agree on everything."""

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any, Self

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR
from engine.soda_smugglers import SODA_SMUGGLERS
from engine.soda_smugglers.components import EventCard
from engine.soda_smugglers.events import RoundEnded
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Inspect,
    Move,
    Open,
    Pack,
    Sniff,
    State,
    WaveThrough,
)
from tests.engine.plays import Play, Step, pick, plays
from tests.engine.soda_smugglers import reference
from tests.engine.soda_smugglers.positions import opening_with
from tests.engine.trees import TREES, count_reference_leaves, trees_of
from tests.support.long_cases import long_case

CARDS = {
    EventCard.BIRTHDAY: "birthday",
    EventCard.BREAKAGE: "breakage",
    EventCard.NIGHT_SHIFT: "night shift",
    EventCard.TEMPTATION: "temptation",
    EventCard.SUPERIOR_OFFICER: "superior officer",
    EventCard.SNIFFER_DOG: "sniffer dog",
    EventCard.TIP_OFF: "tip-off",
    EventCard.HOLIDAY_SEASON: "holiday season",
}


def in_reference(move: Move) -> reference.Move:
    """Return a move of the engine as a move of the reference."""
    match move:
        case Pack(luggage, bribe):
            return ("pack", luggage, bribe)
        case AcceptBribe(seat):
            return ("accept", seat)
        case AcceptAll():
            return ("accept all",)
        case Inspect(seat, slot):
            return ("inspect", seat, slot)
        case Sniff(seat):
            return ("sniff", seat)
        case Open(slot):
            return ("open", slot)
        case Arrest(seat, tip_off):
            return ("tip-off" if tip_off else "arrest", seat)
        case WaveThrough():
            return ("wave",)


def started(state: State, caps: list[int]) -> reference.Round:
    """Return the reference's round at its start; `caps` are those before the round."""
    event = CARDS[EventCard(state.events[state.round - 1])] if state.events else None
    return reference.Round(state.guard, [list(hand) for hand in state.hands], caps, event)


def side_by_side(played: Play) -> Iterator[tuple[Step, reference.Round]]:
    """Yield every step with the reference's round before it. The caller must play the step in that round."""
    in_play = started(played.start, [10] * played.seat_count)
    for step in played.steps:
        yield step, in_play
        if in_play.over and SODA_SMUGGLERS.to_act(step.after):
            in_play = started(step.after, list(in_play.caps))


@given(plays("soda_smugglers"))
def test_legal_moves_and_awaited_seats_are_those_of_the_reference(played: Play) -> None:
    for step, in_play in side_by_side(played):
        assert set(SODA_SMUGGLERS.to_act(step.before)) == in_play.awaited()
        moves = SODA_SMUGGLERS.legal_moves(step.before, step.seat)
        assert {in_reference(move) for move in moves} == in_play.legal(step.seat)
        in_play.play(step.seat, in_reference(step.move))


@given(plays("soda_smugglers"))
def test_caps_are_those_of_the_reference(played: Play) -> None:
    rounds = 1
    for step, in_play in side_by_side(played):
        assert list(step.before.caps) == in_play.caps
        in_play.play(step.seat, in_reference(step.move))
        assert in_play.over == (step.after.round > step.before.round or not SODA_SMUGGLERS.to_act(step.after))
        if not in_play.over:
            assert list(step.after.caps) == in_play.caps
        last, rounds = in_play, max(rounds, step.after.round)
    assert rounds == reference.rounds_of(played.seat_count)
    assert list(played.end.caps) == last.caps
    assert set(SODA_SMUGGLERS.score(played.end).winners) == reference.winners(last.caps)


@pytest.mark.parametrize("seat_count", range(3, 9))
@pytest.mark.parametrize("card", EventCard)
@pytest.mark.parametrize("games", [5, long_case(20)])
def test_each_single_event_is_the_same_as_in_the_reference(card: EventCard, seat_count: int, games: int) -> None:
    for number in range(games):
        random = Random(f"{card} {seat_count} {number}")
        state = opening_with(card, seat_count, number)
        in_play = started(state, [10] * seat_count)
        while not in_play.over:
            seat = random.choice(SODA_SMUGGLERS.to_act(state))
            moves = SODA_SMUGGLERS.legal_moves(state, seat)
            assert {in_reference(move) for move in moves} == in_play.legal(seat)
            move = pick(moves, random, 0.5)
            state, events = SODA_SMUGGLERS.apply(state, seat, move)
            in_play.play(seat, in_reference(move))
            held = [event.caps for event in events if isinstance(event, RoundEnded)] or [state.caps]
            assert list(held[0]) == in_play.caps


@given(plays("soda_smugglers"), st.data())
def test_a_view_shows_what_the_reference_shows(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    for step, in_play in side_by_side(played):
        view = SODA_SMUGGLERS.view(step.before, viewer)
        for seat in view.seats:
            assert [suitcase.bottles for suitcase in seat.luggage] == in_play.sees(viewer, seat.seat)
            assert seat.bribe == in_play.sees_bribe(viewer, seat.seat)
            assert seat.at_border == in_play.at_border(seat.seat)
            unpacked = seat.seat != view.guard_seat and not seat.packed
            assert list(seat.hand) == (in_play.hands[seat.seat] if unpacked and seat.seat == viewer else [])
        left = view.tokens
        assert (left.bribe, left.inspect, left.arrest) == (
            in_play.bribe_tokens,
            in_play.inspect_tokens,
            in_play.arrest_tokens,
        )
        assert (left.sniff, left.tip_off) == (in_play.sniffs, in_play.tip_offs)
        in_play.play(step.seat, in_reference(step.move))


@dataclass
class Position:
    """A state, and the reference's round at the same point."""

    state: State
    round: reference.Round

    def moves(self) -> Iterator[tuple[int, Any]]:
        return ((seat, move) for seat in self.round.awaited() for move in self.round.legal(seat))

    def after(self, seat: int, move: Any) -> Self:
        engine_move = next(each for each in SODA_SMUGGLERS.legal_moves(self.state, seat) if in_reference(each) == move)
        state, _ = SODA_SMUGGLERS.apply(self.state, seat, engine_move)
        played = deepcopy(self.round)
        played.play(seat, move)
        return type(self)(state, started(state, list(played.caps)) if played.over else played)


@pytest.mark.parametrize("name", trees_of("soda_smugglers"))
def test_a_tree_has_the_counts_of_the_reference(name: str) -> None:
    tree = TREES[name]
    position = Position(tree.start(), started(tree.start(), [10] * tree.seat_count))
    for seat, move in tree.path():
        position = position.after(seat, in_reference(move))
    depth = tree.reference_depth
    assert count_reference_leaves(position, depth) == tree.counts[depth - 1]
