"""Juices and parts that are cut off: JU-S, JU-I, JU-T3, JU-T4."""

import pytest

from engine.errors import IllegalMove
from engine.juices.components import Complement, Fruit, Mode
from engine.juices.events import JuiceMade, PartMoved, TilesLeft
from engine.juices.grid import Cell, Grid
from engine.juices.state import MakeJuice, Shift, State
from tests.engine.juices.positions import (
    GAME,
    all_of,
    do,
    grid,
    juice,
    legal,
    only,
    place,
    position,
    shown,
    tile,
    tiles,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
Places = set[tuple[int, int]]


def scoring(mine: Grid, last: str, row: int, column: int, **known: object) -> State:
    """Return a position of two seats: seat 0 has just placed its last tile, and seat 1 must still place."""
    hands = (last, "leor grwa")
    state, _ = position(mine, None, hands=hands, **known)  # type: ignore[arg-type]  # all arguments of `position`
    return place(state, last, row, column)[0]


def candidates(state: State) -> set[tuple[Fruit, tuple[tuple[int, int], ...]]]:
    """Return the juices that seat 0 can make."""
    return {(move.fruit, tuple((cell.row, cell.column) for cell in move.cells)) for move in legal(state, 0, MakeJuice)}


# --- Groups -----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-S1", "JU-S2")
def test_three_adjacent_tiles_must_become_a_juice() -> None:
    state = scoring(grid("M apki apba"), "apor", 0, 3)
    row = ((0, 1), (0, 2), (0, 3))
    assert candidates(state) == {(APPLE, row)}
    assert {move.kept for move in legal(state, 0, MakeJuice)} == {Cell(0, 1), Cell(0, 2), Cell(0, 3)}
    assert len(GAME.legal_moves(state, 0)) == 3


@pytest.mark.rule("JU-S1")
def test_two_tiles_are_not_a_juice_and_corners_do_not_touch() -> None:
    state = scoring(grid("M apki apba"), "lepe", 0, 3)
    assert GAME.to_act(state) == (1,)
    state = scoring(grid("M apki .", ". lepe apba"), "apor", 0, -1)
    assert GAME.to_act(state) == (1,)


@pytest.mark.rule("JU-S1")
def test_a_group_is_taken_whole() -> None:
    state = scoring(grid("M apki apba", ". apgr ."), "apor", 1, 2)
    whole = ((0, 1), (0, 2), (1, 1), (1, 2))
    assert candidates(state) == {(APPLE, whole)}
    part = tuple(Cell(*place) for place in whole[:3])
    with pytest.raises(IllegalMove, match="not a group of apple"):
        do(state, 0, MakeJuice(APPLE, part, part[0]))


@pytest.mark.rule("JU-S1")
def test_two_groups_of_a_fruit_are_two_juices() -> None:
    state = scoring(grid("apki apba M apor", "apst . lepe apwa"), "ap!", 2, 1)
    assert candidates(state) == {(APPLE, ((0, -2), (0, -1), (1, -2))), (APPLE, ((0, 1), (1, 1), (2, 1)))}
    state, events = do(state, 0, legal(state, 0, MakeJuice)[0])
    state, more = do(state, 0, legal(state, 0, MakeJuice)[0])
    assert state.seats[0].juices == 2
    assert len(all_of((*events, *more), TilesLeft)) == 1


@pytest.mark.rule("JU-S1")
def test_wilds_alone_are_a_juice_of_any_fruit() -> None:
    state = scoring(grid("M w1 w2"), "w3", 0, 3)
    assert candidates(state) == {(fruit, ((0, 1), (0, 2), (0, 3))) for fruit in Fruit}
    assert len(GAME.legal_moves(state, 0)) == 30


@pytest.mark.rule("JU-T3")
@pytest.mark.parametrize("mode", [Mode.BASIC, Mode.ADVANCED])
def test_a_master_carries_no_fruit_and_never_leaves(mode: Mode) -> None:
    preferred = (APPLE, BANANA) if mode == Mode.ADVANCED else ()
    state = scoring(grid("apki M apba"), "apor", 0, 2, mode=mode, preferred=preferred)
    assert GAME.to_act(state) == (1,)
    state = scoring(grid("apki M apba apor"), "apgr", -1, 1, mode=mode, preferred=preferred)
    state, _ = juice(state, APPLE)
    assert shown(state) == {(0, 0): "M", (0, -1): "apki"}


@pytest.mark.rule("JU-T4")
def test_a_block_carries_no_fruit_and_connects() -> None:
    state = scoring(grid("M apki [apba]"), "apor", 0, 3)
    assert GAME.to_act(state) == (1,)
    state = scoring(grid("M kile [apba] apgr", ". . . apst"), "apor", 2, 3)
    state, _ = juice(state, APPLE)
    assert shown(state) == {(0, 0): "M", (0, 1): "kile", (0, 2): "[apba]"}
    state, _ = position(grid("M [w1] apba apor"), None, hands=("kile", "leor grwa"))
    state, _ = place(state, "kile", 1, 0)
    assert GAME.to_act(state) == (1,)


# --- Wilds and shared tiles -------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-S3", "JU-S2")
def test_a_wild_between_two_groups_serves_the_one_that_is_made_first() -> None:
    state = scoring(grid("apki apba w1", ". M orst", "bale lepe orwa"), "grst", 2, 0)
    assert candidates(state) == {(APPLE, ((-1, -1), (-1, 0), (-1, 1))), (ORANGE, ((-1, 1), (0, 1), (1, 1)))}
    apple, _ = juice(state, APPLE)
    assert apple.seats[0].juices == 1
    assert {(0, 1), (1, 1)} <= set(shown(apple))
    orange, _ = juice(state, ORANGE)
    assert (-1, 0) in shown(orange)
    assert (1, 1) not in shown(orange)


@pytest.mark.rule("JU-S3")
def test_a_wild_that_touches_a_juice_is_part_of_it() -> None:
    state = scoring(grid("M apki apba apor", ". . w1 ."), "lepe", 1, 0)
    assert candidates(state) == {(APPLE, ((0, 1), (0, 2), (0, 3), (1, 2)))}
    state, events = juice(state, APPLE, (1, 2))
    assert only(events, JuiceMade).kept == tile("w1")
    assert shown(state) == {(0, 0): "M", (1, 0): "lepe"}


@pytest.mark.rule("JU-S3", "JU-S4")
def test_a_tile_counts_for_a_juice_of_each_of_its_fruits() -> None:
    state = scoring(grid("M apor apba", ". . baki", ". . bale"), "apgr", -1, 1)
    across, down = ((-1, 1), (0, 1), (0, 2)), ((0, 2), (1, 2), (2, 2))
    assert candidates(state) == {(APPLE, across), (BANANA, down)}
    state, first = juice(state, APPLE, (0, 2))
    assert candidates(state) == {(BANANA, down)}
    assert (0, 2) in shown(state)
    assert not all_of(first, TilesLeft)
    assert {move.kept for move in legal(state, 0, MakeJuice)} == {Cell(1, 2), Cell(2, 2)}
    state, second = juice(state, BANANA, (1, 2))
    assert only(second, TilesLeft).cells == tuple(Cell(*each) for each in sorted({*across, *down}))
    assert state.seats[0].juices == 2
    assert state.seats[0].stack == tiles("apba baki")


@pytest.mark.rule("JU-S4")
def test_the_same_tiles_make_only_one_juice_of_a_fruit() -> None:
    state = scoring(grid("M apki apba", ". . baor", ". . bale"), "apgr", 0, 3)
    state, _ = juice(state, APPLE)
    assert {fruit for fruit, _ in candidates(state)} == {BANANA}


@pytest.mark.rule("JU-S4", "JU-S2")
def test_all_juices_of_a_scoring_use_the_same_grid_in_any_order() -> None:
    rows = grid("M apki apba", ". kile baor", ". kipe bale")
    first = scoring(rows, "apgr", 0, 3)
    own = {APPLE: (0, 3), BANANA: (2, 2), KIWI: (2, 1)}
    assert {fruit for fruit, _ in candidates(first)} == {APPLE, BANANA, KIWI}
    for order in ((APPLE, BANANA, KIWI), (KIWI, BANANA, APPLE), (BANANA, APPLE, KIWI)):
        state = first
        for fruit in order:
            state, events = juice(state, fruit, own[fruit])
        assert state.seats[0].juices == 3
        assert [event.fruit for event in all_of(events, JuiceMade)] == [order[-1]]
        assert shown(state) == {(0, 0): "M"}


@pytest.mark.rule("JU-S3")
def test_an_assigned_wild_can_split_another_group() -> None:
    state = scoring(grid("ki! apki w1 kior", ". apba . .", ". M . ."), "lepe", 0, -1)
    assert {fruit for fruit, _ in candidates(state)} == {APPLE, KIWI}
    after, _ = juice(state, APPLE)
    assert after.seats[0].juices == 1
    assert "kior" in shown(after).values()
    after, _ = juice(state, KIWI)
    assert after.seats[0].juices == 1


# --- The results of a juice -------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-S5")
def test_a_juice_keeps_one_of_its_tiles_and_discards_the_others() -> None:
    state = scoring(grid("M apki apba"), "apor", 0, 3)
    state, events = juice(state, APPLE, (0, 2))
    assert (state.seats[0].juices, state.seats[0].stack) == (1, tiles("apba"))
    assert state.discards == bytes(sorted(tiles("apki apor")))
    assert only(events, TilesLeft).discarded == tuple(sorted(tiles("apki apor")))
    assert shown(state) == {(0, 0): "M"}


@pytest.mark.rule("JU-S5")
def test_a_juice_cannot_keep_a_tile_from_elsewhere() -> None:
    state = scoring(grid("M apki apba", "lepe . ."), "apor", 0, 3)
    (move, *_) = legal(state, 0, MakeJuice)
    for kept in (Cell(1, 0), Cell(0, 0), Cell(7, 7), None):
        with pytest.raises(IllegalMove, match="keep one of its own tiles"):
            do(state, 0, MakeJuice(APPLE, move.cells, kept))


@pytest.mark.rule("JU-S5", "JU-S6")
@pytest.mark.parametrize(("size", "actions"), [(3, 0), (4, 1), (5, 2), (6, 2), (7, 2)])
def test_a_juice_of_any_size_is_worth_one_and_earns_block_actions(size: int, actions: int) -> None:
    names = ["apki", "apba", "apor", "apgr", "apwa", "apst", "aple"][:size]
    rows = (f"M {' '.join(names[:3])}", f". {' '.join(names[3:6])}" if size > 3 else "lepe", "")
    mine = grid(*(row for row in rows if row.strip(". ")), *((f". . . {names[6]}",) if size > 6 else ()))
    state, events = position(mine, None, hands=("", "leor grwa"))
    (*_, move) = legal(state, 0, MakeJuice)
    state, events = do(state, 0, move)
    assert state.seats[0].juices == 1
    assert (only(events, JuiceMade).actions, state.seats[0].actions) == (actions, actions)
    assert len(only(events, JuiceMade).cells) == size


@pytest.mark.rule("JU-S6")
def test_each_juice_earns_its_own_block_actions() -> None:
    """Four apples and four bananas share one tile."""
    state = scoring(grid("M apki apba apor", "lepe apgr . baor", ". . . bale"), "bagr", 1, 2)
    state, _ = juice(state, APPLE)
    state, _ = juice(state, BANANA)
    assert (state.seats[0].juices, state.seats[0].actions) == (2, 2)


@pytest.mark.rule("JU-S5")
def test_a_juice_whose_tiles_are_all_kept_for_others_counts() -> None:
    """Each of the three tiles of a banana juice is kept for another juice."""
    rows = (". apgr . .", "M apba baki baor", ". aple kipe orst", ". . kist orwa")
    state, _ = position(grid(*rows), None, hands=("", "leor grwa"))
    assert {fruit for fruit, _ in candidates(state)} == {APPLE, BANANA, KIWI, ORANGE}
    state, _ = juice(state, APPLE, (0, 1))
    state, _ = juice(state, KIWI, (0, 2))
    state, events = juice(state, ORANGE, (0, 3))
    juices = [*all_of(events, JuiceMade)]
    assert [(event.fruit, event.kept) for event in juices] == [(ORANGE, tile("baor")), (BANANA, None)]
    assert state.seats[0].juices == 4
    assert set(state.seats[0].stack) == set(tiles("apba baki baor"))


# --- Parts cut off ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-I1", "JU-I2")
def test_a_part_that_is_cut_off_moves_until_it_touches() -> None:
    state, _ = position(grid("M apki apba apor", ". . . kile"), None, hands=("", "leor grwa"))
    state, events = juice(state, APPLE)
    assert GAME.to_act(state) == (0, 1)
    ways = {(move.rows, move.columns) for move in legal(state, 0, Shift)}
    assert ways == {(0, -3), (-1, -2)}
    assert {move.part for move in legal(state, 0, Shift)} == {(Cell(1, 3),)}
    moved, events = do(state, 0, Shift((Cell(1, 3),), -1, -2))
    assert only(events, PartMoved) == PartMoved(0, (Cell(1, 3),), -1, -2)
    assert shown(moved) == {(0, 0): "M", (0, 1): "kile"}
    assert GAME.to_act(moved) == (1,)


@pytest.mark.rule("JU-I2")
def test_a_part_must_move_by_the_fewest_steps() -> None:
    state, _ = position(grid("M apki apba apor", ". . . kile"), None, hands=("", "leor grwa"))
    state, _ = juice(state, APPLE)
    for rows, columns in ((0, -2), (1, -3), (-2, -3), (0, 0)):
        with pytest.raises(IllegalMove, match="fewest steps"):
            do(state, 0, Shift((Cell(1, 3),), rows, columns))
    with pytest.raises(IllegalMove, match="not a part that is cut off"):
        do(state, 0, Shift((Cell(0, 0),), 0, 1))


@pytest.mark.rule("JU-I2")
def test_a_single_possible_move_of_a_part_needs_no_decision() -> None:
    state, _ = position(grid("M apki apba kile", ". . apor ."), None, hands=("", "leor grwa"))
    state, events = juice(state, APPLE)
    assert only(events, PartMoved) == PartMoved(0, (Cell(0, 3),), 0, -2)
    assert shown(state) == {(0, 0): "M", (0, 1): "kile"}
    assert GAME.to_act(state) == (1,)


@pytest.mark.rule("JU-I2")
def test_a_part_moves_as_a_whole_and_can_pass_over_tiles() -> None:
    state, _ = position(grid("M apki apba apor", ". . . kile", ". . . lepe"), None, hands=("", "leor grwa"))
    state, _ = juice(state, APPLE)
    part = (Cell(1, 3), Cell(2, 3))
    assert {(move.part, move.rows, move.columns) for move in legal(state, 0, Shift)} == {
        (part, 0, -3),
        (part, -1, -2),
    }
    state, _ = do(state, 0, Shift(part, 0, -3))
    assert shown(state) == {(0, 0): "M", (1, 0): "kile", (2, 0): "lepe"}


@pytest.mark.rule("JU-I1", "JU-I2")
def test_the_seat_chooses_which_of_two_parts_moves_first() -> None:
    rows = (". . lepe .", "M apki apba apor", ". . . kist")
    state, _ = position(grid(*rows), None, hands=("", "leor grwa"))
    state, _ = juice(state, APPLE)
    upper, lower = (Cell(-1, 2),), (Cell(1, 3),)
    assert {(move.part, move.rows, move.columns) for move in legal(state, 0, Shift)} == {
        (upper, 0, -2),
        (upper, 1, -1),
        (lower, 0, -3),
        (lower, -1, -2),
    }
    below, events = do(state, 0, Shift(lower, 0, -3))
    assert {move.part for move in legal(below, 0, Shift)} == {upper}
    assert len(all_of(events, PartMoved)) == 1
    beside, events = do(state, 0, Shift(lower, -1, -2))
    assert len(all_of(events, PartMoved)) == 1
    assert legal(beside, 0, Shift) == [Shift(upper, 0, -1), Shift(upper, 1, 0)]


@pytest.mark.rule("JU-I1")
def test_the_part_with_the_master_is_the_main_part_at_any_size() -> None:
    state, _ = position(grid("M apki . .", ". apba lepe kist", ". apor leor piwa"), None, hands=("", "leor grwa"))
    state, _ = juice(state, APPLE)
    big = (Cell(1, 2), Cell(1, 3), Cell(2, 2), Cell(2, 3))
    assert legal(state, 0, Shift) == [Shift(big, -1, -1), Shift(big, 0, -2)]


@pytest.mark.rule("JU-I1")
def test_without_a_master_the_largest_or_first_part_is_the_main_part() -> None:
    known = {"mode": Mode.ORDERS_TO_GO_GO, "orders": tuple(Fruit)}
    state, _ = position(
        grid("kist apki lepe", ". apba leor", ". apor ."),
        None,
        hands=("", "leor grwa"),
        **known,  # type: ignore[arg-type]
    )
    state, events = juice(state, APPLE)
    assert only(events, PartMoved) == PartMoved(0, (Cell(0, 0),), 0, 1)
    assert set(shown(state)) == {(0, 1), (0, 2), (1, 2)}
    state, _ = position(
        grid("kist apki lepe", ". apba .", ". apor ."),
        None,
        hands=("", "leor grwa"),
        **known,  # type: ignore[arg-type]
    )
    state, events = juice(state, APPLE)
    assert shown(state) == {(0, 0): "kist", (0, 1): "lepe"}
    assert only(events, PartMoved) == PartMoved(0, (Cell(0, 2),), 0, -1)


@pytest.mark.rule("JU-I2")
def test_a_part_joins_another_if_no_part_can_reach_the_main_part() -> None:
    """The grid cannot occur in a game. Its shape is one of 44 for which this happens."""
    rows = ("apki bale orpe .", ". grwa . kist", ". . leor stwa", "M . . piwa")
    state, events = position(grid(*rows), None, hands=("", "leor grwa"))
    assert {move.part for move in legal(state, 0, Shift)} == {
        (Cell(-3, 0), Cell(-3, 1), Cell(-3, 2), Cell(-2, 1)),
        (Cell(-2, 3), Cell(-1, 2), Cell(-1, 3), Cell(0, 3)),
    }
    assert not events
    state, events = do(state, 0, legal(state, 0, Shift)[0])
    assert all_of(events, PartMoved)


# Apples connect a kiwi at the right. When it moves over, it forms a juice with the kiwis below the master.
CHAIN = ("M . apgr .", "kile apba apor kiwa", "kist . . .")


@pytest.mark.rule("JU-I3")
def test_a_juice_formed_by_a_move_is_scored_immediately() -> None:
    state, _ = position(grid(*CHAIN, "orpe . . ."), None, hands=("", "leor grwa"))
    state, events = juice(state, APPLE)
    assert only(events, PartMoved) == PartMoved(0, (Cell(1, 3),), 0, -2)
    assert candidates(state) == {(KIWI, ((1, 0), (1, 1), (2, 0)))}
    assert legal(state, 0, Shift) == []
    state, events = juice(state, KIWI, (1, 1))
    assert only(events, PartMoved) == PartMoved(0, (Cell(3, 0),), -2, 0)
    assert shown(state) == {(0, 0): "M", (1, 0): "orpe"}
    assert state.seats[0].juices == 2
    assert GAME.to_act(state) == (1,)


@pytest.mark.rule("JU-I3")
def test_a_juice_comes_before_the_move_of_the_next_part() -> None:
    """Another part is cut off above on the right. The kiwis become a juice first, and that part moves afterwards."""
    state, _ = position(grid(". . . leor", "M . apgr apst", *CHAIN[1:]), None, hands=("", "grwa"))
    state, _ = juice(state, APPLE)
    kiwi = (Cell(1, 3),)
    assert {move.part for move in legal(state, 0, Shift)} == {kiwi, (Cell(-1, 3),)}
    state, events = do(state, 0, next(move for move in legal(state, 0, Shift) if move.part == kiwi))
    assert len(all_of(events, PartMoved)) == 1
    assert {fruit for fruit, _ in candidates(state)} == {KIWI}
    assert legal(state, 0, Shift) == []
    state, _ = juice(state, KIWI)
    assert {move.part for move in legal(state, 0, Shift)} == {(Cell(-1, 3),)}


@pytest.mark.rule("JU-I3", "JU-S6", "JU-X1")
def test_a_juice_formed_by_a_move_earns_actions_and_complements() -> None:
    state, _ = position(grid(*CHAIN[:2], "ki* . . kist"), None, hands=("", "leor grwa"))
    state, _ = juice(state, APPLE)
    assert (state.seats[0].actions, state.seats[0].effects) == (0, b"")
    state, _ = juice(state, KIWI)
    assert (state.seats[0].actions, state.seats[0].effects) == (1, bytes((Complement.COFFEE,)))
