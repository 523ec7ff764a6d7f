"""The deck of event cards, and Birthday to Superior Officer: SS-V0 to SS-V5."""

from collections import Counter

import pytest
from msgspec.structs import replace

from engine.game import SPECTATOR
from engine.soda_smugglers.components import EFFECTS, EventCard, Tokens
from engine.soda_smugglers.events import EventRevealed, LeftBorder, Packed, RoundEnded, RoundStarted
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Departure,
    Inspect,
    Move,
    Options,
    Pack,
    Stage,
    State,
)
from tests.engine.soda_smugglers.positions import (
    FIVE,
    GAME,
    WAVE,
    border,
    caps,
    departures,
    error_text,
    finish_round,
    happens,
    legal,
    new,
    packed,
    packing,
    play,
    seed,
    seen,
)

EVENTS = Options(events=True, first_guard=0)
MANY = range(200)
EMPTY = "00+0"


def first_event(seat_count: int, card: EventCard) -> tuple[State, list[object]]:
    """Return a game with this first event, and its first events."""
    for number in range(1000):
        state, events = GAME.new_game(EVENTS, seat_count, seed(number))
        if state.events[0] == card:
            return state, list(events)
    raise AssertionError(card)


def cards_of(state: State) -> list[EventCard | None]:
    """Return the event cards of all rounds of a game."""
    cards = []
    while GAME.to_act(state):
        cards.append(GAME.view(state, SPECTATOR).event)
        state = finish_round(state)
    return cards


def border_with(card: EventCard) -> State:
    """Return the guard's turn of a round with this event."""
    pack = {EventCard.SUPERIOR_OFFICER: "00", EventCard.HOLIDAY_SEASON: "000+0"}.get(card, EMPTY)
    return border(pack, pack, event=card)


# --- The deck of events -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-V0")
def test_an_event_is_revealed_at_the_start_of_each_round_and_then_discarded() -> None:
    cards = cards_of(new(4, EVENTS))
    assert sorted(card for card in cards if card) == list(EventCard)
    assert len(cards_of(new(3, EVENTS))) == len(set(cards_of(new(3, EVENTS)))) == 6


@pytest.mark.rule("SS-V0")
def test_the_events_are_shuffled() -> None:
    firsts = Counter(new(3, EVENTS, number).events[0] for number in MANY)
    lasts = Counter(new(3, EVENTS, number).events[7] for number in MANY)
    assert set(firsts) == set(lasts) == set(EventCard)
    assert min(firsts.values()) > 200 / 8 / 3


@pytest.mark.rule("SS-V0")
def test_a_round_starts_with_its_event() -> None:
    state, events = first_event(5, EventCard.BIRTHDAY)
    assert events == [RoundStarted(1, 0), EventRevealed(EventCard.BIRTHDAY, 2)]
    assert GAME.view(state, SPECTATOR).event is EventCard.BIRTHDAY


@pytest.mark.rule("SS-V0")
@pytest.mark.parametrize("seat_count", [3, 5, 6])
def test_future_events_stay_hidden_even_at_the_end(seat_count: int) -> None:
    """With the hidden cards in another order, no viewer sees a difference, in any round and after the last."""
    state, rounds = new(seat_count, EVENTS), 0
    while True:
        other = replace(state, events=state.events[: state.round] + state.events[state.round :][::-1])
        assert other != state
        assert GAME.score(state) == GAME.score(other)
        for viewer in (*range(seat_count), SPECTATOR):
            assert GAME.view(state, viewer) == GAME.view(other, viewer)
        for seat in range(seat_count):
            assert GAME.legal_moves(state, seat) == GAME.legal_moves(other, seat)
            assert GAME.prompt(state, seat) == GAME.prompt(other, seat)
        if not GAME.to_act(state):
            break
        state, rounds = finish_round(state), rounds + 1
    assert rounds == state.round
    assert GAME.view(state, SPECTATOR).event == state.events[rounds - 1]


@pytest.mark.rule("SS-V0")
def test_a_view_shows_the_current_event_only() -> None:
    for card in EventCard:
        view = GAME.view(border_with(card), SPECTATOR)
        assert view.event is card
        assert [each for each in EventCard if EFFECTS[each].name in view.event_text] == [card]


@pytest.mark.rule("SS-V0")
@pytest.mark.parametrize("seat_count", [4, 8])
def test_the_cards_are_shuffled_once_for_the_whole_game(seat_count: int) -> None:
    state = new(seat_count, EVENTS)
    assert cards_of(state) == [EventCard(card) for card in state.events]


@pytest.mark.rule("SS-V0")
def test_an_event_applies_to_its_round_only() -> None:
    state = play(border(EMPTY, EMPTY, event=EventCard.NIGHT_SHIFT), WAVE)
    assert state.tokens == Tokens(1, 1, 1)


# --- Birthday and Breakage --------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-V1")
def test_birthday_gives_the_guard_two_caps_immediately() -> None:
    state, events = first_event(4, EventCard.BIRTHDAY)
    assert state.caps == (12, 10, 10, 10)
    assert GAME.describe(events[-1]) == "The event of the round is Birthday; the guard gains 2 caps."  # type: ignore[arg-type]  # an event


@pytest.mark.rule("SS-V1")
@pytest.mark.parametrize(("pack", "bottles"), [("00+0", 0), ("10+0", 1), ("11+0", 2), ("20+3", 2)])
def test_two_bottles_are_legal_on_a_birthday(pack: str, bottles: int) -> None:
    state = border(pack, EMPTY, event=EventCard.BIRTHDAY)
    assert caps(state, Arrest(1)) == (8, 12 + bottles, 10)


@pytest.mark.rule("SS-V1")
@pytest.mark.parametrize(("pack", "bottles"), [("12+0", 3), ("33+0", 6)])
def test_three_bottles_are_illegal_even_on_a_birthday(pack: str, bottles: int) -> None:
    assert caps(border(pack, EMPTY, event=EventCard.BIRTHDAY), Arrest(1)) == (10 + bottles, 10, 10)


@pytest.mark.rule("SS-V2")
@pytest.mark.parametrize(("seat_count", "fine"), [(3, 1), (4, 1), (5, 2), (6, 2), (7, 2), (8, 3)])
def test_breakage_takes_a_cap_for_each_arrest_token(seat_count: int, fine: int) -> None:
    state, events = first_event(seat_count, EventCard.BREAKAGE)
    assert state.caps == (10 - fine, *(10,) * (seat_count - 1))
    assert events[-1] == EventRevealed(EventCard.BREAKAGE, -fine)


@pytest.mark.rule("SS-V2", "SS-B6")
@pytest.mark.parametrize(("held", "change"), [(0, 0), (1, -1), (2, -2), (5, -2)])
def test_breakage_takes_no_more_caps_than_the_guard_has(held: int, change: int) -> None:
    """Seat 1 is the next guard. With five seats there are two arrest tokens."""
    before = border(*[EMPTY] * 4, event=EventCard.BIRTHDAY, caps=(10, held, 10, 10, 10))
    assert happens(before, WAVE)[-1] == EventRevealed(EventCard.BREAKAGE, change)
    assert play(before, WAVE).caps[1] == held + change


@pytest.mark.rule("SS-V2")
def test_breakage_takes_nothing_from_a_guard_without_caps() -> None:
    before = border(EMPTY, EMPTY, event=EventCard.BIRTHDAY, caps=(10, 0, 10))
    event = happens(before, WAVE)[-1]
    assert event == EventRevealed(EventCard.BREAKAGE, 0)
    assert GAME.describe(event) == "The event of the round is Breakage."


@pytest.mark.rule("SS-V2")
@pytest.mark.parametrize(("pack", "bottles"), [("10+0", 1), ("01+0", 1), ("11+0", 2)])
def test_one_bottle_is_too_many_after_a_breakage(pack: str, bottles: int) -> None:
    assert caps(border(pack, EMPTY, event=EventCard.BREAKAGE), Arrest(1)) == (10 + bottles, 10, 10)


@pytest.mark.rule("SS-V2")
def test_no_bottle_is_legal_even_after_a_breakage() -> None:
    assert caps(border("00+3", EMPTY, event=EventCard.BREAKAGE), Arrest(1)) == (8, 12, 10)


@pytest.mark.rule("SS-V2")
def test_one_confiscated_bottle_is_described_in_the_singular() -> None:
    (event,) = departures(happens(border("10+0", EMPTY, event=EventCard.BREAKAGE), Arrest(1)))
    assert GAME.describe(event) == "Seat 1 is caught with 1 bottle; the guard confiscates it."


# --- Night Shift, Temptation, Superior Officer ------------------------------------------------------------------------


@pytest.mark.rule("SS-V3")
@pytest.mark.parametrize(("seat_count", "bribes"), [(3, 2), (6, 2), (7, 3)])
def test_night_shift_adds_a_bribe_token(seat_count: int, bribes: int) -> None:
    state = border(*["10+1"] * (seat_count - 1), event=EventCard.NIGHT_SHIFT)
    assert state.tokens.bribe == bribes
    accepted = [AcceptBribe(seat) for seat in range(1, bribes + 1)]
    state = play(state, *accepted[:-1])
    assert AcceptBribe(bribes) in GAME.legal_moves(state, 0)


@pytest.mark.rule("SS-V4")
def test_temptation_lets_the_guard_accept_every_bribe() -> None:
    state = border("21+1", "00+3", "33+2", event=EventCard.TEMPTATION, caps=(10, 10, 1, 10))
    events = happens(state, AcceptAll())
    assert departures(events) == [
        LeftBorder(1, Departure.BRIBED, (2, 1), 2, 1),
        LeftBorder(2, Departure.BRIBED, (0, 0), -1, 1),
        LeftBorder(3, Departure.BRIBED, (3, 3), 4, 2),
    ]
    assert [event for event in events if isinstance(event, RoundEnded)] == [RoundEnded(1, (14, 12, 0, 14))]
    assert play(state, AcceptAll()).stage is Stage.PACKING


@pytest.mark.rule("SS-V4")
def test_temptation_needs_no_token() -> None:
    state = border(*["10+1"] * 7, event=EventCard.TEMPTATION)
    assert state.tokens == Tokens(2, 2, 3)
    assert caps(state, AcceptAll()) == (17, *(10,) * 7)


@pytest.mark.rule("SS-V4")
@pytest.mark.parametrize("move", [AcceptBribe(1), Inspect(1, 1), Arrest(1)])
def test_temptation_is_over_after_any_other_act(move: Move) -> None:
    state = play(border("21+1", "00+3", "33+2", event=EventCard.TEMPTATION), move)
    assert legal(state, AcceptAll) == []
    assert error_text(state, 0, AcceptAll())


@pytest.mark.rule("SS-V4")
def test_temptation_changes_nothing_else() -> None:
    state = border("21+1", "00+3", event=EventCard.TEMPTATION)
    kinds = {type(move) for move in GAME.legal_moves(state, 0)}
    assert kinds == {AcceptAll, AcceptBribe, Inspect, Arrest, type(WAVE)}
    assert state.tokens == Tokens(1, 1, 1)


@pytest.mark.rule("SS-V4")
@pytest.mark.parametrize("event", [None, *(card for card in EventCard if card != EventCard.TEMPTATION)])
def test_no_other_event_lets_the_guard_accept_every_bribe(event: EventCard | None) -> None:
    state = border_with(event) if event else border(EMPTY, EMPTY)
    assert legal(state, AcceptAll) == []
    text = "Only Temptation lets you accept all bribes, and only as your first act of the turn."
    assert error_text(state, 0, AcceptAll()) == text


@pytest.mark.rule("SS-V5")
def test_no_bribes_are_offered_to_a_superior_officer() -> None:
    state = packing("00123", FIVE, event=EventCard.SUPERIOR_OFFICER)
    moves = GAME.legal_moves(state, 1)
    assert all(isinstance(move, Pack) and len(move.luggage) == 2 and move.bribe is None for move in moves)
    assert len(moves) == len(set(moves)) == 13
    assert error_text(state, 1, packed("23+1")) == "No bribes are offered this round."
    state, events = GAME.apply(state, 1, packed("23"))
    assert len(state.hands[1]) == 3
    assert events == (Packed(1, (2, 3)),)
    assert GAME.describe(events[0]) == "Seat 1 packs 2 and 3."
    assert GAME.prompt(state, 2) == "Pack two suitcases as luggage and offer no bribe this round."


@pytest.mark.rule("SS-V5")
def test_the_last_pack_reveals_no_bribes_to_a_superior_officer() -> None:
    state, _ = GAME.apply(packing(FIVE, FIVE, event=EventCard.SUPERIOR_OFFICER), 1, packed("23"))
    state, events = GAME.apply(state, 2, packed("00"))
    assert events == (Packed(2, (0, 0)),)
    assert state.stage is Stage.BRIBES
    assert [seen(state, seat).bribe for seat in (1, 2)] == [None, None]


@pytest.mark.rule("SS-V5")
@pytest.mark.parametrize(("seat_count", "inspections"), [(3, 2), (5, 2), (6, 3), (8, 3)])
def test_a_superior_officer_changes_the_tokens(seat_count: int, inspections: int) -> None:
    state = border(*["00"] * (seat_count - 1), event=EventCard.SUPERIOR_OFFICER)
    assert (state.tokens.bribe, state.tokens.inspect) == (0, inspections)
    assert legal(state, AcceptBribe) == []
    assert error_text(state, 0, AcceptBribe(1)) == "You have no bribe token left."


@pytest.mark.rule("SS-V5")
def test_a_superior_officer_changes_no_arrests_and_no_waving_through() -> None:
    state = border("21", "10", event=EventCard.SUPERIOR_OFFICER)
    assert caps(state, Arrest(1)) == (13, 10, 10)
    assert caps(state, WAVE) == (10, 13, 11)
