"""Juices in the demo: seats that grow groups of a fruit, and grids drawn so that every juice can be followed."""

import random
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from clients.demo.show import Programme
from sodafountain.v1.game_pb2 import Event, GameState, LegalMove
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.juices_pb2 import (
    FRUIT_APPLE,
    FRUIT_BANANA,
    FRUIT_GRAPE,
    FRUIT_KIWI,
    FRUIT_LEMON,
    FRUIT_ORANGE,
    FRUIT_PEAR,
    FRUIT_PINEAPPLE,
    FRUIT_STRAWBERRY,
    FRUIT_UNSPECIFIED,
    FRUIT_WATERMELON,
    JUICES_COMPLEMENT_CHILI,
    JUICES_COMPLEMENT_COFFEE,
    JUICES_MODE_ADVANCED,
    JUICES_MODE_SOLO,
    Fruit,
    JuicesCell,
    JuicesMove,
    JuicesOptions,
    JuicesTile,
    JuicesView,
)

PROGRAMME: Sequence[Programme] = (
    Programme("Juices: an advanced game of four seats", JuicesOptions(mode=JUICES_MODE_ADVANCED), seats=4, deal=7),
    Programme(
        "Juices: Solo with all three modules",
        JuicesOptions(mode=JUICES_MODE_SOLO, cursed_wild=True, juice_masters=True, complements_everywhere=True),
        seats=1,
        deal=7,
    ),
)

COLORS = {
    FRUIT_APPLE: "bright_green",
    FRUIT_BANANA: "yellow",
    FRUIT_GRAPE: "magenta",
    FRUIT_KIWI: "green",
    FRUIT_LEMON: "bright_yellow",
    FRUIT_ORANGE: "dark_orange",
    FRUIT_PEAR: "chartreuse3",
    FRUIT_PINEAPPLE: "gold3",
    FRUIT_STRAWBERRY: "red",
    FRUIT_WATERMELON: "bright_red",
}
MARKS = {JUICES_COMPLEMENT_CHILI: "!", JUICES_COMPLEMENT_COFFEE: "*"}

Place: TypeAlias = tuple[int, int]
Grid: TypeAlias = dict[Place, Text]

# --- Choosing ---------------------------------------------------------------------------------------------------------

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
        for fruit in tile.fruits or COLORS:
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


# --- Telling ----------------------------------------------------------------------------------------------------------

CELL = 4
SIDE = 4
ARROW = Text("\n\N{RIGHTWARDS ARROW}")


class JuicesStory:
    """Tells a game: every juice with the grid before and after it, and all grids after each round."""

    def __init__(self) -> None:
        self._grids: list[Grid] = []
        self._round = 1
        self._solo = False

    def begin(self, state: GameState) -> Iterator[RenderableType]:
        """Tells the rules in a few sentences, and how grids are drawn."""
        view = state.view.juices
        self._solo = view.mode == JUICES_MODE_SOLO
        self._grids = [{(0, 0): master(seat.preferred_fruit)} for seat in view.seats]
        yield (
            "Tiles show two fruits, or a fruit with chili (!) or coffee (*), or are wild. Each seat lays them side by "
            "side on a grid of at most 4\N{MULTIPLICATION SIGN}4. Three or more that touch each other and carry the "
            "same fruit are a juice: they leave, and one of them is kept for it. Parts that are cut off move up to "
            "the rest. Below, ApKi is an apple-kiwi, Ap! an apple with chili, #### a Block, and the tiles of a juice "
            "stand in brackets."
        )
        for seat in view.seats:
            fruit = fruit_name(seat.preferred_fruit)
            yield f"Seat {seat.seat} prefers {fruit}: a kept tile with it is worth a juice more."
        if self._solo:
            yield f"The Automa prefers {fruit_name(view.automa.preferred_fruit)}."
        yield ""

    def go_on(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Tells juices and what comes of them when they happen, and each round when it is over."""
        for event in answer.events:
            yield from self._tell(event)

    def _tell(self, event: Event) -> Iterator[RenderableType]:
        detail = event.detail.juices
        match detail.WhichOneof("event"):
            case "placed":
                self._grids[detail.placed.seat][place_of(detail.placed.cell)] = drawn(detail.placed.tile)
            case "juice_made":
                yield event.text
            case "tiles_left":
                grid = self._grids[detail.tiles_left.seat]
                leaving = {place_of(cell) for cell in detail.tiles_left.cells}
                left = {place: word for place, word in grid.items() if place not in leaving}
                yield pictures(picture(grid, corner_of(grid), leaving), ARROW, picture(left, corner_of(grid)))
                yield ""
                self._grids[detail.tiles_left.seat] = left
            case "part_moved":
                moved = detail.part_moved
                grid = self._grids[moved.seat]
                part = {place_of(cell): grid.pop(place_of(cell)) for cell in moved.part}
                grid |= {(row + moved.rows, column + moved.columns): word for (row, column), word in part.items()}
                yield event.text
                yield picture(grid, corner_of(grid))
                yield ""
            case "block_added":
                self._grids[detail.block_added.seat][place_of(detail.block_added.cell)] = Text("#" * CELL, "dim")
                yield event.text
            case "block_removed":
                del self._grids[detail.block_removed.seat][place_of(detail.block_removed.cell)]
                yield event.text
            case "round_started":
                if not self._solo:
                    yield from self._all_grids(f"After round {self._round}")
                self._round = detail.round_started.round
            case "game_ended":
                yield from self._all_grids("At the end")
                yield event.text
                yield ""
            case "drawn" | "kept" | "passed_on" | "automa_took" | "reshuffled":
                pass
            case _:
                yield event.text

    def _all_grids(self, title: str) -> Iterator[RenderableType]:
        yield ""
        yield Text(title, "bold")
        yield pictures(
            *(
                Group(Text(f" Seat {seat}", "italic"), picture(grid, corner_of(grid)))
                for seat, grid in enumerate(self._grids)
            )
        )
        yield ""


def story() -> JuicesStory:
    """Begins to tell a game."""
    return JuicesStory()


def fruit_name(fruit: Fruit.ValueType) -> str:
    """A fruit's name."""
    return Fruit.Name(fruit).removeprefix("FRUIT_").lower()


def short(fruit: Fruit.ValueType) -> Text:
    """A fruit in two letters."""
    return Text(fruit_name(fruit)[:2].capitalize(), COLORS[fruit])


def drawn(tile: JuicesTile) -> Text:
    """A tile in four letters."""
    if tile.wild:
        return Text("Wild", "bold")
    word = Text().join([*map(short, tile.fruits), Text(MARKS.get(tile.complement, ""), "bold")])
    word.pad_right(CELL - len(word))
    return word


def master(fruit: Fruit.ValueType) -> Text:
    """A Juice Master, with its fruit where that shows."""
    return Text("(  )", "dim") if fruit == FRUIT_UNSPECIFIED else Text.assemble("(", short(fruit), ")")


def corner_of(grid: Grid) -> Place:
    """The first row and the first column of a grid."""
    return min((row for row, _ in grid), default=0), min((column for _, column in grid), default=0)


def picture(grid: Grid, corner: Place, marked: Collection[Place] = ()) -> Group:
    """Draws four rows and columns of a grid from a corner on; the tiles of juices stand in brackets."""
    top, left = corner
    lines = []
    for row in range(top, top + SIDE):
        line = Text()
        for column in range(left, left + SIDE):
            word = grid.get((row, column), Text("." + " " * (CELL - 1), "dim"))
            opening, closing = ("[", "]") if (row, column) in marked else (" ", " ")
            line.append_text(Text.assemble((opening, "bold"), word, (closing, "bold")))
        lines.append(line)
    return Group(*lines)


def pictures(*shown: RenderableType) -> Columns:
    """Puts pictures next to each other."""
    return Columns(shown, padding=(0, 1))
