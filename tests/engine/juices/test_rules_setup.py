"""Components, set-up and modes: JU-C, JU-M1, JU-M2."""

from collections import Counter

import msgspec
import pytest

from engine.errors import InvalidOptions
from engine.juices.components import ORDERS, TILES, Complement, Fruit, Mode, box
from engine.juices.events import Drawn, End, GameEnded, OrderRevealed
from engine.juices.grid import MASTER, Grid, filled
from engine.juices.setup import WITH_MASTER
from engine.juices.state import Options
from tests.engine.juices.cases import JuicesCases
from tests.engine.juices.positions import GAME, finish, grid, new, only, opening, position, seed, tile

MANY = range(60)


def error_of(seat_count: int, options: Options) -> str:
    with pytest.raises(InvalidOptions) as error:
        GAME.new_game(options, seat_count, seed(0))
    assert str(error.value).endswith(".")
    return error.value.field


# --- Components -------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-C1")
def test_the_ten_fruits_have_their_order() -> None:
    names = "apple banana grape kiwi lemon orange pear pineapple strawberry watermelon"
    assert [fruit.title for fruit in Fruit] == names.split()


@pytest.mark.rule("JU-C1")
def test_45_tiles_pair_all_fruits_once_in_order() -> None:
    pairs = [TILES[number].fruits for number in range(45)]
    assert pairs == sorted(set(pairs))
    assert all(first < second for first, second in pairs)
    assert TILES[0].fruits == (Fruit.APPLE, Fruit.BANANA)
    assert TILES[9].fruits == (Fruit.BANANA, Fruit.GRAPE)
    assert TILES[44].fruits == (Fruit.STRAWBERRY, Fruit.WATERMELON)


@pytest.mark.rule("JU-C1")
def test_20_tiles_show_each_fruit_with_chili_and_with_coffee() -> None:
    shown = [(TILES[number].fruits, TILES[number].complement) for number in range(45, 65)]
    assert shown == [((fruit,), complement) for fruit in Fruit for complement in (Complement.CHILI, Complement.COFFEE)]


@pytest.mark.rule("JU-C1")
def test_four_tiles_are_wild() -> None:
    assert [number for number in range(69) if TILES[number].wild] == [65, 66, 67, 68]
    assert not any(TILES[number].complement for number in range(65, 69))


@pytest.mark.rule("JU-C1", "JU-C3")
def test_a_second_copy_continues_in_the_same_order() -> None:
    assert TILES[69:] == TILES[:69]
    assert list(box(1)) == list(range(69))
    assert list(box(2)) == list(range(138))


@pytest.mark.rule("JU-C2", "JU-M2")
@pytest.mark.parametrize("seat_count", [2, 10])
def test_one_copy_has_one_master_of_each_fruit(seat_count: int) -> None:
    for number in MANY:
        fruits = [seat.preferred for seat in new(seat_count, Options(mode=Mode.ADVANCED), number).seats]
        assert len(set(fruits)) == seat_count


@pytest.mark.rule("JU-C2", "JU-C3")
def test_two_copies_have_two_masters_of_each_fruit() -> None:
    dealt = [new(14, Options(mode=Mode.ADVANCED), number) for number in MANY]
    counts = [Counter(seat.preferred for seat in state.seats) for state in dealt]
    assert max(max(count.values()) for count in counts) == 2
    small = [new(2, Options(mode=Mode.ADVANCED, copies=2), number).seats for number in range(300)]
    assert any(left.preferred == right.preferred for left, right in small)


@pytest.mark.rule("JU-C3")
@pytest.mark.parametrize(("seat_count", "copies"), [(2, 1), (10, 1), (11, 2), (14, 2)])
def test_a_second_copy_is_added_for_eleven_or_more_seats(seat_count: int, copies: int) -> None:
    pieces = JuicesCases().pieces(new(seat_count))
    assert pieces == Counter(box(copies))


@pytest.mark.rule("JU-C3")
def test_two_copies_can_be_requested() -> None:
    assert JuicesCases().pieces(new(2, Options(copies=2))) == Counter(box(2))
    assert JuicesCases().pieces(new(10, Options(copies=1))) == Counter(box(1))


@pytest.mark.rule("JU-C3")
@pytest.mark.parametrize("seat_count", [11, 14])
def test_one_copy_is_not_enough_for_more_than_ten_seats(seat_count: int) -> None:
    assert error_of(seat_count, Options(copies=1)) == "copies"


@pytest.mark.rule("JU-C3")
@pytest.mark.parametrize("copies", [-1, 0, 3])
def test_a_number_of_copies_other_than_one_or_two_is_an_error(copies: int) -> None:
    with pytest.raises(InvalidOptions, match=rf"^One copy or two can be used, not {copies}\.$") as error:
        GAME.new_game(Options(copies=copies), 4, seed(0))
    assert error.value.field == "copies"


@pytest.mark.rule("JU-C3")
def test_solo_uses_one_copy() -> None:
    assert error_of(1, Options(copies=2)) == "copies"
    assert new(1, Options(copies=1)).mode == Mode.SOLO


@pytest.mark.rule("JU-C3")
def test_the_description_says_when_two_copies_play_better() -> None:
    (copies,) = [option for option in GAME.about.options if option.field == "copies"]
    assert "From five seats on two play better" in copies.description
    assert "Two copies play better from five seats on" in GAME.about.description


@pytest.mark.rule("JU-C3")
@pytest.mark.parametrize("seat_count", [-1, 0, 15])
def test_one_to_fourteen_seats_can_play(seat_count: int) -> None:
    assert error_of(seat_count, Options()) == "seat_count"


@pytest.mark.rule("JU-C4", "JU-M3")
def test_the_surprise_card_only_covers_the_order_pile() -> None:
    """Orders are hidden until they become active. The card has no other effect."""
    state = new(2, Options(mode=Mode.ORDERS_TO_GO_GO))
    view = GAME.view(state, 0)
    assert (view.active_order, view.orders_left) == (Fruit(state.orders[0]), 9)
    assert sorted(state.orders) == sorted(ORDERS)


# --- Modes ------------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-M1")
def test_in_basic_all_seats_start_with_a_master_without_fruit() -> None:
    state = new(4, Options(mode=Mode.BASIC))
    assert [seat.grid for seat in state.seats] == [grid("M")] * 4
    assert [seat.preferred_fruit for seat in GAME.view(state, 0).seats] == [None] * 4


@pytest.mark.rule("JU-M1")
def test_basic_is_the_default_mode() -> None:
    assert new(2).mode == Mode.BASIC
    assert new(1).mode == Mode.SOLO


@pytest.mark.rule("JU-M1", "JU-O1")
@pytest.mark.parametrize("mode", [Mode.BASIC, Mode.ADVANCED, Mode.ORDERS_TO_GO_GO])
def test_one_seat_can_only_play_solo(mode: Mode) -> None:
    assert error_of(1, Options(mode=mode)) == "mode"
    assert error_of(2, Options(mode=Mode.SOLO)) == "mode"


@pytest.mark.rule("JU-M2")
def test_in_advanced_masters_show_random_fruits_to_all() -> None:
    state = new(4, Options(mode=Mode.ADVANCED))
    fruits = [seat.preferred for seat in state.seats]
    assert [seat.preferred_fruit for seat in GAME.view(state, None).seats] == fruits
    assert [seat.grid for seat in state.seats] == [WITH_MASTER] * 4
    firsts = {new(4, Options(mode=Mode.ADVANCED), number).seats[0].preferred for number in MANY}
    assert firsts == set(Fruit)


@pytest.mark.rule("JU-M2", "JU-E1")
def test_extra_juices_are_added_and_do_not_end_the_game() -> None:
    state, _ = position(
        None,
        None,
        mode=Mode.ADVANCED,
        phases=(),
        juices=(5, 3),
        stacks=("apki apba w1 kile ap!", "kile"),
        preferred=(Fruit.APPLE, Fruit.KIWI),
    )
    score = GAME.score(state)
    assert [seat.total for seat in score.scores] == [5 + 3, 3 + 1]
    assert [[line.points for line in seat.lines] for seat in score.scores] == [[5, 3], [3, 1]]


@pytest.mark.rule("JU-M2")
def test_a_wild_in_the_stack_does_not_count_as_preferred_fruit() -> None:
    state, _ = position(
        None, None, mode=Mode.ADVANCED, phases=(), juices=(2, 2), stacks=("w1 w2", "apki"), preferred=(Fruit.APPLE,) * 2
    )
    assert [seat.total for seat in GAME.score(state).scores] == [2, 3]


@pytest.mark.rule("JU-M2")
def test_basic_has_no_extra_juices() -> None:
    state, _ = position(None, None, phases=(), juices=(5, 3), stacks=("apki apba", "kile"))
    assert [[line.code for line in seat.lines] for seat in GAME.score(state).scores] == [["juices"]] * 2


@pytest.mark.rule("JU-M3")
def test_with_orders_grids_start_empty() -> None:
    state = new(3, Options(mode=Mode.ORDERS_TO_GO_GO))
    assert [seat.grid for seat in state.seats] == [Grid()] * 3
    assert [seat.preferred for seat in state.seats] == [None] * 3
    for seat in range(3):
        state, _ = GAME.apply(state, seat, GAME.legal_moves(state, seat)[0])
    cells = {move.cell for move in GAME.legal_moves(state, 0)}  # type: ignore[union-attr]  # all of them are places
    assert [(each.row, each.column) for each in cells] == [(0, 0)]


@pytest.mark.rule("JU-M3", "JU-C3")
@pytest.mark.parametrize(("seat_count", "copies"), [(2, 1), (2, 2), (14, 2)])
def test_ten_orders_are_shuffled_even_with_two_copies(seat_count: int, copies: int) -> None:
    options = Options(mode=Mode.ORDERS_TO_GO_GO, copies=copies)
    piles = {new(seat_count, options, number).orders for number in MANY}
    assert {bytes(sorted(pile)) for pile in piles} == {bytes(Fruit)}
    assert len(piles) > 50


@pytest.mark.rule("JU-M3")
def test_the_first_order_is_revealed_at_the_start() -> None:
    options = Options(mode=Mode.ORDERS_TO_GO_GO)
    state = new(2, options)
    assert only(opening(2, options), OrderRevealed) == OrderRevealed(Fruit(state.orders[0]), 9)


@pytest.mark.rule("JU-D1")
def test_the_pile_is_shuffled() -> None:
    deals = {tuple(sorted((*new(2, number=number).seats[0].hand,))) for number in MANY}
    assert len(deals) > 50


@pytest.mark.parametrize("module", ["cursed_wild", "juice_masters", "complements_everywhere"])
@pytest.mark.rule("JU-O5")
def test_modules_are_for_solo(module: str) -> None:
    assert error_of(2, msgspec.structs.replace(Options(), **{module: True})) == module


def test_the_grid_notation_of_tests_gives_the_drawn_grid() -> None:
    parsed = grid(". apki", "M [ap!]")
    assert (parsed.row, parsed.column) == (-1, 0)
    assert parsed.cells[0] == 255
    assert parsed.cells[1] == tile("apki")
    assert parsed.cells[4] == MASTER
    assert filled(parsed) == 0x4C00
    assert parsed.blocks == 0x0400


def test_a_game_of_ten_seats_with_one_copy_runs_out_of_tiles() -> None:
    _, events = finish(new(10))
    assert only(events, GameEnded).why == End.TILES_RAN_OUT
    assert len({event.tiles for event in events if isinstance(event, Drawn)}) == 20
