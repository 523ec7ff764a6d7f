"""A greedy strategy for Juices: grow groups of a fruit and make the largest juices."""

import random
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from typing import Self, TypeAlias

from sodafountain.v1.game_pb2 import GameState, LegalMove
from sodafountain.v1.juices_pb2 import (
    FRUIT_UNSPECIFIED,
    Fruit,
    JuicesCell,
    JuicesMove,
    JuicesTile,
    JuicesView,
)

# A place on a grid: row and column.
Place: TypeAlias = tuple[int, int]

# The fruits that a wild can represent.
FRUITS = tuple(fruit for fruit in Fruit.values() if fruit != FRUIT_UNSPECIFIED)

# The maximum of the random noise, and the values of a third tile of a group, a complement and a wild.
NOISE = 0.5
THIRD = 3.0
COMPLEMENT = 0.5
WILD = 1.5


def choose(state: GameState, rng: random.Random) -> LegalMove:
    """Keep and place tiles that extend the largest groups, make the largest juices, and remove Blocks."""
    assessment = Assessment.of(state.view.juices, state.viewer_seat)
    values = [assessment.value(legal.move.juices) + rng.uniform(0, NOISE) for legal in state.legal_moves]
    return state.legal_moves[values.index(max(values))]


@dataclass(frozen=True)
class Assessment:
    """Values that a strategy derives from the view of a seat.

    Attributes:
        seat: the seat.
        tiles: the tiles that the seat can see, by number.
        face_up: the face-up fruit tiles on its grid.
        occupied: the occupied places.
        automa_fruits: how many of the Automa's tiles show each fruit.
    """

    seat: JuicesView.SeatView
    tiles: dict[int, JuicesTile]
    face_up: dict[Place, JuicesTile]
    occupied: Collection[Place]
    automa_fruits: Counter[Fruit.ValueType]

    @classmethod
    def of(cls, view: JuicesView, number: int) -> Self:
        """Assess a view of the game."""
        seat = view.seats[number]
        face_up = {place_of(each.cell): each.tile for each in seat.grid if each.content == JuicesView.CONTENT_TILE}
        return cls(
            seat=seat,
            tiles={tile.number: tile for tile in (*seat.hand, *face_up.values(), *view.automa.tiles)},
            face_up=face_up,
            occupied={place_of(each.cell) for each in seat.grid},
            automa_fruits=Counter(fruit for tile in view.automa.tiles for fruit in tile.fruits),
        )

    def value(self, move: JuicesMove) -> float:
        """Return the estimated value of a move."""
        match move.WhichOneof("action"):
            case "keep":
                return self._fits(self.tiles[move.keep.tile])
            case "place":
                return self._placed(self.tiles[move.place.tile], place_of(move.place.cell))
            case "make_juice":
                kept = self.face_up.get(place_of(move.make_juice.kept))
                preferred = kept is not None and self.seat.preferred_fruit in kept.fruits
                return len(move.make_juice.cells) + preferred
            case "remove_block":
                return 2
            case "add_block":
                return 1
            case "put_block":
                return -len(neighbors(place_of(move.put_block)) & set(self.occupied))
            case "discard_automa_tile":
                tile = self.tiles[move.discard_automa_tile.tile]
                # A wild has no fruits and is discarded first.
                return max((self.automa_fruits[fruit] for fruit in tile.fruits), default=len(self.tiles))
        return 0

    def _fits(self, tile: JuicesTile) -> float:
        """Return how well a tile fits the tiles on the grid."""
        if tile.wild:
            return WILD
        fruits = Counter(fruit for placed in self.face_up.values() for fruit in placed.fruits)
        preferred = self.seat.preferred_fruit in tile.fruits
        return max(fruits[fruit] for fruit in tile.fruits) + preferred + COMPLEMENT * bool(tile.complement)

    def _placed(self, tile: JuicesTile, place: Place) -> float:
        """Return the value of placing a tile: mainly the size of its largest group, with a bonus for three tiles."""
        worth = 0.0
        for fruit in tile.fruits or FRUITS:
            size = self._group(fruit, place)
            worth = max(worth, size + THIRD * (size >= 3) + (fruit == self.seat.preferred_fruit and size > 1))
        # In Solo the Automa gets the other tile, so placing a tile denies it to the Automa.
        return worth + sum(self.automa_fruits[fruit] for fruit in tile.fruits) / 4

    def _group(self, fruit: Fruit.ValueType, start: Place) -> int:
        found, border = {start}, [start]
        while border:
            for place in neighbors(border.pop()) - found:
                if place in self.face_up and (fruit in self.face_up[place].fruits or self.face_up[place].wild):
                    found.add(place)
                    border.append(place)
        return len(found)


def place_of(cell: JuicesCell) -> Place:
    """Return row and column of a cell."""
    return cell.row, cell.column


def neighbors(place: Place) -> set[Place]:
    """Return the places next to a place."""
    row, column = place
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
