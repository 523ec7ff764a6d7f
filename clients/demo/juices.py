"""Juices in the demo: grids drawn so that every juice can be followed."""

from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

from rich.columns import Columns
from rich.console import Group, RenderableType
from rich.text import Text

from clients.demo.protocols import Programme
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

Grid: TypeAlias = dict[Place, Text]

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
