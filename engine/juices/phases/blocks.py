"""Block actions, seat by seat (JU-B), and the Blocks that chili and the Automa require."""

from engine.errors import IllegalMove
from engine.juices.events import ActionsLost, BlockAdded, BlockRemoved
from engine.juices.grid import cells_of, complete, index_of, openings, put, without
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState, placing, resolution
from engine.juices.state import AddBlock, Ask, Pass, Phase, PutBlock, RemoveBlock

_PASS = Pass()


def begin(state: MutableState, only: int | None) -> None:
    """Require a decision from the first seat that can use a Block action. Repeat until there is no such seat."""
    for seat in state.seats_of(only):
        actions = state.seats[seat].actions
        if actions and len(legal_moves(state, seat)) > 1:
            state.push((Phase.BLOCKS,), only)
            state.ask(seat, Ask.BLOCK_ACTION)
            return
        if actions:  # JU-B1: a seat that could only pass is skipped
            _give_up(state, seat)


def legal_moves(state: ReadableState, seat: int) -> tuple[AddBlock | RemoveBlock | Pass, ...]:
    """Return the moves that add a Block to the left neighbor's grid or remove one from the seat's grid, and Pass."""
    grid = state.seats[seat].grid
    open_cells = () if _tile_to_add(state, seat) is None else openings(state.seats[_left(state, seat)].grid)
    return (
        *[AddBlock(cell) for cell in open_cells],
        *[RemoveBlock(cell) for cell in cells_of(grid, grid.blocks)],
        _PASS,
    )


def add(state: MutableState, seat: int, move: AddBlock) -> None:
    """Add a Block to the left neighbor's grid (JU-B2)."""
    tile, left = _tile_to_add(state, seat), _left(state, seat)
    if tile is None:
        raise IllegalMove("None of the tiles that your juices have just discarded is left.")
    if move.cell not in openings(state.seats[left].grid):
        raise IllegalMove(placing.no_opening(move.cell))
    state.take(tile)
    _lay(state, left, tile, move)
    _use_action(state, seat)


def remove(state: MutableState, seat: int, move: RemoveBlock) -> None:
    """Remove a Block from the seat's own grid, which may cut parts off (JU-B3)."""
    grid = state.seats[seat].grid
    index = index_of(grid, move.cell)
    bit = 0 if index is None else 1 << 15 - index & grid.blocks
    if index is None or not bit:
        raise IllegalMove(f"No Block of yours lies at {move.cell.text}.")
    tile = grid.cells[index]
    state.discard((tile,))
    state.change(seat, grid=without(grid, bit))
    state.events.append(BlockRemoved(seat, tile, move.cell))
    _use_action(state, seat)
    resolution.resolve(state, seat)


def give_up(state: MutableState, seat: int, _: Pass) -> None:
    """Give up the remaining Block actions (JU-B1)."""
    _give_up(state, seat)
    state.clear_ask(seat)


def _give_up(state: MutableState, seat: int) -> None:
    state.events.append(ActionsLost(seat, state.seats[seat].actions))
    state.change(seat, actions=0)


def _use_action(state: MutableState, seat: int) -> None:
    state.change(seat, actions=state.seats[seat].actions - 1)
    state.clear_ask(seat)


def _left(state: ReadableState, seat: int) -> int:
    return (seat + 1) % len(state.seats)


def _tile_to_add(state: ReadableState, seat: int) -> int | None:
    """Return the lowest of the tiles just discarded that is still among the discards (JU-B2)."""
    discards = state.discards
    return next((tile for tile in state.seats[seat].fresh if tile in discards), None)


# --- Required Blocks --------------------------------------------------------------------------------------------------


def allot(state: MutableState, seat: int) -> int | None:
    """Allot the lowest of the discards to a seat as a Block.

    Returns:
        The tile; None without discards or where the grid is complete.
    """
    if not state.discards or complete(state.seats[seat].grid):
        return None
    tile = state.discards[0]
    state.take(tile)
    state.change(seat, block=tile)
    return tile


def require_block(state: MutableState, seat: int) -> None:
    """Require the seat to put its Block on its grid, or do so if only one cell is possible."""
    cells = openings(state.seats[seat].grid)
    if len(cells) > 1:
        state.ask(seat, Ask.PUT_BLOCK)
    else:
        put_block(state, seat, PutBlock(cells[0]))


def put_block_moves(state: ReadableState, seat: int) -> tuple[PutBlock, ...]:
    """Return a move for each cell that can take the Block."""
    return tuple([PutBlock(cell) for cell in openings(state.seats[seat].grid)])


def put_block(state: MutableState, seat: int, move: PutBlock) -> None:
    """Put the Block on the grid."""
    me = state.seats[seat]
    if me.block is None:
        raise AssertionError("no Block is required")
    if move.cell not in openings(me.grid):
        raise IllegalMove(placing.no_opening(move.cell))
    _lay(state, seat, me.block, move)
    state.change(seat, block=None)
    state.clear_ask(seat)


def _lay(state: MutableState, seat: int, tile: int, move: AddBlock | PutBlock) -> None:
    state.change(seat, grid=put(state.seats[seat].grid, move.cell, tile, block=True))
    state.events.append(BlockAdded(seat, tile, move.cell))
