"""The values of Juices: options, moves and the state."""

from enum import IntEnum

from engine.juices.agenda import Step
from engine.juices.components import Fruit, Mode, Value
from engine.juices.grid import Cell, Grid, Juice
from engine.rng import Rng


class Options(Value, frozen=True):
    """How a game is to be played.

    Attributes:
        mode: which mode; None means Solo for one seat and Basic for more.
        copies: how many copies of the game are used; None means two from eleven seats on, else one (JU-C3).
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


class Place(Value, frozen=True, tag="place"):
    """Place a tile on the own grid. In Solo the other drawn tile goes to the Automa."""

    tile: int
    cell: Cell


class MakeJuice(Value, frozen=True, tag="make_juice"):
    """Make a juice of a fruit from all the tiles of a group, in reading order, and keep the tile of one of its cells.

    `kept` is None where no tile can be kept.
    """

    fruit: Fruit
    cells: tuple[Cell, ...]
    kept: Cell | None


class Shift(Value, frozen=True, tag="shift"):
    """Move a part that is cut off, given by its cells in reading order, down and to the right."""

    part: tuple[Cell, ...]
    rows: int
    columns: int


class AddBlock(Value, frozen=True, tag="add_block"):
    """A Block action: add a Block to the left neighbour's grid."""

    cell: Cell


class RemoveBlock(Value, frozen=True, tag="remove_block"):
    """A Block action: remove a Block from the own grid."""

    cell: Cell


class Pass(Value, frozen=True, tag="pass"):
    """Give up the Block actions that are left."""


class PutBlock(Value, frozen=True, tag="put_block"):
    """Put the Block that chili or the Automa demands on the own grid."""

    cell: Cell


class DiscardAutomaTile(Value, frozen=True, tag="discard_automa_tile"):
    """Chili in Solo: discard this one of the Automa's tiles."""

    tile: int


Move = Keep | Place | MakeJuice | Shift | AddBlock | RemoveBlock | Pass | PutBlock | DiscardAutomaTile


# --- The state --------------------------------------------------------------------------------------------------------


class Ask(IntEnum):
    """What a seat is asked. The numbers are the contract's."""

    NOTHING = 0
    KEEP = 1
    PLACE = 2
    PLACE_ONE = 3
    MAKE_JUICE = 4
    SHIFT = 5
    BLOCK_ACTION = 6
    PUT_BLOCK = 7
    DISCARD_AUTOMA_TILE = 8


class Seat(Value, frozen=True):
    """A seat.

    Attributes:
        grid: what lies before it.
        hand: the tiles that it holds, sorted.
        passing: in the draft, once the seat has chosen: the one of them that it will pass.
        received: the one of them that its left neighbour passed to it and so knows (JU-D1).
        juices: how many juices it has scored.
        stack: the tiles kept for them, in order (JU-S5).
        preferred: its preferred fruit, where masters show their fruit (JU-M2, JU-O7).
        making: the juices of the scoring that goes on; their tiles have not left yet (JU-S4).
        actions: its Block actions to come (JU-S6).
        fresh: the tiles that its juices have just discarded, by which Blocks are added (JU-B2).
        effects: the complements of its juices to come, in order (JU-X1).
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
    """The opponent in Solo.

    Attributes:
        tiles: the tiles before it, sorted.
        juices: how many juices it has made.
        stack: the tiles kept for them, in order.
        preferred: its preferred fruit, with the Juice Masters (JU-O7).
    """

    tiles: bytes = b""
    juices: int = 0
    stack: bytes = b""
    preferred: Fruit | None = None


class State(Value, frozen=True):
    """Everything there is to know about a game.

    Attributes:
        options: how the game is played.
        mode: in which mode.
        rng: where every random draw comes from.
        round: which round, or turn of Solo, is played, from 1.
        agenda: the steps to come, as a stack: the last one comes next. Empty when the game is over.
        asks: what each seat is asked (`Ask`); the next step begins when nobody is asked anything.
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
