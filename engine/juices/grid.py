"""A seat's grid: where things may lie, which juices lie there, and how parts that are cut off rejoin.

It knows nothing of turns. Everything on a grid fits into a box of 4x4 cells that floats on an unbounded plane
(JU-T1). So a grid is kept as the sixteen cells of the box that has the topmost row and the leftmost column in use as
its first, together with where on the plane that box lies. A set of its cells is a mask of sixteen bits, cell 0 the
highest, so that reading order is descending order. What depends on masks alone is remembered.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import product
from typing import Final

from engine.juices.components import SMALLEST_JUICE, TILES, Fruit, Value, fruits_for_juice

SIDE: Final = 4
SIZE: Final = SIDE * SIDE
EMPTY: Final = 255
MASTER: Final = 254
"""What a cell of a grid holds, where it is no tile's number."""

_ALL: Final = 0xFFFF
_TOP: Final = 0xF000
_LEFT: Final = 0x8888
_RIGHT: Final = 0x1111
_BITS: Final = tuple(1 << SIZE - 1 - index for index in range(SIZE))
_KEPT: Final = 1 << 13
"""How many results of each function of masks are remembered: those of some hundred games."""
_CELLS: Final = 1 << 10
"""How many cells of the plane are shared by all results; far more than a grid ever reaches."""
_ASKED_AGAIN: Final = 1 << 10
"""How many results for whole grids: they serve the same move and the next; more would only be cold memory."""


class Cell(Value, frozen=True, order=True):
    """A cell of the plane."""

    row: int
    column: int

    @property
    def text(self) -> str:
        """The cell for people, as row and column."""
        return f"({self.row}, {self.column})".replace("-", "\N{MINUS SIGN}")


class Grid(Value, frozen=True):
    """A grid.

    Attributes:
        row: on which row of the plane the box begins.
        column: in which column.
        cells: what lies in the box, row by row: a tile's number, `MASTER` or `EMPTY`.
        blocks: the cells whose tiles lie face down, as Blocks (JU-T4).
    """

    row: int = 0
    column: int = 0
    cells: bytes = bytes((EMPTY,)) * SIZE
    blocks: int = 0


class Juice(Value, frozen=True):
    """A juice whose tiles still lie on the grid.

    Attributes:
        fruit: of which fruit.
        mask: the cells of its tiles.
        kept: the tile kept for it, if any.
    """

    fruit: Fruit
    mask: int
    kept: int | None


class Shove(Value, frozen=True):
    """A way for a part to rejoin: so many rows down and columns to the right."""

    part: int
    rows: int
    columns: int


# --- Cells and masks --------------------------------------------------------------------------------------------------


def _marks(holds: frozenset[int]) -> bytes:
    """Makes a table that translates what a cell holds into a binary digit."""
    return bytes(b"01"[code in holds] for code in range(256))


_FILLED: Final = _marks(frozenset(range(256)) - {EMPTY})
_MASTERS: Final = _marks(frozenset({MASTER}))
_WILD: Final = _marks(frozenset(number for number, tile in enumerate(TILES) if tile.wild))
_FRUITS: Final = {
    fruit: _marks(frozenset(number for number, tile in enumerate(TILES) if fruit in tile.fruits)) for fruit in Fruit
}


def filled(grid: Grid) -> int:
    """Tells which cells of the box are occupied."""
    return int(grid.cells.translate(_FILLED), 2)


def complete(grid: Grid) -> bool:
    """Tells whether nothing can be placed any more."""
    return EMPTY not in grid.cells


def _mask(places: Iterable[tuple[int, int]]) -> int:
    """Makes a mask of the places in the box, by their rows and columns, and leaves the others out."""
    return sum(_BITS[row * SIDE + column] for row, column in places if 0 <= row < SIDE and 0 <= column < SIDE)


@lru_cache(maxsize=_KEPT)
def indices(mask: int) -> tuple[int, ...]:
    """Lists the cells of a mask by their place in the box."""
    return tuple(index for index in range(SIZE) if mask & _BITS[index])


@lru_cache(maxsize=_CELLS)
def _cell(row: int, column: int) -> Cell:
    return Cell(row, column)


@lru_cache(maxsize=_KEPT)
def _located(row: int, column: int, mask: int) -> tuple[Cell, ...]:
    return tuple(_cell(row + index // SIDE, column + index % SIDE) for index in indices(mask))


def cells_of(grid: Grid, mask: int) -> tuple[Cell, ...]:
    """Lists the cells of a mask by their place on the plane, in reading order."""
    return _located(grid.row, grid.column, mask)


def tiles_of(grid: Grid, mask: int) -> bytes:
    """Lists the tiles on the cells of a mask, in reading order."""
    cells = grid.cells
    return bytes([cells[index] for index in indices(mask)])


def index_of(grid: Grid, cell: Cell) -> int | None:
    """Finds an occupied cell in the box."""
    row, column = cell.row - grid.row, cell.column - grid.column
    if 0 <= row < SIDE and 0 <= column < SIDE and grid.cells[row * SIDE + column] != EMPTY:
        return row * SIDE + column
    return None


def _beside(mask: int) -> int:
    """Tells which cells of the box touch a cell of the mask orthogonally."""
    return (mask << SIDE & _ALL) | mask >> SIDE | (mask & ~_LEFT) << 1 | (mask & ~_RIGHT) >> 1


@lru_cache(maxsize=_KEPT)
def parts(mask: int) -> tuple[int, ...]:
    """Splits a mask into its orthogonally connected parts, by their first cells."""
    found = []
    while mask:
        part, grown = 0, 1 << mask.bit_length() - 1
        while grown != part:
            part, grown = grown, (grown | _beside(grown)) & mask
        found.append(part)
        mask &= ~part
    return tuple(found)


# --- Placing ----------------------------------------------------------------------------------------------------------


def _places() -> Iterator[tuple[int, int, int, int]]:
    """Lists where something may touch what is in the box: there and in the row above and the column to its left.

    Yields:
        The row and the column from the box's first cell; of which cells one must be occupied, and which must all be
        empty: the cell itself and, above and to the left, the last row or column, which leaves the box then.
    """
    for row, column in product(range(-1, SIDE), repeat=2):
        beside = {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
        last = SIDE - 1 if row < 0 else None, SIDE - 1 if column < 0 else None
        taken = {(r, c) for r, c in product(range(SIDE), repeat=2) if r == last[0] or c == last[1]}
        yield row, column, _mask(beside), _mask({(row, column)} | taken)


_PLACES: Final = tuple(_places())


@lru_cache(maxsize=_KEPT)
def _open_cells(row: int, column: int, mask: int) -> tuple[Cell, ...]:
    """JU-T2."""
    if not mask:
        return (_cell(0, 0),)
    return tuple(
        [
            _cell(row + down, column + right)
            for down, right, beside, taken in _PLACES
            if mask & beside and not mask & taken
        ]
    )


@lru_cache(maxsize=_ASKED_AGAIN)
def openings(grid: Grid) -> tuple[Cell, ...]:
    """Lists the cells where a tile or a Block may be placed, in reading order."""
    return _open_cells(grid.row, grid.column, filled(grid))


def put(grid: Grid, cell: Cell, code: int, *, block: bool = False) -> Grid:
    """Places something on an empty cell that keeps the box within 4x4."""
    row, column = cell.row - grid.row, cell.column - grid.column
    if row < 0 or column < 0:
        grid = _grown(grid, max(-row, 0), max(-column, 0))
        row, column = max(row, 0), max(column, 0)
    index = row * SIDE + column
    cells = grid.cells[:index] + bytes((code,)) + grid.cells[index + 1 :]
    return Grid(grid.row, grid.column, cells, grid.blocks | _BITS[index] if block else grid.blocks)


def _grown(grid: Grid, rows: int, columns: int) -> Grid:
    """Begins the box so many rows and columns earlier, if the cells that leave it at its end are empty."""
    shift = rows * SIDE + columns
    cells = bytes((EMPTY,)) * shift + grid.cells[:-shift]
    return Grid(grid.row - rows, grid.column - columns, cells, grid.blocks >> shift)


def without(grid: Grid, mask: int) -> Grid:
    """Takes away what lies on the cells of a mask. What stays keeps its place on the plane (JU-T1)."""
    cells = bytearray(grid.cells)
    for index in indices(mask):
        cells[index] = EMPTY
    return _boxed(grid.row, grid.column, bytes(cells), grid.blocks & ~mask)


def _boxed(row: int, column: int, cells: bytes, blocks: int) -> Grid:
    """Makes a grid of cells whose first rows or columns may be empty."""
    mask = int(cells.translate(_FILLED), 2)
    if not mask:
        return Grid()  # JU-T1: the first thing placed lies at (0, 0)
    while not mask & _TOP:
        row, mask, cells, blocks = row + 1, mask << SIDE, cells[SIDE:] + bytes((EMPTY,)) * SIDE, blocks << SIDE
    while not mask & _LEFT:
        column, mask, cells, blocks = column + 1, mask << 1, cells[1:] + bytes((EMPTY,)), blocks << 1
    return Grid(row, column, cells, blocks)


# --- Juices -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=_KEPT)
def _groups(mask: int) -> tuple[int, ...]:
    return tuple(part for part in parts(mask) if part.bit_count() >= SMALLEST_JUICE)


@lru_cache(maxsize=_ASKED_AGAIN)
def candidates(grid: Grid, made: tuple[Juice, ...] = ()) -> tuple[tuple[Fruit, int], ...]:
    """Lists the juices that can be made: fruits, in order, with the cells of a maximal group (JU-S1).

    Args:
        grid: the grid.
        made: the juices of this scoring that are made already. Their wilds are assigned (JU-S3), and their tiles serve
            no other juice of their fruit (JU-S4).
    """
    cells, faces = grid.cells, ~grid.blocks
    wilds = int(cells.translate(_WILD), 2) & faces
    for juice in made:
        wilds &= ~juice.mask
    found = []
    for fruit in fruits_for_juice(cells):
        mask = int(cells.translate(_FRUITS[fruit]), 2) & faces
        for juice in made:
            if juice.fruit == fruit:
                mask &= ~juice.mask
        mask |= wilds
        if mask.bit_count() >= SMALLEST_JUICE:
            found += [(fruit, group) for group in _groups(mask)]
    return tuple(found)


# --- Parts that are cut off -------------------------------------------------------------------------------------------


def shoves(grid: Grid) -> tuple[Shove, ...]:
    """Lists the ways in which a part may rejoin the grid; none when the grid is in one piece (JU-I1, JU-I2)."""
    mask = filled(grid)
    return _shoves(mask, int(grid.cells.translate(_MASTERS), 2)) if len(parts(mask)) > 1 else ()


@lru_cache(maxsize=_KEPT)
def _shoves(mask: int, master: int) -> tuple[Shove, ...]:
    main = _main(mask, master)
    cut_off = [part for part in parts(mask) if part != main]
    found = [shove for part in cut_off for shove in _shortest(part, mask & ~part, main)]
    # Where no part can reach the main part, one moves until it touches another part.
    return tuple(found or [shove for part in cut_off for shove in _shortest(part, mask & ~part, mask & ~part)])


def _main(mask: int, master: int) -> int:
    """JU-I1: the part with the master; else the largest, among equals the one with the first cell."""
    return max(parts(mask), key=lambda part: (part & master, part.bit_count(), part))


def _shortest(part: int, rest: int, goal: int) -> Iterator[Shove]:
    """Lists the shortest ways to push a part so that it touches the goal, over nothing, in a box of 4x4 (JU-I2)."""
    moving, lying, aim = (_coordinates(mask) for mask in (part, rest, goal))
    wanted = {(r + 1, c) for r, c in aim} | {(r - 1, c) for r, c in aim} | {(r, c + 1) for r, c in aim}
    wanted |= {(r, c - 1) for r, c in aim}
    fewest = 0
    for steps, rows, columns in _STEPS:
        if fewest and steps > fewest:
            return
        moved = {(row + rows, column + columns) for row, column in moving}
        if moved.isdisjoint(wanted) or not moved.isdisjoint(lying):
            continue
        if all(max(line) - min(line) < SIDE for line in zip(*moved | lying, strict=True)):
            fewest = steps
            yield Shove(part, rows, columns)


def _coordinates(mask: int) -> set[tuple[int, int]]:
    return {divmod(index, SIDE) for index in indices(mask)}


_REACH: Final = range(2 - 2 * SIDE, 2 * SIDE - 1)
_STEPS: Final = sorted((abs(rows) + abs(columns), rows, columns) for rows in _REACH for columns in _REACH)
"""Every push of a part that can leave a grid within its box, shortest first."""


def pushed(grid: Grid, shove: Shove) -> Grid:
    """Moves a part."""
    lying = {}
    for index in indices(filled(grid)):
        row, column = divmod(index, SIDE)
        bit = _BITS[index]
        moves = bool(shove.part & bit)
        at = row + shove.rows * moves, column + shove.columns * moves
        lying[at] = grid.cells[index], bool(grid.blocks & bit)
    top = min(row for row, _ in lying)
    left = min(column for _, column in lying)
    cells, blocks = bytearray((EMPTY,)) * SIZE, 0
    for (row, column), (code, block) in lying.items():
        index = (row - top) * SIDE + column - left
        cells[index] = code
        blocks |= _BITS[index] * block
    return Grid(grid.row + top, grid.column + left, bytes(cells), blocks)
