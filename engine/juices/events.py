"""The events of Juices. `engine.juices.view` removes what a viewer may not know.

A grid is given by its seat, a tile by its number. An event is public unless its docstring says otherwise.
"""

from engine.juices.components import Complement, Fruit
from engine.juices.grid import Cell
from engine.value import Name, Value


class RoundStarted(Value, frozen=True, tag="round_started"):
    """A round, or a turn of Solo, started."""

    round: int


class OrderRevealed(Value, frozen=True, tag="order_revealed"):
    """An order became active; `left` orders remain in the pile (JU-M3)."""

    fruit: Fruit
    left: int


class Reshuffled(Value, frozen=True, tag="reshuffled"):
    """The discards were shuffled and became the pile, with this number of tiles (JU-D3)."""

    tiles: int


class Drawn(Value, frozen=True, tag="drawn"):
    """A seat drew tiles. Only that seat may know them; for others `tiles` is empty."""

    seat: int
    size: int
    tiles: tuple[int, ...]


class Kept(Value, frozen=True, tag="kept"):
    """A seat chose the tile that it keeps. Only that seat may know it; for others `tile` is None."""

    seat: int
    tile: int | None


class PassedOn(Value, frozen=True, tag="passed_on"):
    """A tile went from a seat to its right neighbor. Only these two may know it; for others `tile` is None."""

    seat: int
    to_seat: int
    tile: int | None


class Placed(Value, frozen=True, tag="placed"):
    """A seat placed a tile on its grid."""

    seat: int
    tile: int
    cell: Cell


class Why(Name):
    """Why a tile was discarded. The numbers are those of the API."""

    NO_CELL = 1
    SECOND_COMPLEMENT = 2
    PASSED_OVER = 3
    CURSED = 4
    CHILI = 5


class Discarded(Value, frozen=True, tag="discarded"):
    """A drawn tile, or a tile of the Automa, was discarded. `seat` is set where that seat had no cell for it."""

    tile: int
    why: Why
    seat: int | None = None


class JuiceMade(Value, frozen=True, tag="juice_made"):
    """A seat made a juice of the tiles on these cells and keeps the tile `kept`, if any.

    `scores` is whether the juice counts, `actions` the number of Block actions that it earns, and `complements` the
    complements that will take effect.
    """

    seat: int
    fruit: Fruit
    cells: tuple[Cell, ...]
    kept: int | None
    scores: bool
    actions: int
    complements: tuple[Complement, ...]


class TilesLeft(Value, frozen=True, tag="tiles_left"):
    """The tiles of the juices of a scoring left a grid: `discarded` to the discards, the others to the seat's stack."""

    seat: int
    cells: tuple[Cell, ...]
    discarded: tuple[int, ...]


class PartMoved(Value, frozen=True, tag="part_moved"):
    """A part that was cut off moved from these cells, by rows down and columns to the right."""

    seat: int
    part: tuple[Cell, ...]
    rows: int
    columns: int


class BlockAdded(Value, frozen=True, tag="block_added"):
    """A tile became a Block on a seat's grid."""

    seat: int
    tile: int
    cell: Cell


class BlockRemoved(Value, frozen=True, tag="block_removed"):
    """A Block left a seat's grid for the discards."""

    seat: int
    tile: int
    cell: Cell


class ActionsLost(Value, frozen=True, tag="actions_lost"):
    """A seat passed, or could only have passed: it lost this number of Block actions (JU-B1)."""

    seat: int
    actions: int


class Allotted(Value, frozen=True):
    """A tile from the discards that a seat must put on its grid as a Block."""

    seat: int
    tile: int


class ChiliServed(Value, frozen=True, tag="chili_served"):
    """A seat's chili took effect: these seats must add these tiles as Blocks (JU-X2)."""

    seat: int
    blocks: tuple[Allotted, ...]


class CoffeeServed(Value, frozen=True, tag="coffee_served"):
    """A seat's coffee took effect. The seat draws a tile, if one can be drawn and placed (JU-X3)."""

    seat: int
    draws: bool


class AutomaTook(Value, frozen=True, tag="automa_took"):
    """The Automa got a tile."""

    tile: int


class AutomaJuiceMade(Value, frozen=True, tag="automa_juice_made"):
    """The Automa made a juice of these tiles and keeps the tile `kept`, if any."""

    fruit: Fruit
    tiles: tuple[int, ...]
    kept: int | None


class AutomaTilesLeft(Value, frozen=True, tag="automa_tiles_left"):
    """The tiles of the Automa's juices left: `discarded` to the discards, the others to its stack."""

    discarded: tuple[int, ...]


class End(Name):
    """Why a game ended. The numbers are those of the API."""

    SIX_JUICES = 1
    NO_CELL = 2
    TILES_RAN_OUT = 3
    ORDERS_FULFILLED = 4


class GameEnded(Value, frozen=True, tag="game_ended"):
    """The game is over."""

    why: End


Event = (
    RoundStarted
    | OrderRevealed
    | Reshuffled
    | Drawn
    | Kept
    | PassedOn
    | Placed
    | Discarded
    | JuiceMade
    | TilesLeft
    | PartMoved
    | BlockAdded
    | BlockRemoved
    | ActionsLost
    | ChiliServed
    | CoffeeServed
    | AutomaTook
    | AutomaJuiceMade
    | AutomaTilesLeft
    | GameEnded
)
