"""Components, set-up and packing: SS-C, SS-S, SS-K."""

from collections import Counter
from itertools import pairwise

import pytest

from engine.errors import InvalidOptions, NotYourTurn
from engine.game import SPECTATOR
from engine.soda_smugglers.components import EFFECTS, SUITCASES, EventCard, Tokens
from engine.soda_smugglers.events import BribesRevealed, Offer, Packed, RoundStarted
from engine.soda_smugglers.state import Options, Pack, Stage, State
from tests.engine.soda_smugglers.positions import (
    FIVE,
    GAME,
    WAVE,
    bottles,
    error_text,
    known,
    legal,
    new,
    packed,
    packing,
    play,
    seed,
    seen,
)

MANY = range(80)
ALL_SEATS = range(3, 9)


def error_of(seat_count: int, options: Options) -> str:
    with pytest.raises(InvalidOptions) as error:
        GAME.new_game(options, seat_count, seed(0))
    assert str(error.value)
    return error.value.field


def pack_all(state: State) -> State:
    for seat in GAME.to_act(state):
        state, _ = GAME.apply(state, seat, GAME.legal_moves(state, seat)[0])
    return state


def next_round(state: State) -> State:
    return play(pack_all(state), WAVE)


# --- Components -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-C1")
def test_the_box_has_thirty_six_suitcases() -> None:
    assert Counter(SUITCASES) == {0: 12, 1: 12, 2: 7, 3: 5}
    assert len(SUITCASES) == 36


@pytest.mark.rule("SS-C1")
def test_thirty_five_of_them_can_be_dealt() -> None:
    for number in MANY:
        dealt = Counter(bottles for hand in new(8, number=number).hands for bottles in hand)
        assert dealt.total() == 35
        assert dealt <= Counter({0: 12, 1: 12, 2: 7, 3: 5})


@pytest.mark.rule("SS-C2")
def test_the_stock_of_caps_never_runs_out() -> None:
    """A guard with more than the 422 caps in the box gains and loses caps as usual."""
    state = packing(FIVE, FIVE, caps=(500, 500, 10))
    for seat in (1, 2):
        state, _ = GAME.apply(state, seat, packed("23+1"))
    state = play(state, WAVE)
    assert state.caps == (500, 505, 15)


@pytest.mark.rule("SS-C3")
@pytest.mark.parametrize(
    ("seat_count", "tokens"),
    [(3, (1, 1, 1)), (4, (1, 1, 1)), (5, (1, 1, 2)), (6, (1, 2, 2)), (7, (2, 2, 2)), (8, (2, 2, 3))],
)
def test_the_guard_has_tokens_by_the_number_of_seats(seat_count: int, tokens: tuple[int, int, int]) -> None:
    state = new(seat_count)
    assert GAME.view(state, SPECTATOR).tokens == Tokens(*tokens)
    assert GAME.view(next_round(state), SPECTATOR).tokens == Tokens(*tokens)


@pytest.mark.rule("SS-C4")
def test_there_are_eight_event_cards_with_texts() -> None:
    assert [effect.name for effect in EFFECTS.values()] == [
        "Birthday", "Breakage", "Night Shift", "Temptation", "Superior Officer", "Sniffer Dog", "Tip-Off",
        "Holiday Season",
    ]  # fmt: skip
    assert set(EFFECTS) == set(EventCard)
    assert len({effect.text for effect in EFFECTS.values()}) == 8


@pytest.mark.rule("SS-C4")
def test_event_cards_are_used_only_with_the_option() -> None:
    assert GAME.view(new(), SPECTATOR).event is None
    assert GAME.view(new(), SPECTATOR).event_text == ""
    view = GAME.view(new(options=Options(events=True)), SPECTATOR)
    assert view.event is not None
    assert view.event_text.startswith(EFFECTS[view.event].name)


# --- Set-up -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-S1")
@pytest.mark.parametrize("seat_count", ALL_SEATS)
def test_three_to_eight_seats_start_with_ten_caps(seat_count: int) -> None:
    assert [seat.caps for seat in GAME.view(new(seat_count), SPECTATOR).seats] == [10] * seat_count


@pytest.mark.rule("SS-S1")
@pytest.mark.parametrize("seat_count", [-3, 0, 1, 2, 9, 14])
def test_an_unsupported_number_of_seats_is_an_error(seat_count: int) -> None:
    assert error_of(seat_count, Options()) == "seat_count"


@pytest.mark.rule("SS-S1")
def test_caps_are_public() -> None:
    state = play(pack_all(new(4)), WAVE)
    for viewer in (0, 3, SPECTATOR):
        assert [seat.caps for seat in GAME.view(state, viewer).seats] == list(state.caps)


@pytest.mark.rule("SS-S2")
@pytest.mark.parametrize("guard", range(4))
def test_the_first_guard_can_be_chosen(guard: int) -> None:
    state = new(4, Options(first_guard=guard))
    assert GAME.view(state, SPECTATOR).guard_seat == guard
    assert GAME.to_act(state) == tuple(seat for seat in range(4) if seat != guard)


@pytest.mark.rule("SS-S2")
@pytest.mark.parametrize("seat_count", [3, 5])
def test_the_first_guard_is_drawn_if_it_is_not_chosen(seat_count: int) -> None:
    guards = Counter(new(seat_count, number=number).guard for number in MANY)
    assert set(guards) == set(range(seat_count))
    assert min(guards.values()) > 80 / seat_count / 2


@pytest.mark.rule("SS-S2")
@pytest.mark.parametrize("guard", [-1, 3])
def test_a_first_guard_that_does_not_exist_is_an_error(guard: int) -> None:
    assert error_of(3, Options(first_guard=guard)) == "first_guard"


@pytest.mark.rule("SS-S2")
def test_the_role_passes_clockwise() -> None:
    state, guards = new(5, Options(first_guard=3)), []
    while GAME.to_act(state):
        guards.append(state.guard)
        state = next_round(state)
    assert guards == [3, 4, 0, 1, 2]


@pytest.mark.rule("SS-S3")
@pytest.mark.parametrize(("seat_count", "times"), [(3, 2), (4, 2), (5, 1), (6, 1), (7, 1), (8, 1)])
def test_the_number_of_seats_decides_how_often_each_seat_is_guard(seat_count: int, times: int) -> None:
    state, guards = new(seat_count), Counter[int]()
    assert GAME.view(state, SPECTATOR).round_count == seat_count * times
    while GAME.to_act(state):
        guards[state.guard] += 1
        state = next_round(state)
    assert guards == dict.fromkeys(range(seat_count), times)


# --- Packing ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("SS-K1")
@pytest.mark.parametrize("seat_count", ALL_SEATS)
def test_each_traveler_is_dealt_five_suitcases_and_the_guard_none(seat_count: int) -> None:
    state = new(seat_count, Options(first_guard=1))
    assert [len(hand) for hand in state.hands] == [0 if seat == 1 else 5 for seat in range(seat_count)]
    assert all(seen(state, seat, seat).hand == tuple(sorted(state.hands[seat])) for seat in range(seat_count))


@pytest.mark.rule("SS-K1")
def test_a_hand_is_hidden_from_all_other_viewers() -> None:
    state = new(3, Options(first_guard=0))
    for seat in (1, 2):
        for viewer in {0, 1, 2, SPECTATOR} - {seat}:
            assert seen(state, seat, viewer).hand == ()


@pytest.mark.rule("SS-K1")
def test_all_suitcases_are_shuffled_again_in_each_round() -> None:
    for number in MANY:
        state = new(8, number=number)
        deals = []
        for _ in range(3):
            deals.append(tuple(hand for hand in state.hands if hand))
            state = next_round(state)
        assert all(earlier != later for earlier, later in pairwise(deals))
        assert all(Counter(b"".join(hands)) <= Counter(SUITCASES) for hands in deals)


@pytest.mark.rule("SS-K1")
def test_every_suitcase_is_equally_likely_to_be_dealt() -> None:
    """A hand has 5 of 36 suitcases: in 400 deals 667, 667, 389 and 278 of the kinds on average."""
    for seat in (1, 2):
        held = Counter(b"".join(new(3, Options(first_guard=0), number).hands[seat] for number in range(400)))
        for kind, share in {0: 12, 1: 12, 2: 7, 3: 5}.items():
            assert abs(held[kind] - 2000 * share / 36) < 90


@pytest.mark.rule("SS-K2")
def test_two_suitcases_are_packed_and_one_is_offered() -> None:
    state = packing("00123", FIVE)
    moves = GAME.legal_moves(state, 1)
    assert len(moves) == len(set(moves)) == 33
    assert all(isinstance(move, Pack) and len(move.luggage) == 2 and move.bribe is not None for move in moves)
    assert Pack((3, 2), 1) in moves
    assert Pack((2, 3), 1) in moves
    assert Pack((0, 0), 0) not in moves


@pytest.mark.rule("SS-K2")
def test_equal_suitcases_are_listed_as_one_move() -> None:
    assert GAME.legal_moves(packing("11111", FIVE), 1) == (Pack((1, 1), 1),)


@pytest.mark.rule("SS-K2")
def test_the_luggage_is_in_two_ordered_slots() -> None:
    state = packing(FIVE, FIVE)
    for seat, text in ((1, "30+1"), (2, "03+1")):
        state, _ = GAME.apply(state, seat, packed(text))
    assert [known(state, seat, seat) for seat in (1, 2)] == [[3, 0], [0, 3]]
    assert [[suitcase.slot for suitcase in seen(state, seat).luggage] for seat in (1, 2)] == [[1, 2], [1, 2]]


@pytest.mark.rule("SS-K2")
def test_the_other_two_suitcases_are_discarded_face_down() -> None:
    state, _ = GAME.apply(packing(FIVE, FIVE), 1, packed("23+1"))
    assert all(seen(state, 1, viewer).hand == () for viewer in (0, 1, 2, SPECTATOR))


@pytest.mark.rule("SS-K2")
@pytest.mark.parametrize(
    ("move", "error"),
    [
        (Pack((3, 3), 1), "You do not hold that many suitcases with 3 bottles."),
        (Pack((0, 0), 0), "You do not hold that many suitcases with no bottles."),
        (Pack((1, 2), 1), "You do not hold that many suitcases with 1 bottle."),
        (Pack((4, 1), 1), "You do not hold that many suitcases with 4 bottles."),
        (Pack((1,), 2), "Pack 2 suitcases as luggage this round, not 1."),
        (Pack((1, 2, 3), 0), "Pack 2 suitcases as luggage this round, not 3."),
        (Pack((1, 2)), "Offer one suitcase as a bribe."),
        (WAVE, "Now you pack."),
    ],
)
def test_an_impossible_pack_is_an_error(move: Pack, error: str) -> None:
    assert error_text(packing(FIVE, FIVE), 1, move) == error


@pytest.mark.rule("SS-K3")
@pytest.mark.parametrize("order", [(1, 2, 3), (3, 2, 1), (2, 3, 1)])
def test_travelers_pack_in_any_order(order: tuple[int, ...]) -> None:
    state = packing(FIVE, FIVE, FIVE)
    assert GAME.to_act(state) == (1, 2, 3)
    for at, seat in enumerate(order):
        state, _ = GAME.apply(state, seat, packed("00+1"))
        assert set(order[at + 1 :] or (0,)) == set(GAME.to_act(state))
    assert state.stage is Stage.BRIBES


@pytest.mark.rule("SS-K3")
def test_it_is_public_that_a_seat_has_packed_but_not_its_pack() -> None:
    state, events = GAME.apply(packing(FIVE, FIVE, FIVE), 2, packed("23+1"))
    for viewer in (0, 1, 3, SPECTATOR):
        assert [seat.packed for seat in GAME.view(state, viewer).seats] == [False, False, True, False]
        assert known(state, 2, viewer) == [None, None]
        assert seen(state, 2, viewer).bribe is None
        assert [GAME.view_event(event, viewer) for event in events] == [Packed(2)]
        assert [GAME.describe(GAME.view_event(event, viewer)) for event in events] == ["Seat 2 has packed."]


@pytest.mark.rule("SS-K3")
def test_a_traveler_sees_its_own_pack() -> None:
    state, events = GAME.apply(packing(FIVE, FIVE, FIVE), 2, packed("23+1"))
    assert known(state, 2, viewer=2) == [2, 3]
    assert seen(state, 2, viewer=2).bribe == 1
    assert [GAME.view_event(event, 2) for event in events] == [Packed(2, (2, 3), 1)]
    assert GAME.describe(events[0]) == "Seat 2 packs 2 and 3 and offers 1 as a bribe."


@pytest.mark.rule("SS-K3")
def test_a_pack_is_final() -> None:
    state, _ = GAME.apply(packing(FIVE, FIVE), 2, packed("23+1"))
    assert GAME.legal_moves(state, 2) == ()
    with pytest.raises(NotYourTurn, match=r"^Seat 1 is awaited now\.$"):
        GAME.apply(state, 2, packed("00+1"))


@pytest.mark.rule("SS-K3")
def test_the_guard_waits_until_all_have_packed() -> None:
    state = packing(FIVE, FIVE)
    with pytest.raises(NotYourTurn, match=r"^Seats 1 and 2 are awaited now\.$"):
        GAME.apply(state, 0, WAVE)
    assert GAME.prompt(state, 0) == ""


@pytest.mark.rule("SS-K3")
def test_all_bribes_become_public_together_and_luggage_stays_hidden() -> None:
    state, _ = GAME.apply(packing(FIVE, FIVE), 1, packed("23+1"))
    state, events = GAME.apply(state, 2, packed("00+3"))
    assert events[1:] == (BribesRevealed((Offer(1, 1), Offer(2, 3))),)
    assert GAME.describe(events[1]) == "The bribes are turned up: seat 1 offers 1 cap and seat 2 offers 3 caps."
    for viewer in (0, SPECTATOR):
        assert [seen(state, seat, viewer).bribe for seat in range(3)] == [None, 1, 3]
        assert [known(state, seat, viewer) for seat in (1, 2)] == [[None, None], [None, None]]
    assert known(state, 1, viewer=2) == [None, None]


@pytest.mark.rule("SS-K3")
def test_a_round_starts_with_nothing_packed() -> None:
    state, events = GAME.apply(pack_all(new(3, Options(first_guard=0))), 0, WAVE)
    assert events[-1] == RoundStarted(2, 1)
    assert not any(seat.packed or seat.luggage or seat.left for seat in GAME.view(state, SPECTATOR).seats)
    assert GAME.to_act(state) == (0, 2)


def test_packs_in_tests_are_written_as_digits() -> None:
    assert packed("23+1") == Pack((2, 3), 1)
    assert packed("23") == Pack(bottles("23"))
    assert legal(pack_all(new()), type(WAVE)) == [WAVE]
