"""The grid agrees with the slow reference grid on random grids and on difficult cases.

The games of `test_reference` compare the same functions. These grids have more parts, Blocks and wilds than games do.
"""

from random import Random

import pytest

from engine.juices import grid as fast
from engine.juices.grid import EMPTY, MASTER, Cell, Grid, Juice, Shove
from tests.engine.juices import reference_grid
from tests.support.long_cases import long_case

SHARES = [0, *(long_case(share) for share in range(1, 33))]
PER_SHARE = 250


@pytest.mark.rule("JU-T1", "JU-T2")
@pytest.mark.parametrize("share", SHARES)
def test_the_open_cells_are_those_of_the_reference(share: int) -> None:
    random = Random(f"place {share}")
    for _ in range(PER_SHARE):
        grid = reference_grid.random_grid(random)
        cells = fast.openings(grid)
        assert list(cells) == sorted(cells)
        assert {(cell.row, cell.column) for cell in cells} == reference_grid.openings(reference_grid.contents(grid))
        assert fast.complete(grid) == (not cells) == (EMPTY not in grid.cells)
        if cells:
            cell, block = random.choice(cells), random.random() < 0.5
            expected = reference_grid.contents(grid) | {(cell.row, cell.column): (7, block)}
            assert fast.put(grid, cell, 7, block=block) == reference_grid.grid_with(expected)


@pytest.mark.rule("JU-S1", "JU-S3", "JU-S4", "JU-T3", "JU-T4")
@pytest.mark.parametrize("share", SHARES)
def test_possible_juices_are_those_of_the_reference(share: int) -> None:
    random = Random(f"juice {share}")
    for _ in range(PER_SHARE):
        grid = reference_grid.random_grid(random)
        juices: tuple[Juice, ...] = ()
        while True:
            found = fast.candidates(grid, juices)
            reference_juices = [(juice.fruit, set(reference_grid.places(grid, juice.mask))) for juice in juices]
            assert len(found) == len(set(found))
            assert {(fruit, reference_grid.places(grid, mask)) for fruit, mask in found} == reference_grid.candidates(
                reference_grid.contents(grid), reference_juices
            )
            if not found:
                break
            juices += (Juice(*random.choice(found), None),)


@pytest.mark.rule("JU-I1", "JU-I2", "JU-T1")
@pytest.mark.parametrize("share", SHARES)
def test_parts_rejoin_as_in_the_reference(share: int) -> None:
    random = Random(f"shove {share}")
    for _ in range(PER_SHARE // 2):
        for grid_with_gaps in reference_grid.grids_with_gaps(random):
            grid = grid_with_gaps
            while True:
                found = fast.shoves(grid)
                assert len(found) == len(set(found))
                assert {reference_grid.as_reference(grid, shove) for shove in found} == reference_grid.shoves(
                    reference_grid.contents(grid)
                )
                if not found:
                    break
                shove = random.choice(found)
                expected = reference_grid.moved(
                    reference_grid.contents(grid), *reference_grid.as_reference(grid, shove)
                )
                grid = fast.pushed(grid, shove)
                assert grid == reference_grid.grid_with(expected)


@pytest.mark.rule("JU-T1")
@pytest.mark.parametrize("share", SHARES)
def test_the_remaining_tiles_keep_their_place(share: int) -> None:
    random = Random(f"stay {share}")
    for _ in range(PER_SHARE):
        grid = reference_grid.random_grid(random)
        mask = random.getrandbits(16) & fast.filled(grid)
        removed = reference_grid.places(grid, mask)
        assert [(cell.row, cell.column) for cell in fast.cells_of(grid, mask)] == sorted(removed)
        assert fast.tiles_of(grid, mask) == bytes(reference_grid.contents(grid)[place][0] for place in sorted(removed))
        remaining = {place: thing for place, thing in reference_grid.contents(grid).items() if place not in removed}
        assert fast.without(grid, mask) == reference_grid.grid_with(remaining)


@pytest.mark.rule("JU-I2")
@pytest.mark.parametrize("share", [0, *(long_case(share) for share in range(1, 29))])
def test_a_part_that_is_cut_off_can_always_rejoin(share: int) -> None:
    """In a grid of any shape, with any part as the main part, a part can move.

    Each share checks every 29th shape; together they check all.
    """
    for mask in range(1 + share, 1 << 16, 29):
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
    grid = reference_grid.grid_with(things)
    main = {(3, 0)}
    found = {reference_grid.as_reference(grid, shove) for shove in fast.shoves(grid)}
    assert found == reference_grid.shoves(things)
    assert len(found) > 0
    for part, down, right in found:
        after = reference_grid.moved(things, part, down, right)
        assert main in reference_grid.pieces(after)
        assert len(reference_grid.pieces(after)) == 2


@pytest.mark.rule("JU-T1")
def test_an_emptied_grid_begins_at_its_origin() -> None:
    grid = Grid(row=-2, column=5, cells=bytes((3,)) + bytes((EMPTY,)) * 15)
    assert fast.without(grid, 0x8000) == Grid()
    assert fast.openings(Grid()) == (Cell(0, 0),)


def test_an_index_exists_for_occupied_cells_only() -> None:
    grid = reference_grid.grid_with({(-1, 2): (5, False), (-1, 3): (6, True), (0, 3): (7, False)})
    found = {(row, column): fast.index_of(grid, Cell(row, column)) for row in range(-5, 6) for column in range(-3, 9)}
    assert {place: index for place, index in found.items() if index is not None} == {(-1, 2): 0, (-1, 3): 1, (0, 3): 5}


def test_only_the_shortest_push_of_a_part_is_possible() -> None:
    grid = reference_grid.grid_with({(0, 0): (MASTER, False), (0, 3): (5, False)})
    assert fast.shoves(grid) == (Shove(0x1000, 0, -2),)
