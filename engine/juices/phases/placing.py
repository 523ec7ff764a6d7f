"""Placing tiles on the seat's grid until its hand is empty, and then scoring the grid (JU-D2, JU-D4)."""

from engine.errors import IllegalMove
from engine.juices.events import Discarded, Placed, Why
from engine.juices.grid import Cell, openings, put
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState, resolution
from engine.juices.state import Ask, Place


def begin(state: MutableState, only: int | None) -> None:
    """Let one seat or all seats place the tiles of their hands. The seats are independent of each other."""
    for seat in state.seats_of(only):
        _continue(state, seat)


def _continue(state: MutableState, seat: int) -> None:
    while hand := state.seats[seat].hand:
        cells = openings(state.seats[seat].grid)
        if not cells:  # JU-D4
            state.last_round = True
            for tile in hand:
                state.events.append(Discarded(tile, Why.NO_CELL, seat))
            state.discard(hand)
            state.change(seat, hand=b"", received=None)
        elif len(hand) * len(cells) > 1:
            state.ask(seat, Ask.PLACE)
            return
        else:
            lay(state, seat, hand[0], cells[0], rest=b"")
    resolution.resolve(state, seat)


def legal_moves(state: ReadableState, seat: int) -> tuple[Place, ...]:
    """Return a move for each tile in the hand and each possible cell."""
    me = state.seats[seat]
    return places(me.hand, openings(me.grid))


def places(tiles: bytes, cells: tuple[Cell, ...]) -> tuple[Place, ...]:
    """Return a move for each of the tiles and each of the cells."""
    return tuple([Place(tile, cell) for tile in tiles for cell in cells])


def place(state: MutableState, seat: int, move: Place) -> None:
    """Place a tile."""
    check(state, seat, move)
    rest = state.seats[seat].hand.replace(bytes((move.tile,)), b"")
    lay(state, seat, move.tile, move.cell, rest=rest)
    _continue(state, seat)


def check(state: MutableState, seat: int, move: Place) -> None:
    """Check the tile and the cell of a move.

    Raises:
        IllegalMove: the seat does not hold the tile, or nothing can be placed on the cell.
    """
    if move.tile not in tuple(state.seats[seat].hand):
        raise IllegalMove(f"You do not hold tile #{move.tile}.")
    if move.cell not in openings(state.seats[seat].grid):
        raise IllegalMove(no_opening(move.cell))


def no_opening(cell: Cell) -> str:
    """Return the error for a cell on which nothing can be placed."""
    return (
        f"Nothing can be placed at {cell.text}: a cell must be empty, touch an occupied cell, and keep the grid "
        "within 4\N{MULTIPLICATION SIGN}4."
    )


def lay(state: MutableState, seat: int, tile: int, cell: Cell, *, rest: bytes) -> None:
    """Move a tile from a seat's hand to its grid; `rest` is the hand without it."""
    me = state.seats[seat]
    state.change(
        seat,
        grid=put(me.grid, cell, tile),
        hand=rest,
        received=None if tile == me.received else me.received,
    )
    state.clear_ask(seat)
    state.events.append(Placed(seat, tile, cell))
