"""Texts: prompts, labels, descriptions of events, and score lines."""

from collections import Counter
from random import Random

import pytest
from hypothesis import given

from engine.codec import Codec
from engine.game import SPECTATOR, ScoreLine
from engine.soda_smugglers.components import EventCard
from engine.soda_smugglers.events import EventRevealed, LeftBorder, RoundEnded, RoundStarted
from engine.soda_smugglers.state import AcceptAll, AcceptBribe, Arrest, Inspect, Open, Sniff
from tests.engine.plays import Play, plays
from tests.engine.soda_smugglers.positions import (
    FIVE,
    GAME,
    WAVE,
    border,
    new,
    opening_with,
    packed,
    packing,
    play,
    seen,
)

# --- Views ------------------------------------------------------------------------------------------------------------


def test_a_seat_that_does_not_exist_sees_what_a_spectator_sees() -> None:
    state = border("21+1", "00+2")
    assert GAME.view(state, 3) == GAME.view(state, -1) == GAME.view(state, SPECTATOR)


def test_an_unchanged_seat_is_the_same_object_in_later_views() -> None:
    state = border("21+1", "00+2")
    assert seen(state, 1) is seen(play(state, Inspect(2, 1)), 1)


def test_a_seat_that_has_not_packed_has_no_luggage() -> None:
    state = packing(FIVE, FIVE)
    assert all(seat.luggage == () and seat.bribe is None for seat in GAME.view(state, 1).seats)
    assert [seat.at_border for seat in GAME.view(state, 1).seats] == [False, True, True]


# --- Prompts and labels -----------------------------------------------------------------------------------------------


def test_the_prompt_of_travelers_is_to_pack() -> None:
    state = packing(FIVE, FIVE)
    assert GAME.prompt(state, 1) == GAME.prompt(state, 2) == "Pack two suitcases as luggage and offer one as a bribe."


def test_the_prompt_of_the_guard_lists_what_is_possible() -> None:
    state = border("21+1", "00+2")
    assert GAME.prompt(state, 0) == (
        "You are the guard: accept a bribe, inspect a suitcase, arrest a traveler or wave the rest through."
    )
    assert GAME.prompt(play(state, Inspect(1, 1)), 0) == (
        "You are the guard: arrest a traveler or wave the rest through."
    )
    assert GAME.prompt(play(state, Arrest(1)), 0) == "You are the guard: wave the rest through."
    dog = border("21+1", "00+2", event=EventCard.SNIFFER_DOG)
    assert "send the dog to a traveler" in GAME.prompt(dog, 0)
    assert "accept every bribe" in GAME.prompt(border("21+1", "00+2", event=EventCard.TEMPTATION), 0)


def test_moves_have_labels() -> None:
    moves = (
        packed("23+1"), packed("203+1"), packed("23"), AcceptBribe(1), AcceptAll(), Inspect(2, 1), Sniff(3), Open(2),
        Arrest(1), Arrest(1, tip_off=True), WAVE,
    )  # fmt: skip
    assert [GAME.label(move) for move in moves] == [
        "Pack 2 and 3, offer 1",
        "Pack 2, 0 and 3, offer 1",
        "Pack 2 and 3",
        "Accept the bribe of seat 1",
        "Accept every bribe and let all travelers pass",
        "Inspect suitcase 1 of seat 2",
        "Send the dog to seat 3",
        "Open suitcase 2",
        "Arrest seat 1",
        "Arrest seat 1 on the tip-off",
        "Wave the rest through",
    ]


def test_rounds_are_described() -> None:
    assert GAME.describe(RoundStarted(2, 4)) == "Round 2 starts with seat 4 as the guard."
    assert GAME.describe(EventRevealed(EventCard.TIP_OFF, 0)) == "The event of the round is Tip-Off."
    assert GAME.describe(EventRevealed(EventCard.BREAKAGE, -1)) == (
        "The event of the round is Breakage; the guard loses 1 cap."
    )
    assert GAME.describe(RoundEnded(2, (1, 0, 12))) == (
        "Round 2 ends: seat 0 holds 1 cap, seat 1 holds no caps and seat 2 holds 12 caps."
    )


# --- Caps -------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-C2", "SS-B1", "SS-B3", "SS-B5")
@given(plays("soda_smugglers"))
def test_caps_come_from_the_stock_for_bottles_and_events_only(played: Play) -> None:
    stock_gave = 0
    for events in (played.opening, *(step.events for step in played.steps)):
        for event in events:
            if isinstance(event, LeftBorder):
                assert event.caps + event.guard_caps == sum(event.luggage)
                stock_gave += sum(event.luggage)
            elif isinstance(event, EventRevealed):
                stock_gave += event.guard_caps
            elif isinstance(event, RoundEnded):
                assert sum(event.caps) == 10 * played.seat_count + stock_gave
    assert sum(played.end.caps) == 10 * played.seat_count + stock_gave


@pytest.mark.rule("SS-B6")
@given(plays("soda_smugglers"))
def test_caps_are_never_negative(played: Play) -> None:
    assert all(min(state.caps) >= 0 for state in played.states)


@given(plays("soda_smugglers"))
def test_score_lines_match_the_events(played: Play) -> None:
    number, changes = 0, Counter[tuple[int | None, int]]()
    for events in (played.opening, *(step.events for step in played.steps)):
        for event in events:
            if isinstance(event, RoundStarted):
                number, guard = event.round, event.guard_seat
            elif isinstance(event, EventRevealed):
                changes[guard, number] += event.guard_caps
            elif isinstance(event, LeftBorder):
                changes[guard, number] += event.guard_caps
                changes[event.seat, number] += event.caps
    scored = Counter[tuple[int | None, int]]()
    for seat in GAME.score(played.end).scores:
        assert seat.lines[0] == ScoreLine("start", "Starting caps", 10)
        for line in seat.lines[1:]:
            assert line.points != 0
            scored[seat.seat, line.round] += line.points
    assert scored == Counter({key: points for key, points in changes.items() if points})


def test_a_score_has_a_line_for_each_cause() -> None:
    state = border("21+1", "00+2", "10+0", "32+1", event=EventCard.TIP_OFF)
    score = GAME.score(play(state, AcceptBribe(1), Arrest(2), Arrest(4, tip_off=True)))
    assert [[(line.code, line.points, line.round) for line in seat.lines[1:]] for seat in score.scores] == [
        [("bribes_taken", 1, 1), ("confiscated", 5, 1), ("apologies", -2, 1)],
        [("luggage", 3, 1), ("bribe_paid", -1, 1)],
        [("apology", 2, 1)],
        [],
        [],
    ]
    assert GAME.score(opening_with(EventCard.BIRTHDAY, 3)).scores[0].lines[1:] == (ScoreLine("event", "Event", 2, 1),)


def test_the_note_of_a_score_names_the_round_before_the_end() -> None:
    assert GAME.score(new(5)).note == "The standings in round 1 of 5."


def test_a_snapshot_of_the_longest_game_is_small() -> None:
    """Eight seats with event cards, and the maximum of departures with caps."""
    state, random, codec = opening_with(EventCard.BIRTHDAY, 8), Random(1), Codec(GAME)
    largest = 0
    while awaited := GAME.to_act(state):
        largest = max(largest, len(codec.encode_snapshot(state, GAME.about.schema)))
        state, _ = GAME.apply(state, awaited[0], random.choice(GAME.legal_moves(state, awaited[0])))
    assert largest < 320
