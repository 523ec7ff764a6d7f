"""Turns: SJ-T."""

import pytest

from engine.errors import IllegalMove, NotYourTurn
from engine.game import SPECTATOR
from engine.soda_jerk.components import CARDS, Flavor
from engine.soda_jerk.events import Flipped, Placed, PlacedCard
from engine.soda_jerk.state import Flip, Move, Options, Place, State
from tests.engine.soda_jerk.positions import (
    BANANA,
    BLUEBERRY,
    GAME,
    KIWI,
    ORANGE,
    SIX,
    STRAWBERRY,
    card,
    new,
    place,
    play,
    position,
)


def error_text(state: State, move: Move) -> str:
    assert move not in GAME.legal_moves(state, state.seat)
    with pytest.raises(IllegalMove) as error:
        GAME.apply(state, state.seat, move)
    return str(error.value)


def at(state: State, tap: Flavor, position: int, viewer: int | None = SPECTATOR) -> PlacedCard:
    (cards,) = (seen.cards for seen in GAME.view(state, viewer).taps if seen.flavor == tap)
    return cards[position - 1]


def any_place(state: State) -> Move:
    return GAME.legal_moves(state, state.seat)[0]


# --- The order of turns -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-T1")
@pytest.mark.parametrize(("seat_count", "order"), [(2, [1, 0, 1, 0]), (3, [1, 2, 0, 1]), (4, [1, 2, 3, 0])])
def test_turns_go_clockwise_from_the_first_seat(seat_count: int, order: list[int]) -> None:
    state = new(seat_count, Options(first_seat=1))
    for seat in order:
        assert GAME.to_act(state) == (seat,)
        state = play(state, any_place(state))


@pytest.mark.rule("SJ-T1")
def test_a_move_out_of_turn_is_an_error() -> None:
    state = new(3, Options(first_seat=1))
    for seat in (0, 2):
        assert GAME.legal_moves(state, seat) == ()
        with pytest.raises(NotYourTurn):
            GAME.apply(state, seat, any_place(state))


@pytest.mark.rule("SJ-T1")
@pytest.mark.parametrize("move", [place("kiwi1", KIWI), Flip(KIWI, 1)])
def test_a_turn_is_one_placement_or_one_flip(move: Move) -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1 kiwi3/2"})
    assert {type(move) for move in GAME.legal_moves(state, 0)} == {Place, Flip}
    assert GAME.to_act(play(state, move)) == (1,)


# --- Placing ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-T2")
def test_any_card_of_the_hand_can_be_placed_at_any_tap_in_play() -> None:
    state = position("kiwi1 kiwi2 orange3 orange3", SIX, SIX, taps={KIWI: "kiwi3/1", BANANA: "kiwi3/2^"})
    places = [move for move in GAME.legal_moves(state, 0) if isinstance(move, Place)]
    assert places == [place(text, tap) for text in ("kiwi1", "kiwi2", "orange3") for tap in Flavor]


@pytest.mark.rule("SJ-T2")
def test_a_placed_card_lies_face_down_on_top_and_leaves_the_hand() -> None:
    state = position("kiwi1 orange3 orange3 orange1", SIX, SIX, taps={KIWI: "kiwi3/1"})
    state, events = GAME.apply(state, 0, place("orange3", KIWI))
    assert events == (Placed(0, KIWI, PlacedCard(2, 0, False, card("orange3"))),)
    assert at(state, KIWI, 2, viewer=0) == PlacedCard(2, 0, False, card("orange3"))
    assert GAME.view(state, 0).hands[0].cards == (card("kiwi1"), card("orange1"), card("orange3"))


@pytest.mark.rule("SJ-T2")
def test_a_card_that_is_not_in_the_hand_cannot_be_placed() -> None:
    state = position("kiwi1 orange3 orange3 orange1", "kiwi2 kiwi2 kiwi2 kiwi3", SIX, taps={KIWI: "kiwi3/1"})
    assert error_text(state, place("kiwi2", KIWI)) == "You do not hold a Kiwi 2."


@pytest.mark.rule("SJ-T2")
def test_a_card_cannot_be_placed_at_the_removed_tap() -> None:
    state = position("kiwi1 kiwi2 kiwi3 kiwi3", SIX, taps={KIWI: "kiwi3/1"})
    assert error_text(state, place("kiwi1", ORANGE)) == "The Orange tap is not in play."


@pytest.mark.rule("SJ-T2")
def test_a_switcheroo_can_be_placed_on_the_first_turn_and_flipped_like_any_card() -> None:
    state = play(new(2, Options(first_seat=0, removed_flavor=ORANGE)), place("switcheroo", KIWI))
    assert not at(state, KIWI, 1).face_up
    state = play(state, any_place(state))
    state = play(state, any_place(state))
    _, events = GAME.apply(state, 1, Flip(KIWI, 1))
    assert events[0] == Flipped(1, KIWI, PlacedCard(1, 0, True, card("switcheroo")))


@pytest.mark.rule("SJ-T2")
def test_a_switcheroo_can_be_placed_on_a_later_turn() -> None:
    state = position("kiwi1 kiwi2 kiwi3 switcheroo", SIX, taps={KIWI: "kiwi3/1"})
    assert {place("switcheroo", tap) for tap in state.taps} <= set(GAME.legal_moves(state, 0))


# --- The first turn of a round ----------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-T3")
@pytest.mark.parametrize("seat_count", [2, 3, 4])
def test_a_first_turn_places_at_a_tap_without_cards(seat_count: int) -> None:
    state = new(seat_count)
    for _ in range(seat_count):
        empty = {tap.flavor for tap in GAME.view(state, SPECTATOR).taps if not tap.cards}
        moves = GAME.legal_moves(state, state.seat)
        assert all(isinstance(move, Place) for move in moves)
        assert {move.tap for move in moves} == empty
        state = play(state, moves[-1])
    assert {type(move) for move in GAME.legal_moves(state, state.seat)} == {Place, Flip}


@pytest.mark.rule("SJ-T3")
def test_a_first_turn_at_a_tap_with_cards_is_an_error() -> None:
    state = new(3, Options(first_seat=0))
    state = play(state, Place(CARDS[state.hands[0][0]], KIWI))
    message = error_text(state, Place(CARDS[state.hands[1][0]], KIWI))
    assert message == "Your first turn of a round must place a card at a tap without cards; the Kiwi tap has some."


@pytest.mark.rule("SJ-T3")
def test_a_flip_on_a_first_turn_is_an_error() -> None:
    state = new(3, Options(first_seat=0))
    state = play(state, Place(CARDS[state.hands[0][0]], KIWI))
    message = "Your first turn of a round must place a card at a tap without cards; you cannot flip yet."
    assert error_text(state, Flip(KIWI, 1)) == message


@pytest.mark.rule("SJ-T3")
def test_every_round_has_first_turns() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1"}, flips=2)
    state = play(state, Flip(KIWI, 1))
    assert state.round == 2
    state = play(state, any_place(state))
    message = "Your first turn of a round must place a card at a tap without cards; you cannot flip yet."
    assert error_text(state, Flip(STRAWBERRY, 1)) == message


# --- Flipping ---------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-T4")
def test_face_down_cards_of_all_seats_can_be_flipped() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/0 kiwi2/1^ kiwi1/1", ORANGE: "orange1/2"})
    flips = [move for move in GAME.legal_moves(state, 0) if isinstance(move, Flip)]
    assert flips == [Flip(KIWI, 1), Flip(KIWI, 3), Flip(ORANGE, 1)]


@pytest.mark.rule("SJ-T4")
def test_a_flipped_card_stays_face_up_for_the_round() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1 kiwi3/2"})
    state = play(state, Flip(KIWI, 1), place("orange1", KIWI), place("orange1", KIWI), place("orange1", KIWI))
    assert at(state, KIWI, 1) == PlacedCard(1, 1, True, card("kiwi3"))
    assert not at(state, KIWI, 2).face_up


@pytest.mark.rule("SJ-T4")
def test_a_face_up_card_cannot_be_flipped() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1^ kiwi3/2"})
    assert error_text(state, Flip(KIWI, 1)) == "Card 1 at the Kiwi tap lies face up already."


@pytest.mark.rule("SJ-T4")
@pytest.mark.parametrize("number", [-1, 0, 3, 60])
def test_a_card_that_does_not_exist_cannot_be_flipped(number: int) -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1 kiwi3/2"})
    assert error_text(state, Flip(KIWI, number)) == f"There is no card {number} at the Kiwi tap; it has 2."


@pytest.mark.rule("SJ-T4")
def test_a_card_cannot_be_flipped_at_the_removed_tap() -> None:
    state = position(SIX, SIX, taps={KIWI: "kiwi3/1"}, removed=BLUEBERRY)
    assert error_text(state, Flip(BLUEBERRY, 1)) == "The Blueberry tap is not in play."


# --- Hidden information -----------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-T5")
def test_a_hand_is_visible_only_to_its_owner_but_its_size_to_all() -> None:
    state = position(SIX, "kiwi1 kiwi2 kiwi3 kiwi3", "orange1 orange2 orange3 orange3 orange3")
    for viewer in (0, 1, 2, SPECTATOR):
        hands = GAME.view(state, viewer).hands
        assert [hand.size for hand in hands] == [6, 4, 5]
        assert [bool(hand.cards) for hand in hands] == [seat == viewer for seat in range(3)]


@pytest.mark.rule("SJ-T5")
def test_a_face_down_card_is_visible_only_to_the_seat_that_placed_it() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1"})
    for _ in range(4):
        for viewer in (0, 2, SPECTATOR):
            assert at(state, KIWI, 1, viewer) == PlacedCard(1, 1, False, None)
        assert at(state, KIWI, 1, viewer=1) == PlacedCard(1, 1, False, card("kiwi3"))
        state = play(state, any_place(state))


@pytest.mark.rule("SJ-T5")
def test_a_face_up_card_is_visible_to_all() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1^"})
    for viewer in (0, 1, 2, SPECTATOR):
        assert at(state, KIWI, 1, viewer) == PlacedCard(1, 1, True, card("kiwi3"))


@pytest.mark.rule("SJ-T5")
def test_the_seats_and_order_of_placements_are_public() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi3/1 kiwi2/0^"})
    state = play(state, place("orange1", KIWI), place("kiwi1", STRAWBERRY))
    seen = {tap.flavor: [(card.position, card.seat) for card in tap.cards] for tap in GAME.view(state, SPECTATOR).taps}
    assert seen == {STRAWBERRY: [(1, 1)], BLUEBERRY: [], BANANA: [], KIWI: [(1, 1), (2, 0), (3, 0)], ORANGE: []}


@pytest.mark.rule("SJ-T5")
def test_the_event_of_a_placement_hides_the_card_from_other_seats() -> None:
    state = position(SIX, SIX, SIX)
    _, (event,) = GAME.apply(state, 0, place("orange1", KIWI))
    assert GAME.view_event(event, 0) == Placed(0, KIWI, PlacedCard(1, 0, False, card("orange1")))
    for viewer in (1, 2, SPECTATOR):
        assert GAME.view_event(event, viewer) == Placed(0, KIWI, PlacedCard(1, 0, False, None))
        assert GAME.describe(GAME.view_event(event, viewer)) == "Seat 0 places a card face down at Kiwi."


@pytest.mark.rule("SJ-T5")
def test_the_event_of_a_flip_shows_the_card_to_all() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "orange3/1 kiwi1/2"})
    _, (event,) = GAME.apply(state, 0, Flip(KIWI, 1))
    for viewer in (0, 1, 2, SPECTATOR):
        assert GAME.view_event(event, viewer) == Flipped(0, KIWI, PlacedCard(1, 1, True, card("orange3")))
    assert GAME.describe(event) == "Seat 0 flips seat 1's card 1 at Kiwi: an Orange 3."


@pytest.mark.rule("SJ-T5")
def test_the_error_for_a_missing_card_does_not_reveal_whether_it_was_dealt() -> None:
    for other in ("kiwi2 kiwi2 kiwi2 kiwi3", "kiwi1 kiwi1 kiwi1 kiwi3"):
        state = position("orange1 orange2 orange3 orange3", other, SIX, taps={KIWI: "banana1/1"})
        assert error_text(state, place("kiwi2", KIWI)) == "You do not hold a Kiwi 2."
