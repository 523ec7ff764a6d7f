"""Juices in the demo: the narrator draws the grid before and after each juice."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from clients.demo.protocols import DemoGame
from clients.strategies.juices import Place, place_of
from clients.strategies.juices import choose as choose
from sodafountain.v1.game_pb2 import Event, GameState
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
    JuicesOptions,
    JuicesTile,
)

GAMES: Sequence[DemoGame] = (
    DemoGame("Juices: an advanced game of four seats", JuicesOptions(mode=JUICES_MODE_ADVANCED), seats=4, deal=7),
    DemoGame(
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

Grid: TypeAlias = dict[Place, Text]

CELL = 4
SIDE = 4
ARROW = Text("\n\N{RIGHTWARDS ARROW}")


class JuicesNarrator:
    """Shows the grid before and after each juice, and all grids after each round."""

    def __init__(self) -> None:
        self._grids: list[Grid] = []
        self._round = 1
        self._solo = False

    def introduce(self, state: GameState) -> Iterator[RenderableType]:
        """Summarize the rules, and explain how grids are drawn."""
        view = state.view.juices
        self._solo = view.mode == JUICES_MODE_SOLO
        self._grids = [{(0, 0): master_text(seat.preferred_fruit)} for seat in view.seats]
        yield (
            "A tile shows two fruits, or one fruit with chili (!) or coffee (*), or it is wild. Each seat places tiles "
            "on a grid of at most 4\N{MULTIPLICATION SIGN}4. Three or more adjacent tiles with the same fruit make a "
            "juice: the seat keeps one of these tiles and discards the others. A part of the grid that is cut off "
            "moves until it touches the rest again. Below, ApKi is a tile with apple and kiwi, Ap! an apple with "
            "chili and #### a Block; the tiles of a juice are in brackets."
        )
        for seat in view.seats:
            fruit = fruit_name(seat.preferred_fruit)
            yield f"Seat {seat.seat} prefers {fruit}: each kept tile with this fruit counts as one extra juice."
        if self._solo:
            yield f"The Automa prefers {fruit_name(view.automa.preferred_fruit)}."
        yield ""

    def narrate(self, answer: ApplyMoveResponse) -> Iterator[RenderableType]:
        """Narrate juices and their consequences when they happen, and all grids after each round."""
        for event in answer.events:
            yield from self._narrate(event)

    def _narrate(self, event: Event) -> Iterator[RenderableType]:
        detail = event.detail.juices
        match detail.WhichOneof("event"):
            case "placed":
                self._grids[detail.placed.seat][place_of(detail.placed.cell)] = tile_text(detail.placed.tile)
            case "juice_made":
                yield event.text
            case "tiles_left":
                grid = self._grids[detail.tiles_left.seat]
                leaving = {place_of(cell) for cell in detail.tiles_left.cells}
                left = {place: text for place, text in grid.items() if place not in leaving}
                yield side_by_side(draw(grid, corner_of(grid), leaving), ARROW, draw(left, corner_of(grid)))
                yield ""
                self._grids[detail.tiles_left.seat] = left
            case "part_moved":
                moved = detail.part_moved
                grid = self._grids[moved.seat]
                part = {place_of(cell): grid.pop(place_of(cell)) for cell in moved.part}
                grid |= {(row + moved.rows, column + moved.columns): text for (row, column), text in part.items()}
                yield event.text
                yield draw(grid, corner_of(grid))
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
        yield side_by_side(
            *(
                Group(Text(f" Seat {seat}", "italic"), draw(grid, corner_of(grid)))
                for seat, grid in enumerate(self._grids)
            )
        )
        yield ""


def narrator() -> JuicesNarrator:
    """Create the narrator of a new game."""
    return JuicesNarrator()


def fruit_name(fruit: Fruit.ValueType) -> str:
    """Return the name of a fruit."""
    return Fruit.Name(fruit).removeprefix("FRUIT_").lower()


def abbreviation(fruit: Fruit.ValueType) -> Text:
    """Return a fruit in two letters."""
    return Text(fruit_name(fruit)[:2].capitalize(), COLORS[fruit])


def tile_text(tile: JuicesTile) -> Text:
    """Return a tile in four characters."""
    if tile.wild:
        return Text("Wild", "bold")
    text = Text().join([*map(abbreviation, tile.fruits), Text(MARKS.get(tile.complement, ""), "bold")])
    text.pad_right(CELL - len(text))
    return text


def master_text(fruit: Fruit.ValueType) -> Text:
    """Return a Juice Master in four characters, with its fruit if it shows one."""
    return Text("(  )", "dim") if fruit == FRUIT_UNSPECIFIED else Text.assemble("(", abbreviation(fruit), ")")


def corner_of(grid: Grid) -> Place:
    """Return the first row and the first column of a grid."""
    return min((row for row, _ in grid), default=0), min((column for _, column in grid), default=0)


def draw(grid: Grid, corner: Place, marked: Collection[Place] = ()) -> Group:
    """Draw four rows and columns of a grid from a corner on, with the marked places in brackets."""
    top, left = corner
    lines = []
    for row in range(top, top + SIDE):
        line = Text()
        for column in range(left, left + SIDE):
            text = grid.get((row, column), Text("." + " " * (CELL - 1), "dim"))
            opening, closing = ("[", "]") if (row, column) in marked else (" ", " ")
            line.append_text(Text.assemble((opening, "bold"), text, (closing, "bold")))
        lines.append(line)
    return Group(*lines)


def side_by_side(*pictures: RenderableType) -> Columns:
    """Arrange pictures side by side."""
    return Columns(pictures, padding=(0, 1))
