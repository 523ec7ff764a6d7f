"""The options, the moves and the state of Juices."""

from typing import Final

from engine.juices.components import Fruit, Mode, tile_code
from engine.juices.grid import Cell, Grid, Juice
from engine.rng import Rng
from engine.value import Name, Value


class Options(Value, frozen=True):
    """The options of a game.

    Attributes:
        mode: the mode of play; None means Solo for one seat and Basic for more.
        copies: the number of copies of the game; None means two from eleven seats on, else one (JU-C3).
        cursed_wild: Solo with the Cursed Wild (JU-O6).
        juice_masters: Solo with the Juice Masters (JU-O7).
        complements_everywhere: Solo with Complements Everywhere (JU-O8).
    """

    mode: Mode | None = None
    copies: int | None = None
    cursed_wild: bool = False
    juice_masters: bool = False
    complements_everywhere: bool = False


# --- Moves ------------------------------------------------------------------------------------------------------------


class Keep(Value, frozen=True, tag="keep"):
    """Keep this one of the two drafted tiles, and pass the other."""

    tile: int

    def __str__(self) -> str:
        return f"keep {tile_code(self.tile)}"


class Place(Value, frozen=True, tag="place"):
    """Place a tile on the seat's own grid. In Solo the other drawn tile goes to the Automa."""

    tile: int
    cell: Cell

    def __str__(self) -> str:
        return f"place {tile_code(self.tile)}@{self.cell}"


class MakeJuice(Value, frozen=True, tag="make_juice"):
    """Make a juice of a fruit from all the tiles of a group, in reading order, and keep the tile of one of its cells.

    `kept` is None where no tile can be kept.
    """

    fruit: Fruit
    cells: tuple[Cell, ...]
    kept: Cell | None

    def __str__(self) -> str:
        kept = "" if self.kept is None else f" keep {self.kept}"
        return f"make_juice {self.fruit.letters} {' '.join(map(str, self.cells))}{kept}"


class Shift(Value, frozen=True, tag="shift"):
    """Move a part that is cut off, given by its cells in reading order, down and to the right."""

    part: tuple[Cell, ...]
    rows: int
    columns: int

    def __str__(self) -> str:
        return f"shift {' '.join(map(str, self.part))} by {self.rows},{self.columns}"


class AddBlock(Value, frozen=True, tag="add_block"):
    """A Block action: add a Block to the left neighbor's grid."""

    cell: Cell

    def __str__(self) -> str:
        return f"add_block {self.cell}"


class RemoveBlock(Value, frozen=True, tag="remove_block"):
    """A Block action: remove a Block from the seat's own grid."""

    cell: Cell

    def __str__(self) -> str:
        return f"remove_block {self.cell}"


class Pass(Value, frozen=True, tag="pass"):
    """Give up the remaining Block actions."""

    def __str__(self) -> str:
        return "pass"


class PutBlock(Value, frozen=True, tag="put_block"):
    """Put the Block that chili or the Automa requires on the seat's own grid."""

    cell: Cell

    def __str__(self) -> str:
        return f"put_block {self.cell}"


class DiscardAutomaTile(Value, frozen=True, tag="discard_automa_tile"):
    """Chili in Solo: discard this one of the Automa's tiles."""

    tile: int

    def __str__(self) -> str:
        return f"discard_automa_tile {tile_code(self.tile)}"


Move = Keep | Place | MakeJuice | Shift | AddBlock | RemoveBlock | Pass | PutBlock | DiscardAutomaTile

# --- Phases -----------------------------------------------------------------------------------------------------------


class Phase(Name):
    """A phase; a snapshot contains its number. `engine.juices.phases` explains how phases follow each other."""

    DEAL = 1
    PASS = 2
    PLACE = 3
    BLOCKS = 4
    COMPLEMENTS = 5
    CHILI = 6
    COFFEE = 7
    END = 8
    DRAW = 9
    AUTOMA = 10
    AUTOMA_BLOCK = 11


class Step(Value, frozen=True):
    """A phase to come, for one seat, or for all seats where `seat` is None."""

    phase: Phase
    seat: int | None = None


class Ask(Name):
    """The decision that a seat must make. The numbers are those of the API."""

    NOTHING = 0
    KEEP = 1
    PLACE = 2
    PLACE_ONE = 3
    MAKE_JUICE = 4
    SHIFT = 5
    BLOCK_ACTION = 6
    PUT_BLOCK = 7
    DISCARD_AUTOMA_TILE = 8


# --- The state --------------------------------------------------------------------------------------------------------


class Seat(Value, frozen=True):
    """The state of a seat.

    Attributes:
        grid: the seat's grid.
        hand: the tiles in its hand, sorted.
        passing: in the draft, once the seat has chosen: the tile of the hand that it will pass.
        received: the tile of the hand that the left neighbor passed and therefore knows (JU-D1).
        juices: the number of juices it has scored.
        stack: the tiles kept for them, in order (JU-S5).
        preferred: its preferred fruit, where masters show their fruit (JU-M2, JU-O7).
        making: the juices of the current scoring, whose tiles have not left the grid yet (JU-S4).
        actions: its remaining Block actions (JU-S6).
        fresh: the tiles that its juices have just discarded and that can become Blocks (JU-B2).
        effects: the complements of its juices that are not on the agenda yet, in order (JU-X1).
        block: the Block that it must put on its grid.
    """

    grid: Grid
    hand: bytes = b""
    passing: int | None = None
    received: int | None = None
    juices: int = 0
    stack: bytes = b""
    preferred: Fruit | None = None
    making: tuple[Juice, ...] = ()
    actions: int = 0
    fresh: bytes = b""
    effects: bytes = b""
    block: int | None = None


class Automa(Value, frozen=True):
    """The state of the opponent in Solo.

    Attributes:
        tiles: its tiles, sorted.
        juices: the number of juices it has made.
        stack: the tiles kept for them, in order.
        preferred: its preferred fruit, with the Juice Masters (JU-O7).
    """

    tiles: bytes = b""
    juices: int = 0
    stack: bytes = b""
    preferred: Fruit | None = None


class State(Value, frozen=True):
    """The complete information about a game.

    Attributes:
        options: the options of the game.
        mode: the mode of play.
        rng: the source of every random draw.
        round: the current round, or turn of Solo, from 1.
        agenda: the steps to come, as a stack: the last one comes next. Empty when the game is over.
        asks: by seat, the decision that it must make (`Ask`). The next step begins when no seat has one to make.
        seats: by number.
        pile: the hidden pile; the last tile is drawn first.
        discards: sorted.
        orders: the order pile, the active order first (JU-M3).
        order_met: whether a juice of the active fruit was made in this round.
        last_round: whether the game ends with this round because a tile could not be placed (JU-D4).
        automa: the opponent in Solo.
    """

    options: Options
    mode: Mode
    rng: Rng
    round: int
    agenda: tuple[Step, ...]
    asks: bytes
    seats: tuple[Seat, ...]
    pile: bytes
    discards: bytes
    orders: bytes
    order_met: bool
    last_round: bool
    automa: Automa | None


_ASKS: Final = tuple(Ask)


def ask_of(state: State, seat: int) -> Ask:
    """Return the decision that a seat must make; `Ask.NOTHING` for a number that is not a seat."""
    return _ASKS[state.asks[seat]] if 0 <= seat < len(state.asks) else Ask.NOTHING
