"""Block actions, seat by seat (JU-B1 …), and the Blocks that others demand."""

from engine.errors import IllegalMove
from engine.juices.agenda import Phase
from engine.juices.events import ActionsLost, BlockAdded, BlockRemoved
from engine.juices.grid import cells_of, complete, index_of, openings, put, without
from engine.juices.phases import Position, placing, scoring
from engine.juices.state import AddBlock, Ask, Pass, PutBlock, RemoveBlock
from engine.juices.table import Table

_PASS = Pass()


def begin(table: Table, only: int | None) -> None:
    """Asks the first seat that has Block actions and can use one; comes again until there is none."""
    for seat in table.everybody_or(only):
        actions = table.seats[seat].actions
        if actions and len(legal_moves(table, seat)) > 1:
            table.push((Phase.BLOCKS,), only)
            table.ask(seat, Ask.BLOCK_ACTION)
            return
        if actions:  # JU-B1: a seat that could only pass is passed over
            _give_up(table, seat)


def legal_moves(position: Position, seat: int) -> tuple[AddBlock | RemoveBlock | Pass, ...]:
    """Lists where a Block can be added on the left neighbour's grid, which own ones can be removed, and to pass."""
    grid = position.seats[seat].grid
    open_cells = () if _tile_to_add(position, seat) is None else openings(position.seats[_left(position, seat)].grid)
    return (
        *[AddBlock(cell) for cell in open_cells],
        *[RemoveBlock(cell) for cell in cells_of(grid, grid.blocks)],
        _PASS,
    )


def add(table: Table, seat: int, move: AddBlock) -> None:
    """Adds a Block to the left neighbour's grid (JU-B2)."""
    tile, left = _tile_to_add(table, seat), _left(table, seat)
    if tile is None:
        raise IllegalMove("None of the tiles that your juices have just discarded is left.")
    if move.cell not in openings(table.seats[left].grid):
        raise IllegalMove(placing.no_opening(move.cell))
    table.take(tile)
    _lay(table, left, tile, move)
    _use_action(table, seat)


def remove(table: Table, seat: int, move: RemoveBlock) -> None:
    """Removes a Block from the own grid; what it held together may fall apart (JU-B3)."""
    grid = table.seats[seat].grid
    index = index_of(grid, move.cell)
    bit = 0 if index is None else 1 << 15 - index & grid.blocks
    if index is None or not bit:
        raise IllegalMove(f"No Block of yours lies at {move.cell.text}.")
    tile = grid.cells[index]
    table.discard((tile,))
    table.change(seat, grid=without(grid, bit))
    table.events.append(BlockRemoved(seat, tile, move.cell))
    _use_action(table, seat)
    scoring.settle(table, seat)


def give_up(table: Table, seat: int, _: Pass) -> None:
    """Gives up the Block actions that are left (JU-B1)."""
    _give_up(table, seat)
    table.answered(seat)


def _give_up(table: Table, seat: int) -> None:
    table.events.append(ActionsLost(seat, table.seats[seat].actions))
    table.change(seat, actions=0)


def _use_action(table: Table, seat: int) -> None:
    table.change(seat, actions=table.seats[seat].actions - 1)
    table.answered(seat)


def _left(position: Position, seat: int) -> int:
    return (seat + 1) % len(position.seats)


def _tile_to_add(position: Position, seat: int) -> int | None:
    """JU-B2: the lowest of the tiles just discarded that is still there."""
    discards = position.discards
    return next((tile for tile in position.seats[seat].fresh if tile in discards), None)


# --- Blocks that others demand ----------------------------------------------------------------------------------------


def allot(table: Table, seat: int) -> int | None:
    """Takes the lowest of the discards as a Block that a seat must put on its grid; None where that cannot be."""
    if not table.discards or complete(table.seats[seat].grid):
        return None
    tile = table.discards[0]
    table.take(tile)
    table.change(seat, block=tile)
    return tile


def demand(table: Table, seat: int) -> None:
    """Has a seat put its Block on its grid: it chooses where, if there is a choice."""
    cells = openings(table.seats[seat].grid)
    if len(cells) > 1:
        table.ask(seat, Ask.PUT_BLOCK)
    else:
        put_block(table, seat, PutBlock(cells[0]))


def put_block_moves(position: Position, seat: int) -> tuple[PutBlock, ...]:
    """Lists the cells for the Block."""
    return tuple([PutBlock(cell) for cell in openings(position.seats[seat].grid)])


def put_block(table: Table, seat: int, move: PutBlock) -> None:
    """Puts the Block on the grid."""
    me = table.seats[seat]
    if me.block is None:
        raise AssertionError("no Block is demanded")
    if move.cell not in openings(me.grid):
        raise IllegalMove(placing.no_opening(move.cell))
    _lay(table, seat, me.block, move)
    table.change(seat, block=None)
    table.answered(seat)


def _lay(table: Table, seat: int, tile: int, move: AddBlock | PutBlock) -> None:
    table.change(seat, grid=put(table.seats[seat].grid, move.cell, tile, block=True))
    table.events.append(BlockAdded(seat, tile, move.cell))
