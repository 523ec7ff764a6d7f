"""Components and set-up: SJ-C, SJ-S."""

from collections import Counter

import pytest

from engine.errors import InvalidOptions
from engine.soda_jerk.components import B_SIDES, CARDS, SWITCHEROO, Flavor, flavor_deck
from engine.soda_jerk.state import Options, State
from tests.engine.soda_jerk.positions import BANANA, BLUEBERRY, GAME, KIWI, ORANGE, STRAWBERRY, new, play, seed

MANY = range(80)


def error_of(seat_count: int, options: Options) -> str:
    with pytest.raises(InvalidOptions) as error:
        GAME.new_game(options, seat_count, seed(0))
    assert str(error.value)
    return error.value.field


def in_hands(state: State) -> Counter[str]:
    return Counter(CARDS[code].title for hand in state.hands for code in hand)


# --- Components -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-C1")
def test_there_is_a_tap_for_each_of_five_flavors() -> None:
    taps = [tap.flavor for tap in GAME.view(new(), None).taps]
    assert taps == [STRAWBERRY, BLUEBERRY, BANANA, KIWI, ORANGE]
    assert [tap.title for tap in taps] == ["Strawberry", "Blueberry", "Banana", "Kiwi", "Orange"]


@pytest.mark.rule("SJ-C1")
def test_every_tap_starts_with_its_a_side() -> None:
    assert not any(tap.effect_active or tap.effect_text for tap in GAME.view(new(), None).taps)


@pytest.mark.rule("SJ-C1")
def test_every_tap_has_a_b_side_with_an_effect() -> None:
    texts = [tap.effect_text for tap in GAME.view(new(options=Options(advanced=True)), None).taps]
    assert len(set(texts)) == 5
    assert set(B_SIDES) == set(Flavor)


@pytest.mark.rule("SJ-C2")
def test_the_box_has_three_of_each_value_of_each_flavor() -> None:
    deck = Counter(CARDS[code] for code in flavor_deck(tuple(Flavor), Options().copies_per_value))
    assert deck.total() == 45
    assert {(card.flavor, card.value): count for card, count in deck.items()} == {
        (flavor, value): 3 for flavor in Flavor for value in (1, 2, 3)
    }


@pytest.mark.rule("SJ-C2")
def test_an_option_sets_the_number_of_cards_of_each_value() -> None:
    dealt = in_hands(new(4, Options(copies_per_value=(0, 0, 9))))
    assert dealt.total() == 40
    assert all(title.endswith(" 3") for title in dealt)


@pytest.mark.rule("SJ-C2")
@pytest.mark.parametrize("copies", [(3, 3, 4), (3, 3, 2), (10, -1, 0), (9,), (3, 3, 3, 0), ()])
def test_card_counts_must_be_three_and_add_up_to_nine(copies: tuple[int, ...]) -> None:
    assert error_of(3, Options(copies_per_value=copies)) == "copies_per_value"


@pytest.mark.rule("SJ-C3")
@pytest.mark.parametrize(("seat_count", "switcheroos"), [(2, 2), (3, 0), (4, 0)])
def test_switcheroos_are_for_two_seats_only(seat_count: int, switcheroos: int) -> None:
    assert in_hands(new(seat_count))["Switcheroo"] == switcheroos


# --- Set-up -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-S1")
@pytest.mark.parametrize("seat_count", [2, 3, 4])
def test_two_to_four_seats_can_play(seat_count: int) -> None:
    assert len(new(seat_count).hands) == seat_count


@pytest.mark.rule("SJ-S1")
@pytest.mark.parametrize("seat_count", [-2, 0, 1, 5, 45])
def test_an_unsupported_number_of_seats_is_an_error(seat_count: int) -> None:
    assert error_of(seat_count, Options()) == "seat_count"


@pytest.mark.rule("SJ-S2")
@pytest.mark.parametrize(("seat_count", "cards"), [(2, 13), (3, 13), (4, 10)])
def test_every_seat_is_dealt_its_flavor_cards(seat_count: int, cards: int) -> None:
    for hand in new(seat_count).hands:
        assert sum(code != SWITCHEROO for code in hand) == cards


@pytest.mark.rule("SJ-S2")
def test_cards_are_dealt_from_one_deck() -> None:
    deck = Counter(CARDS[code].title for code in flavor_deck(tuple(Flavor), (3, 3, 3)))
    for number in MANY:
        assert in_hands(new(4, number=number)) <= deck


@pytest.mark.rule("SJ-S2")
def test_every_card_is_equally_likely_to_be_dealt() -> None:
    """Each seat has 13 of 45 cards: in 80 games 69 of 240 cards of a kind on average, with standard deviation 7."""
    for seat in range(3):
        held = Counter(code for number in MANY for code in new(3, number=number).hands[seat])
        assert set(held) == set(range(15))
        assert all(69 - 4 * 7 < count < 69 + 4 * 7 for count in held.values())


@pytest.mark.rule("SJ-S3")
@pytest.mark.parametrize("first_seat", [0, 1, 2])
def test_the_first_seat_can_be_chosen(first_seat: int) -> None:
    state = new(3, Options(first_seat=first_seat))
    assert GAME.to_act(state) == (first_seat,)
    assert GAME.view(state, None).first_seat == first_seat


@pytest.mark.rule("SJ-S3")
@pytest.mark.parametrize("seat_count", [2, 3, 4])
def test_the_first_seat_is_drawn_if_it_is_not_chosen(seat_count: int) -> None:
    firsts = Counter(new(seat_count, number=number).first_seat for number in MANY)
    assert set(firsts) == set(range(seat_count))
    assert min(firsts.values()) > 80 / seat_count / 2


@pytest.mark.rule("SJ-S3")
@pytest.mark.parametrize("first_seat", [-1, 3])
def test_a_first_seat_that_does_not_exist_is_an_error(first_seat: int) -> None:
    assert error_of(3, Options(first_seat=first_seat)) == "first_seat"


@pytest.mark.rule("SJ-S4")
@pytest.mark.parametrize("removed", Flavor)
def test_two_seats_play_without_the_chosen_flavor(removed: Flavor) -> None:
    for number in range(10):
        state = new(2, Options(removed_flavor=removed), number)
        assert [tap.flavor for tap in GAME.view(state, None).taps] == [flavor for flavor in Flavor if flavor != removed]
        assert not any(title.startswith(removed.title) for title in in_hands(state))


@pytest.mark.rule("SJ-S4")
def test_the_removed_flavor_is_drawn_if_it_is_not_chosen() -> None:
    removed = Counter(min(set(Flavor) - set(new(2, number=number).taps)) for number in MANY)
    assert set(removed) == set(Flavor)
    assert min(removed.values()) > 80 / 5 / 3


@pytest.mark.rule("SJ-S4")
@pytest.mark.parametrize("seat_count", [3, 4])
def test_more_than_two_seats_cannot_remove_a_flavor(seat_count: int) -> None:
    assert error_of(seat_count, Options(removed_flavor=KIWI)) == "removed_flavor"
    assert len(new(seat_count).taps) == 5


@pytest.mark.rule("SJ-S4")
def test_two_seats_play_with_thirty_six_flavor_cards() -> None:
    dealt = sum((in_hands(new(2, Options(removed_flavor=ORANGE), number)) for number in MANY), Counter())
    assert len(dealt) == 12 + 1
    assert len(flavor_deck(new(2, Options(removed_flavor=ORANGE)).taps, (3, 3, 3))) == 36


@pytest.mark.rule("SJ-S4")
def test_the_removed_tap_never_turns_to_its_b_side() -> None:
    for number in range(20):
        state = new(2, Options(advanced=True, removed_flavor=BLUEBERRY), number)
        while GAME.to_act(state):
            assert BLUEBERRY not in state.effects
            state = play(state, GAME.legal_moves(state, state.seat)[-1])


@pytest.mark.rule("SJ-S4")
def test_each_of_two_seats_has_a_switcheroo_in_every_round() -> None:
    state = new(2)
    for round_number in (1, 2, 3):
        assert state.round == round_number
        assert [len(hand) for hand in state.hands] == [14, 14]
        assert [hand.count(SWITCHEROO) for hand in state.hands] == [1, 1]
        while state.round == round_number and GAME.to_act(state):
            switcheroo_first = GAME.legal_moves(state, state.seat)[::-1]
            places = [move for move in switcheroo_first if GAME.label(move).startswith("Place")]
            state = play(state, places[0])
