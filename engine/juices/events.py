"""What happens in a game of Juices. `engine.juices.view` takes out what a viewer may not know.

Grids are named by their seat, tiles by their number. Unless it says otherwise, an event is public.
"""

from enum import IntEnum

from engine.juices.components import Complement, Fruit, Value
from engine.juices.grid import Cell


class RoundStarted(Value, frozen=True, tag="round_started"):
    """A round, or a turn of Solo, began."""

    round: int


class OrderRevealed(Value, frozen=True, tag="order_revealed"):
    """An order became active; so many are left in the pile (JU-M3)."""

    fruit: Fruit
    left: int


class Reshuffled(Value, frozen=True, tag="reshuffled"):
    """The discards, so many tiles, were shuffled and became the pile (JU-D3)."""

    tiles: int


class Drawn(Value, frozen=True, tag="drawn"):
    """A seat drew tiles. Which ones only it may know; others get them as an empty tuple."""

    seat: int
    size: int
    tiles: tuple[int, ...]


class Kept(Value, frozen=True, tag="kept"):
    """A seat chose which tile to keep. Only it may know which one; others get None."""

    seat: int
    tile: int | None


class PassedOn(Value, frozen=True, tag="passed_on"):
    """A tile went from a seat to its right neighbour. Only these two may know which one; others get None."""

    seat: int
    to_seat: int
    tile: int | None


class Placed(Value, frozen=True, tag="placed"):
    """A seat placed a tile on its grid."""

    seat: int
    tile: int
    cell: Cell


class Why(IntEnum):
    """Why a tile was discarded. The numbers are the contract's."""

    NO_CELL = 1
    SECOND_COMPLEMENT = 2
    PASSED_OVER = 3
    CURSED = 4
    CHILI = 5


class Discarded(Value, frozen=True, tag="discarded"):
    """A tile that was drawn, or lay before the Automa, was discarded; `seat` had no cell for it, if that is why."""

    tile: int
    why: Why
    seat: int | None = None


class JuiceMade(Value, frozen=True, tag="juice_made"):
    """A seat made a juice from the tiles on these cells, and keeps one of them, if any.

    `scores` is whether it counts; `actions` is how many Block actions it earns and `complements` which it brings.
    """

    seat: int
    fruit: Fruit
    cells: tuple[Cell, ...]
    kept: int | None
    scores: bool
    actions: int
    complements: tuple[Complement, ...]


class TilesLeft(Value, frozen=True, tag="tiles_left"):
    """The tiles of a scoring's juices left a grid: these went to the discards, the rest to the seat's stack."""

    seat: int
    cells: tuple[Cell, ...]
    discarded: tuple[int, ...]


class PartMoved(Value, frozen=True, tag="part_moved"):
    """A part that was cut off moved from these cells so many rows down and columns to the right."""

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
    """A seat passed, or could have done nothing but pass: so many Block actions are gone (JU-B1)."""

    seat: int
    actions: int


class Allotted(Value, frozen=True):
    """A tile out of the discards that a seat must put on its grid as a Block."""

    seat: int
    tile: int


class ChiliServed(Value, frozen=True, tag="chili_served"):
    """A seat's chili took effect: these seats must add these tiles as Blocks (JU-X2)."""

    seat: int
    blocks: tuple[Allotted, ...]


class CoffeeServed(Value, frozen=True, tag="coffee_served"):
    """A seat's coffee took effect: it draws a tile, unless nothing can be drawn or placed (JU-X3)."""

    seat: int
    draws: bool


class AutomaTook(Value, frozen=True, tag="automa_took"):
    """The Automa got a tile."""

    tile: int


class AutomaJuiceMade(Value, frozen=True, tag="automa_juice_made"):
    """The Automa made a juice of these tiles, and keeps one of them, if any."""

    fruit: Fruit
    tiles: tuple[int, ...]
    kept: int | None


class AutomaTilesLeft(Value, frozen=True, tag="automa_tiles_left"):
    """The tiles of the Automa's juices left: these went to the discards, the rest to its stack."""

    discarded: tuple[int, ...]


class End(IntEnum):
    """Why a game ended. The numbers are the contract's."""

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
