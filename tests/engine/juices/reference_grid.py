"""The grid of the reference: slow and simple, a dict of cells instead of a bounding box and bit masks."""

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from random import Random

from engine.juices.components import TILES, Fruit
from engine.juices.grid import EMPTY, MASTER, Cell, Grid, Shove, indices, put

Place = tuple[int, int]
Contents = dict[Place, tuple[int, bool]]
"""The content of each occupied place: a tile's number or `MASTER`, and whether it is a Block."""


def contents(grid: Grid) -> Contents:
    """Return the contents of a grid of the engine."""
    found = {}
    for index, code in enumerate(grid.cells):
        if code != EMPTY:
            found[grid.row + index // 4, grid.column + index % 4] = code, bool(grid.blocks >> 15 - index & 1)
    return found


def grid_with(things: Contents) -> Grid:
    """Return the grid of the engine with these contents."""
    if not things:
        return Grid()
    top, left = min(row for row, _ in things), min(column for _, column in things)
    cells, blocks = bytearray((EMPTY,)) * 16, 0
    for (row, column), (code, block) in things.items():
        index = (row - top) * 4 + column - left
        cells[index] = code
        blocks |= block << 15 - index
    return Grid(top, left, bytes(cells), blocks)


def neighbors(place: Place) -> set[Place]:
    """Return the four places beside a place."""
    row, column = place
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}


def fits(places: Collection[Place]) -> bool:
    """Return whether places fit into a box of 4x4."""
    rows = [row for row, _ in places]
    columns = [column for _, column in places]
    return max(rows) - min(rows) <= 3 and max(columns) - min(columns) <= 3


def pieces(places: Iterable[Place]) -> list[set[Place]]:
    """Return the connected sets of places."""
    remaining, parts = set(places), []
    while remaining:
        piece, border = set(), {min(remaining)}
        while border:
            place = border.pop()
            piece.add(place)
            border |= (neighbors(place) & remaining) - piece
        remaining -= piece
        parts.append(piece)
    return parts


def openings(things: Contents) -> set[Place]:
    """Return the places where a tile may be placed (JU-T2)."""
    if not things:
        return {(0, 0)}
    around = set().union(*map(neighbors, things)) - set(things)
    return {place for place in around if fits({*things, place})}


def candidates(
    things: Contents, juices: Iterable[tuple[Fruit, set[Place]]] = ()
) -> set[tuple[Fruit, frozenset[Place]]]:
    """Return the possible juices: fruits and groups (JU-S1, JU-S3, JU-S4)."""
    found = set()
    for fruit in Fruit:
        usable = set()
        for place, (code, block) in things.items():
            if code == MASTER or block:
                continue
            if TILES[code].wild:
                in_use = any(place in used for _, used in juices)
            else:
                in_use = fruit not in TILES[code].fruits or any(place in used for of, used in juices if of == fruit)
            if not in_use:
                usable.add(place)
        found |= {(fruit, frozenset(piece)) for piece in pieces(usable) if len(piece) >= 3}
    return found


def shoves(things: Contents) -> set[tuple[frozenset[Place], int, int]]:
    """Return the moves by which a separate part can rejoin: the part, rows and columns (JU-I1, JU-I2)."""
    cut = pieces(things)
    if len(cut) < 2:
        return set()
    mains = [piece for piece in cut if any(things[place][0] == MASTER for place in piece)]
    largest = max(len(piece) for piece in cut)
    mains = mains or [min((piece for piece in cut if len(piece) == largest), key=min)]
    (main,) = mains
    others = [piece for piece in cut if piece != main]
    found = {(frozenset(piece), *way) for piece in others for way in _ways(things, piece, main)}
    if not found:
        found = {(frozenset(piece), *way) for piece in others for way in _ways(things, piece, set(things) - piece)}
    return found


def _ways(things: Contents, piece: set[Place], goal: set[Place]) -> list[tuple[int, int]]:
    ways = []
    rest = set(things) - piece
    for rows, columns in product(range(-8, 9), repeat=2):
        moved = {(row + rows, column + columns) for row, column in piece}
        touches = any(neighbors(place) & goal for place in moved)
        if touches and not moved & rest and fits(moved | rest):
            ways.append((rows, columns))
    fewest = min((abs(rows) + abs(columns) for rows, columns in ways), default=0)
    return [(rows, columns) for rows, columns in ways if abs(rows) + abs(columns) == fewest]


def moved(things: Contents, part: Iterable[Place], rows: int, columns: int) -> Contents:
    """Return the contents after a part has moved."""
    part = set(part)
    return {(row + rows * ((row, column) in part), column + columns * ((row, column) in part)): thing
            for (row, column), thing in things.items()}  # fmt: skip


def places(grid: Grid, mask: int) -> frozenset[Place]:
    """Return the places of a mask."""
    return frozenset((grid.row + index // 4, grid.column + index % 4) for index in indices(mask))


def as_reference(grid: Grid, shove: Shove) -> tuple[frozenset[Place], int, int]:
    """Return a shove as the part, rows and columns."""
    return places(grid, shove.part), shove.rows, shove.columns


# --- Random grids -----------------------------------------------------------------------------------------------------


def random_grid(random: Random) -> Grid:
    """Return a grid with or without a master, of few or many fruits, with some Blocks."""
    fruits = random.sample(list(Fruit), random.randint(2, 10))
    tiles = [number for number, tile in enumerate(TILES) if set(tile.fruits) <= set(fruits)]
    random.shuffle(tiles)
    grid = put(Grid(), Cell(0, 0), MASTER) if random.random() < 0.6 else Grid()
    for tile in tiles[: random.randint(0, 16)]:
        if places := sorted(openings(contents(grid))):
            grid = put(grid, Cell(*random.choice(places)), tile, block=random.random() < 0.15)
    return grid


def grids_with_gaps(random: Random) -> Iterator[Grid]:
    """Yield a random grid after tiles were removed once, and after tiles were removed twice."""
    things = contents(random_grid(random))
    for _ in range(2):
        loose = [place for place, (code, _) in things.items() if code != MASTER]
        things = {
            place: thing
            for place, thing in things.items()
            if place not in random.sample(loose, min(len(loose), random.randint(1, 5)))
        }
        yield grid_with(things)
