"""The components of Juices: fruits, tiles and their numbers, and the numbers that the rules give."""

from collections.abc import Iterator
from itertools import combinations
from typing import Final

from engine.value import Name, Value

KIND: Final = "juices"
"""The game's name in programs."""


class Fruit(Name):
    """A fruit, in the order that the rules use. The numbers are those of the API."""

    APPLE = 1
    BANANA = 2
    GRAPE = 3
    KIWI = 4
    LEMON = 5
    ORANGE = 6
    PEAR = 7
    PINEAPPLE = 8
    STRAWBERRY = 9
    WATERMELON = 10

    @property
    def title(self) -> str:
        """The fruit's name for people."""
        return self.name.lower()

    @property
    def letters(self) -> str:
        """The fruit in the notation."""
        return self.title[:2]

    @property
    def phrase(self) -> str:
        """The fruit's name with its article."""
        return f"{'an' if self.name[0] in 'AO' else 'a'} {self.title}"


class Complement(Name):
    """A complement on a tile, in the order of taking effect (JU-X1). The numbers are those of the API."""

    CHILI = 1
    COFFEE = 2

    @property
    def title(self) -> str:
        """The complement's name for people."""
        return self.name.lower()


class Mode(Name):
    """A mode of play. The numbers are those of the API."""

    BASIC = 1
    ADVANCED = 2
    ORDERS_TO_GO_GO = 3
    SOLO = 4


class Tile(Value, frozen=True):
    """A fruit tile: two fruits, or a fruit and a complement, or nothing on a wild."""

    fruits: tuple[Fruit, ...] = ()
    complement: Complement | None = None

    @property
    def wild(self) -> bool:
        """Whether this is a wild."""
        return not self.fruits

    @property
    def title(self) -> str:
        """The tile's name for people."""
        if self.wild:
            return "wild"
        return "-".join(each.title for each in (*self.fruits, self.complement) if each is not None)


_FRUITS: Final = tuple(Fruit)

# JU-C1: the pairs, then the complement tiles fruit by fruit, then the wilds.
_PAIRS: Final = tuple(Tile(pair) for pair in combinations(Fruit, 2))
_COMPLEMENTED: Final = tuple(Tile((fruit,), complement) for fruit in Fruit for complement in Complement)
_WILDS: Final = (Tile(),) * 4
_COPY: Final = (*_PAIRS, *_COMPLEMENTED, *_WILDS)

COPIES: Final = range(1, 3)
TILES: Final = _COPY * COPIES[-1]
"""Every tile by its number. The numbers of the second copy follow those of the first (JU-C1)."""

PER_COPY: Final = len(_COPY)
PAIRS: Final = bytes(range(len(_PAIRS)))
COMPLEMENTED: Final = bytes(range(len(PAIRS), len(PAIRS) + len(_COMPLEMENTED)))
WILDS: Final = bytes(range(PER_COPY - len(_WILDS), PER_COPY))
"""The tiles of one copy by kind, as numbers."""

WILD_TILES: Final = frozenset(number for number, tile in enumerate(TILES) if tile.wild)
"""The numbers of the wilds in all copies."""

SEATS: Final = range(1, 15)
SEATS_PER_COPY: Final = 10
SMALLEST_JUICE: Final = 3
DEALT: Final = 2
"""The number of tiles dealt to each seat in a round, or drawn in a turn of Solo (JU-D1, JU-O2)."""

JUICES_TO_END: Final = 6
"""The number of juices that ends a game in some modes (JU-E1)."""

ORDERS: Final = bytes(Fruit)
"""The order pile before it is shuffled: the masters of one copy (JU-M3)."""


def box(copies: int) -> bytes:
    """Return the tiles of a number of copies."""
    return bytes(range(PER_COPY * copies))


_ANY: Final = 0xFF
_FIRST: Final = bytes([min(tile.fruits, default=_ANY) for tile in TILES]).ljust(256, b"\0")
_SECOND: Final = bytes([tile.fruits[1] if len(tile.fruits) > 1 else 0 for tile in TILES]).ljust(256, b"\0")
"""Translation tables from a tile to its fruits. A wild becomes `_ANY`, a number without a tile becomes 0."""


def fruits_for_juice(tiles: bytes) -> list[Fruit]:
    """Return the fruits, in order, that enough of the tiles carry for a juice. A wild counts for every fruit."""
    carried = tiles.translate(_FIRST) + tiles.translate(_SECOND)
    needed = SMALLEST_JUICE - carried.count(_ANY)
    return [fruit for fruit in _FRUITS if carried.count(fruit) >= needed]


def title(tile: int) -> str:
    """Return a tile's name and number for people: `apple-kiwi #2`."""
    return f"{TILES[tile].title} #{tile}"


_COMPLEMENT_MARKS: Final = {None: "", Complement.CHILI: "!", Complement.COFFEE: "*"}


def _tile_codes() -> Iterator[str]:
    for number, tile in enumerate(TILES):
        copy, in_copy = divmod(number, PER_COPY)
        code = "".join(fruit.letters for fruit in tile.fruits) + _COMPLEMENT_MARKS[tile.complement]
        yield (code or f"w{in_copy - WILDS[0] + 1}") + "'" * copy


_CODES: Final = tuple(_tile_codes())
TILE_CODES: Final = {code: number for number, code in enumerate(_CODES)}
"""The numbers of all tiles by their notation."""


def tile_code(tile: int) -> str:
    """Return a tile in the notation: `apki`. A number without a tile becomes `#255`."""
    return _CODES[tile] if 0 <= tile < len(_CODES) else f"#{tile}"


def block_actions(size: int) -> int:
    """Return the number of Block actions for a juice with this number of tiles (JU-S6)."""
    return min(max(size - SMALLEST_JUICE, 0), 2)
