"""The grid of Juices once more: slow and obvious, one cell at a time, without a box or a mask."""

from collections.abc import Collection, Iterable, Iterator
from itertools import product
from random import Random

from engine.juices.components import TILES, Fruit
from engine.juices.grid import EMPTY, MASTER, Cell, Grid, Shove, indices, put

Place = tuple[int, int]
Lying = dict[Place, tuple[int, bool]]
"""What lies where: a tile's number or `MASTER`, and whether it is a Block."""


def lying(grid: Grid) -> Lying:
    """What lies on a grid."""
    found = {}
    for index, code in enumerate(grid.cells):
        if code != EMPTY:
            found[grid.row + index // 4, grid.column + index % 4] = code, bool(grid.blocks >> 15 - index & 1)
    return found


def laid(things: Lying) -> Grid:
    """Lays a grid, one thing beside another, in any order that the rules of placing would not mind."""
    if not things:
        return Grid()
    top, left = min(row for row, _ in things), min(column for _, column in things)
    cells, blocks = bytearray((EMPTY,)) * 16, 0
    for (row, column), (code, block) in things.items():
        index = (row - top) * 4 + column - left
        cells[index] = code
        blocks |= block << 15 - index
    return Grid(top, left, bytes(cells), blocks)


def neighbours(place: Place) -> set[Place]:
    """The four places beside a place."""
    row, column = place
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}


def fits(places: Collection[Place]) -> bool:
    """Whether places fit a box of 4x4."""
    rows = [row for row, _ in places]
    columns = [column for _, column in places]
    return max(rows) - min(rows) <= 3 and max(columns) - min(columns) <= 3


def pieces(places: Iterable[Place]) -> list[set[Place]]:
    """Splits places into connected sets."""
    left, found = set(places), []
    while left:
        piece, border = set(), {min(left)}
        while border:
            place = border.pop()
            piece.add(place)
            border |= (neighbours(place) & left) - piece
        left -= piece
        found.append(piece)
    return found


def openings(things: Lying) -> set[Place]:
    """Where something may be placed (JU-T2)."""
    if not things:
        return {(0, 0)}
    around = set().union(*map(neighbours, things)) - set(things)
    return {place for place in around if fits({*things, place})}


def candidates(things: Lying, made: Iterable[tuple[Fruit, set[Place]]] = ()) -> set[tuple[Fruit, frozenset[Place]]]:
    """What can be made into juices (JU-S1, JU-S3, JU-S4)."""
    found = set()
    for fruit in Fruit:
        usable = set()
        for place, (code, block) in things.items():
            if code == MASTER or block:
                continue
            if TILES[code].wild:
                taken = any(place in used for _, used in made)
            else:
                taken = fruit not in TILES[code].fruits or any(place in used for of, used in made if of == fruit)
            if not taken:
                usable.add(place)
        found |= {(fruit, frozenset(piece)) for piece in pieces(usable) if len(piece) >= 3}
    return found


def shoves(things: Lying) -> set[tuple[frozenset[Place], int, int]]:
    """How parts may rejoin: the part, rows and columns (JU-I1, JU-I2)."""
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


def _ways(things: Lying, piece: set[Place], goal: set[Place]) -> list[tuple[int, int]]:
    ways = []
    rest = set(things) - piece
    for rows, columns in product(range(-8, 9), repeat=2):
        moved = {(row + rows, column + columns) for row, column in piece}
        touches = any(neighbours(place) & goal for place in moved)
        if touches and not moved & rest and fits(moved | rest):
            ways.append((rows, columns))
    fewest = min((abs(rows) + abs(columns) for rows, columns in ways), default=0)
    return [(rows, columns) for rows, columns in ways if abs(rows) + abs(columns) == fewest]


def moved(things: Lying, part: Iterable[Place], rows: int, columns: int) -> Lying:
    """Moves a part."""
    part = set(part)
    return {(row + rows * ((row, column) in part), column + columns * ((row, column) in part)): thing
            for (row, column), thing in things.items()}  # fmt: skip


def places(grid: Grid, mask: int) -> frozenset[Place]:
    """The places of a mask."""
    return frozenset((grid.row + index // 4, grid.column + index % 4) for index in indices(mask))


def as_slow(grid: Grid, shove: Shove) -> tuple[frozenset[Place], int, int]:
    """A shove in the words of this module."""
    return places(grid, shove.part), shove.rows, shove.columns


# --- Grids by chance --------------------------------------------------------------------------------------------------


def grown(luck: Random) -> Grid:
    """Grows a grid by placing: with a master or without, of few fruits or many, with some Blocks."""
    fruits = luck.sample(list(Fruit), luck.randint(2, 10))
    tiles = [number for number, tile in enumerate(TILES) if set(tile.fruits) <= set(fruits)]
    luck.shuffle(tiles)
    grid = put(Grid(), Cell(0, 0), MASTER) if luck.random() < 0.6 else Grid()
    for tile in tiles[: luck.randint(0, 16)]:
        if places := sorted(openings(lying(grid))):
            grid = put(grid, Cell(*luck.choice(places)), tile, block=luck.random() < 0.15)
    return grid


def torn(luck: Random) -> Iterator[Grid]:
    """Tears cells out of a grid that was grown, in one go or two."""
    things = lying(grown(luck))
    for _ in range(2):
        loose = [place for place, (code, _) in things.items() if code != MASTER]
        things = {
            place: thing
            for place, thing in things.items()
            if place not in luck.sample(loose, min(len(loose), luck.randint(1, 5)))
        }
        yield laid(things)
