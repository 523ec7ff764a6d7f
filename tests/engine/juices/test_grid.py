"""The grid and its slow double agree on thousands of grids; and a few that are easy to get wrong."""

from random import Random

import pytest

from engine.juices import grid as fast
from engine.juices.grid import EMPTY, MASTER, Cell, Grid, Juice, Shove
from tests.engine.juices import slow_grid as slow
from tests.support.long_cases import long_case

SHARES = [0, 1, *(long_case(share) for share in range(2, 8))]
PER_SHARE = 1000


@pytest.mark.rule("JU-T1", "JU-T2")
@pytest.mark.parametrize("share", SHARES)
def test_things_may_be_placed_where_the_double_says(share: int) -> None:
    luck = Random(f"place {share}")
    for _ in range(PER_SHARE):
        grid = slow.grown(luck)
        cells = fast.openings(grid)
        assert list(cells) == sorted(cells)
        assert {(cell.row, cell.column) for cell in cells} == slow.openings(slow.lying(grid))
        assert fast.complete(grid) == (not cells) == (EMPTY not in grid.cells)
        if cells:
            cell, block = luck.choice(cells), luck.random() < 0.5
            expected = slow.lying(grid) | {(cell.row, cell.column): (7, block)}
            assert fast.put(grid, cell, 7, block=block) == slow.laid(expected)


@pytest.mark.rule("JU-S1", "JU-S3", "JU-S4", "JU-T3", "JU-T4")
@pytest.mark.parametrize("share", SHARES)
def test_juices_are_those_of_the_double_until_none_is_left(share: int) -> None:
    luck = Random(f"juice {share}")
    for _ in range(PER_SHARE):
        grid = slow.grown(luck)
        made: tuple[Juice, ...] = ()
        while True:
            found = fast.candidates(grid, made)
            slow_made = [(juice.fruit, set(slow.places(grid, juice.mask))) for juice in made]
            assert len(found) == len(set(found))
            assert {(fruit, slow.places(grid, mask)) for fruit, mask in found} == slow.candidates(
                slow.lying(grid), slow_made
            )
            if not found:
                break
            made += (Juice(*luck.choice(found), None),)


@pytest.mark.rule("JU-I1", "JU-I2", "JU-T1")
@pytest.mark.parametrize("share", SHARES)
def test_parts_rejoin_as_the_double_says(share: int) -> None:
    luck = Random(f"shove {share}")
    for _ in range(PER_SHARE // 2):
        for torn in slow.torn(luck):
            grid = torn
            while True:
                found = fast.shoves(grid)
                assert len(found) == len(set(found))
                assert {slow.as_slow(grid, shove) for shove in found} == slow.shoves(slow.lying(grid))
                if not found:
                    break
                shove = luck.choice(found)
                expected = slow.moved(slow.lying(grid), *slow.as_slow(grid, shove))
                grid = fast.pushed(grid, shove)
                assert grid == slow.laid(expected)


@pytest.mark.rule("JU-T1")
@pytest.mark.parametrize("share", SHARES)
def test_what_stays_keeps_its_place(share: int) -> None:
    luck = Random(f"stay {share}")
    for _ in range(PER_SHARE):
        grid = slow.grown(luck)
        mask = luck.getrandbits(16) & fast.filled(grid)
        gone = slow.places(grid, mask)
        assert [(cell.row, cell.column) for cell in fast.cells_of(grid, mask)] == sorted(gone)
        assert fast.tiles_of(grid, mask) == bytes(slow.lying(grid)[place][0] for place in sorted(gone))
        left = {place: thing for place, thing in slow.lying(grid).items() if place not in gone}
        assert fast.without(grid, mask) == slow.laid(left)


@pytest.mark.rule("JU-I2")
@pytest.mark.parametrize("share", [0, *(long_case(share) for share in range(1, 7))])
def test_whatever_is_cut_off_can_rejoin(share: int) -> None:
    """No grid of any shape, wherever its main part is, leaves a seat without a way to move a part.

    Each share has every seventh shape; together they have all.
    """
    for mask in range(1 + share, 1 << 16, 7):
        pieces = fast.parts(mask)
        for main in pieces if len(pieces) > 1 and mask & 0xF000 and mask & 0x8888 else ():
            assert fast._shoves(mask, 1 << main.bit_length() - 1), f"{mask:016b} with the master in {main:016b}"


@pytest.mark.rule("JU-I2")
def test_parts_that_cannot_reach_the_main_part_join_each_other() -> None:
    rows = (
        "TTT.",
        ".T.T",
        "..TT",
        "M..T",
    )
    things = {
        (row, column): (MASTER if mark == "M" else 4 * row + column, False)
        for row, marks in enumerate(rows)
        for column, mark in enumerate(marks)
        if mark != "."
    }
    grid = slow.laid(things)
    main = {(3, 0)}
    found = {slow.as_slow(grid, shove) for shove in fast.shoves(grid)}
    assert found == slow.shoves(things)
    assert len(found) > 0
    for part, down, right in found:
        after = slow.moved(things, part, down, right)
        assert main in slow.pieces(after)
        assert len(slow.pieces(after)) == 2


@pytest.mark.rule("JU-T1")
def test_an_empty_grid_begins_at_its_origin_again() -> None:
    grid = Grid(row=-2, column=5, cells=bytes((3,)) + bytes((EMPTY,)) * 15)
    assert fast.without(grid, 0x8000) == Grid()
    assert fast.openings(Grid()) == (Cell(0, 0),)


def test_a_cell_is_found_where_something_lies_and_nowhere_else() -> None:
    grid = slow.laid({(-1, 2): (5, False), (-1, 3): (6, True), (0, 3): (7, False)})
    found = {(row, column): fast.index_of(grid, Cell(row, column)) for row in range(-5, 6) for column in range(-3, 9)}
    assert {place: index for place, index in found.items() if index is not None} == {(-1, 2): 0, (-1, 3): 1, (0, 3): 5}


def test_a_push_that_is_no_move_of_the_part_is_none_of_the_shortest() -> None:
    grid = slow.laid({(0, 0): (MASTER, False), (0, 3): (5, False)})
    assert fast.shoves(grid) == (Shove(0x1000, 0, -2),)
