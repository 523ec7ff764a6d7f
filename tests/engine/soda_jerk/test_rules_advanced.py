"""Advanced play: SJ-A."""

from collections import Counter
from itertools import pairwise

import pytest

from engine.game import SPECTATOR
from engine.soda_jerk.components import Flavor
from engine.soda_jerk.events import PlacedCard, RoundStarted
from engine.soda_jerk.state import Flip, Options, State
from tests.engine.soda_jerk.positions import (
    BANANA,
    BLUEBERRY,
    GAME,
    KIWI,
    ORANGE,
    SIX,
    STRAWBERRY,
    card,
    ended,
    new,
    place,
    play,
    position,
    seed,
    value,
)


def b_sides(seat_count: int, number: int, *, advanced: bool = True) -> list[tuple[Flavor, ...]]:
    """Return the active effects of each round of a game, from its events."""
    state, events = GAME.new_game(Options(advanced=advanced), seat_count, seed(number))
    all_events = [*events]
    while GAME.to_act(state):
        state, events = GAME.apply(state, state.seat, GAME.legal_moves(state, state.seat)[-1])
        all_events += events
    return [event.active_effects for event in all_events if isinstance(event, RoundStarted)]


# --- Taps turn --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-A1")
@pytest.mark.parametrize(("seat_count", "counts"), [(2, [1, 3, 4]), (3, [1, 3, 5]), (4, [1, 3, 5])])
def test_more_taps_turn_to_their_b_side_from_round_to_round(seat_count: int, counts: list[int]) -> None:
    for number in range(10):
        assert [len(set(effects)) for effects in b_sides(seat_count, number)] == counts


@pytest.mark.rule("SJ-A1")
def test_a_turned_tap_stays_turned() -> None:
    for number in range(20):
        for earlier, later in pairwise(b_sides(4, number)):
            assert set(earlier) < set(later)


@pytest.mark.rule("SJ-A1")
def test_any_tap_can_turn_first_and_second() -> None:
    rounds = [b_sides(4, number) for number in range(200)]
    first = Counter(effects[0] for effects in rounds)
    second = Counter(tap for effects in rounds for tap in set(effects[1]) - set(effects[0]))
    assert set(first) == {(tap,) for tap in Flavor}
    assert set(second) == set(Flavor)
    assert min(first.values()) > 200 / 5 / 2
    assert min(second.values()) > 400 / 5 / 2


@pytest.mark.rule("SJ-A1")
def test_without_advanced_play_no_tap_turns() -> None:
    assert b_sides(4, 0, advanced=False) == [(), (), ()]


@pytest.mark.rule("SJ-A1")
def test_a_view_shows_the_active_effects() -> None:
    state = new(4, Options(advanced=True))
    view = GAME.view(state, SPECTATOR)
    assert tuple(tap.flavor for tap in view.taps if tap.effect_active) == state.effects


@pytest.mark.rule("SJ-A1")
def test_a_finished_round_keeps_the_effects_that_applied_in_it() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, effects=(STRAWBERRY,), flips=2)
    end = ended(state, Flip(KIWI, 1))
    assert end
    assert [tap.flavor for tap in end.result.taps if tap.effect_active] == [STRAWBERRY]
    (result,) = GAME.view(play(state, Flip(KIWI, 1)), SPECTATOR).finished_rounds
    assert result == end.result


# --- The effects ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SJ-A2")
@pytest.mark.parametrize("tap", Flavor)
def test_every_effect_is_marked_as_a_house_effect(tap: Flavor) -> None:
    (text,) = (seen.effect_text for seen in GAME.view(new(3, Options(advanced=True)), 0).taps if seen.flavor == tap)
    names = {
        STRAWBERRY: "Double scoop",
        BLUEBERRY: "Watered down",
        BANANA: "Clear glass",
        KIWI: "Sour",
        ORANGE: "Last drop",
    }
    assert text.startswith(f"{names[tap]} (house effect): ")


@pytest.mark.rule("SJ-A2")
def test_the_game_describes_its_effects_as_house_effects() -> None:
    (advanced,) = (option for option in GAME.about.options if option.field == "advanced")
    assert "house effects" in advanced.description
    assert "house effects" in GAME.about.description
    _, (started,) = GAME.new_game(Options(advanced=True), 3, seed(0))
    assert "House effects apply at" in GAME.describe(started)


@pytest.mark.rule("SJ-A2")
@pytest.mark.parametrize("tap", Flavor)
def test_an_effect_does_not_apply_before_its_tap_is_turned(tap: Flavor) -> None:
    other = KIWI if tap != KIWI else BANANA
    assert value(tap, f"{tap.code}3/0 {other.code}2/1 {other.code}2/1") == 3 - 2 - 2


@pytest.mark.rule("SJ-A2")
def test_double_scoop_doubles_cards_of_the_taps_flavor() -> None:
    assert value(STRAWBERRY, "strawberry3/0 banana2/1 strawberry1/1", effect=True) == 6 - 2 + 2


@pytest.mark.rule("SJ-A2")
def test_watered_down_counts_cards_of_other_flavors_one_each() -> None:
    assert value(BLUEBERRY, "blueberry3/0 banana2/1 kiwi3/1", effect=True) == 3 - 1 - 1


@pytest.mark.rule("SJ-A2")
def test_at_the_clear_glass_cards_go_face_up_and_cannot_be_flipped() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, effects=(BANANA,))
    state = play(state, place("orange2", BANANA))
    for viewer in (0, 1, SPECTATOR):
        assert GAME.view(state, viewer).taps[2].cards == (PlacedCard(1, 0, True, card("orange2")),)
    assert Flip(BANANA, 1) not in GAME.legal_moves(state, 1)


@pytest.mark.rule("SJ-A2")
def test_a_placement_at_the_clear_glass_shows_the_card_in_its_event() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, effects=(BANANA,))
    _, (event,) = GAME.apply(state, 0, place("orange2", BANANA))
    assert GAME.describe(GAME.view_event(event, SPECTATOR)) == "Seat 0 places an Orange 2 face up at Banana."


@pytest.mark.rule("SJ-A2")
def test_at_other_taps_than_the_clear_glass_cards_go_face_down() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, effects=(BANANA, KIWI))
    assert not GAME.view(play(state, place("orange2", KIWI)), SPECTATOR).taps[3].cards[1].face_up


@pytest.mark.rule("SJ-A2")
def test_at_the_banana_tap_cards_go_face_down_before_it_is_turned() -> None:
    state = position(SIX, SIX, SIX, taps={KIWI: "kiwi1/0"}, effects=(KIWI,))
    assert not GAME.view(play(state, place("orange2", BANANA)), SPECTATOR).taps[2].cards[0].face_up


@pytest.mark.rule("SJ-A2")
def test_at_the_clear_glass_the_first_card_of_a_round_goes_face_down() -> None:
    state = first_at_the_clear_glass()
    assert not GAME.view(state, SPECTATOR).taps[2].cards[0].face_up
    assert state.round == 1


def first_at_the_clear_glass() -> State:
    state = next(
        state for state in (new(4, Options(advanced=True), n) for n in range(99)) if state.effects == (BANANA,)
    )
    (move, *_) = (move for move in GAME.legal_moves(state, state.seat) if GAME.label(move).endswith("at Banana"))
    return play(state, move)


@pytest.mark.rule("SJ-A2")
def test_sour_negates_the_final_value() -> None:
    assert value(KIWI, "kiwi3/0 banana1/1", effect=True) == -2


@pytest.mark.rule("SJ-A2")
def test_an_odd_number_of_switcheroos_negates_a_sour_tap_again() -> None:
    assert value(KIWI, "kiwi3/0 banana1/1 switcheroo/0", effect=True) == 2
    assert value(KIWI, "kiwi3/0 banana1/1 switcheroo/0 switcheroo/1", effect=True) == -2


@pytest.mark.rule("SJ-A2")
@pytest.mark.parametrize(
    ("cards", "worth"),
    [
        ("orange3/0 kiwi1/1 orange2/0", 3 - 1 + 4),
        ("orange3/0 kiwi2/1", 3 - 4),
        ("orange3/0", 6),
        ("", 0),
    ],
)
def test_the_last_drop_of_any_flavor_counts_double(cards: str, worth: int) -> None:
    assert value(ORANGE, cards, effect=True) == worth


@pytest.mark.rule("SJ-A2")
def test_a_switcheroo_is_never_the_last_drop() -> None:
    assert value(ORANGE, "kiwi2/1 orange3/0 switcheroo/1", effect=True) == -(6 - 2)


@pytest.mark.rule("SJ-A2")
def test_a_flip_does_not_change_the_last_drop() -> None:
    assert value(ORANGE, "orange1/0 orange3/1^", effect=True) == 1 + 6
    assert value(ORANGE, "orange1/0^ orange3/1", effect=True) == 1 + 6


@pytest.mark.rule("SJ-A3")
@pytest.mark.parametrize(
    ("tap", "cards", "worth"),
    [
        (STRAWBERRY, "strawberry2/0 kiwi3/1 switcheroo/0", -(4 - 3)),
        (BLUEBERRY, "blueberry1/0 kiwi3/1 kiwi3/0 switcheroo/0", -(1 - 1 - 1)),
        (ORANGE, "orange1/0 kiwi3/1 switcheroo/0", -(1 - 6)),
    ],
)
def test_weights_apply_to_cards_and_negations_to_their_sum(tap: Flavor, cards: str, worth: int) -> None:
    assert value(tap, cards, effect=True) == worth
