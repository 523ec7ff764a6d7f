"""Placing tiles on the own grid, until the hand is empty; what is on the grid is scored then (JU-D2, JU-D4)."""

from engine.errors import IllegalMove
from engine.juices.events import Discarded, Placed, Why
from engine.juices.grid import Cell, openings, put
from engine.juices.phases import Position, scoring
from engine.juices.state import Ask, Place
from engine.juices.table import Table


def begin(table: Table, only: int | None) -> None:
    """Has all seats, or one, place what they hold, each on its own."""
    for seat in table.everybody_or(only):
        _go_on(table, seat)


def _go_on(table: Table, seat: int) -> None:
    while hand := table.seats[seat].hand:
        cells = openings(table.seats[seat].grid)
        if not cells:  # JU-D4
            table.last_round = True
            for tile in hand:
                table.events.append(Discarded(tile, Why.NO_CELL, seat))
            table.discard(hand)
            table.change(seat, hand=b"", received=None)
        elif len(hand) * len(cells) > 1:
            table.ask(seat, Ask.PLACE)
            return
        else:
            lay(table, seat, hand[0], cells[0], then_holding=b"")
    scoring.settle(table, seat)


def legal_moves(position: Position, seat: int) -> tuple[Place, ...]:
    """Lists the tiles in the hand with the cells for each."""
    me = position.seats[seat]
    return places(me.hand, openings(me.grid))


def places(tiles: bytes, cells: tuple[Cell, ...]) -> tuple[Place, ...]:
    """Lists the ways to place one of some tiles on one of some cells."""
    return tuple([Place(tile, cell) for tile in tiles for cell in cells])


def place(table: Table, seat: int, move: Place) -> None:
    """Places a tile."""
    check(table, seat, move)
    rest = table.seats[seat].hand.replace(bytes((move.tile,)), b"")
    lay(table, seat, move.tile, move.cell, then_holding=rest)
    _go_on(table, seat)


def check(table: Table, seat: int, move: Place) -> None:
    """Refuses a tile that the seat does not hold and a cell where nothing may be placed.

    Raises:
        IllegalMove: so it is.
    """
    if move.tile not in tuple(table.seats[seat].hand):
        raise IllegalMove(f"You do not hold tile #{move.tile}.")
    if move.cell not in openings(table.seats[seat].grid):
        raise IllegalMove(no_opening(move.cell))


def no_opening(cell: Cell) -> str:
    """Says why nothing can be placed on a cell."""
    return (
        f"Nothing can be placed at {cell.text}: a cell must be empty, touch what lies on the grid, and keep all of it "
        "within 4\N{MULTIPLICATION SIGN}4."
    )


def lay(table: Table, seat: int, tile: int, cell: Cell, *, then_holding: bytes) -> None:
    """Moves a tile from a seat's hand, which holds less then, to its grid."""
    me = table.seats[seat]
    table.change(
        seat,
        grid=put(me.grid, cell, tile),
        hand=then_holding,
        received=None if tile == me.received else me.received,
    )
    table.answered(seat)
    table.events.append(Placed(seat, tile, cell))
