"""Plays Juices greedily: grows groups of a fruit and makes the largest juices."""

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

# A place on a grid: its row and column.
Place: TypeAlias = tuple[int, int]

# What a wild may stand for.
FRUITS = tuple(fruit for fruit in Fruit.values() if fruit != FRUIT_UNSPECIFIED)

# How far a whim moves every opinion, and what a third tile of a group, a complement and a wild are worth.
WHIM = 0.5
THIRD = 3.0
COMPLEMENT = 0.5
WILD = 1.5


def choose(state: GameState, chance: random.Random) -> LegalMove:
    """Keeps and places what continues the largest groups, makes the largest juices, and gets rid of Blocks."""
    outlook = Outlook.of(state.view.juices, state.viewer_seat)
    opinions = [outlook.opinion(legal.move.juices) + chance.uniform(0, WHIM) for legal in state.legal_moves]
    return state.legal_moves[opinions.index(max(opinions))]


@dataclass(frozen=True)
class Outlook:
    """What a seat makes of what it sees.

    Attributes:
        seat: the seat.
        tiles: the tiles that it may know, by number.
        lying: the fruit tiles that lie open on its grid.
        occupied: the places that are taken.
        automas: how many of the Automa's tiles carry each fruit.
    """

    seat: JuicesView.Seat
    tiles: dict[int, JuicesTile]
    lying: dict[Place, JuicesTile]
    occupied: Collection[Place]
    automas: Counter[Fruit.ValueType]

    @classmethod
    def of(cls, view: JuicesView, number: int) -> Self:
        """Looks at the game."""
        seat = view.seats[number]
        lying = {place_of(each.cell): each.tile for each in seat.grid if each.content == JuicesView.CONTENT_TILE}
        return cls(
            seat=seat,
            tiles={tile.number: tile for tile in (*seat.hand, *lying.values(), *view.automa.tiles)},
            lying=lying,
            occupied={place_of(each.cell) for each in seat.grid},
            automas=Counter(fruit for tile in view.automa.tiles for fruit in tile.fruits),
        )

    def opinion(self, move: JuicesMove) -> float:
        """How much a move seems to be worth."""
        match move.WhichOneof("move"):
            case "keep":
                return self._fits(self.tiles[move.keep.tile])
            case "place":
                return self._placed(self.tiles[move.place.tile], place_of(move.place.cell))
            case "make_juice":
                kept = self.lying.get(place_of(move.make_juice.kept))
                preferred = kept is not None and self.seat.preferred_fruit in kept.fruits
                return len(move.make_juice.cells) + preferred
            case "remove_block":
                return 2
            case "add_block":
                return 1
            case "put_block":
                return -len(neighbours(place_of(move.put_block)) & set(self.occupied))
            case "discard_automa_tile":
                tile = self.tiles[move.discard_automa_tile.tile]
                return max((self.automas[fruit] for fruit in tile.fruits), default=len(self.tiles))  # a wild is worst
        return 0

    def _fits(self, tile: JuicesTile) -> float:
        """How well a tile would go with what lies on the grid."""
        if tile.wild:
            return WILD
        carried = Counter(fruit for lying in self.lying.values() for fruit in lying.fruits)
        favour = self.seat.preferred_fruit in tile.fruits
        return max(carried[fruit] for fruit in tile.fruits) + favour + COMPLEMENT * bool(tile.complement)

    def _placed(self, tile: JuicesTile, place: Place) -> float:
        """How large the groups are that a tile joins at a place; with three it makes a juice."""
        worth = 0.0
        for fruit in tile.fruits or FRUITS:
            size = self._group(fruit, place)
            worth = max(worth, size + THIRD * (size >= 3) + (fruit == self.seat.preferred_fruit and size > 1))
        # What the Automa does not get: in Solo the other tile goes to it.
        return worth + sum(self.automas[fruit] for fruit in tile.fruits) / 4

    def _group(self, fruit: Fruit.ValueType, start: Place) -> int:
        found, border = {start}, [start]
        while border:
            for place in neighbours(border.pop()) - found:
                if place in self.lying and (fruit in self.lying[place].fruits or self.lying[place].wild):
                    found.add(place)
                    border.append(place)
        return len(found)


def place_of(cell: JuicesCell) -> Place:
    """A cell as row and column."""
    return cell.row, cell.column


def neighbours(place: Place) -> set[Place]:
    """The places beside a place."""
    row, column = place
    return {(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)}
