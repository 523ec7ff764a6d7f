"""Resolving a grid: make juices, remove their tiles, and rejoin parts that are cut off, until nothing more changes."""

from engine.errors import IllegalMove
from engine.juices.components import TILES, Complement, Fruit, Mode, block_actions
from engine.juices.events import JuiceMade, PartMoved, TilesLeft
from engine.juices.grid import Juice, candidates, cells_of, pushed, shoves, tiles_of, without
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState
from engine.juices.state import Ask, MakeJuice, Shift


def resolve(state: MutableState, seat: int) -> None:
    """Resolve a seat's grid until the seat must decide or nothing more changes.

    Possible juices come first (JU-S2), including those that the move of a part has formed (JU-I3). When no further
    juice is possible, the tiles of the juices leave (JU-S4). Then parts rejoin, one at a time (JU-I1).
    """
    state.clear_ask(seat)
    while True:
        if juices := make_juice_moves(state, seat):
            if len(juices) > 1:
                state.ask(seat, Ask.MAKE_JUICE)
                return
            _make(state, seat, juices[0])
        elif state.seats[seat].making:
            _clear(state, seat)
        elif shifts := shift_moves(state, seat):
            if len(shifts) > 1:
                state.ask(seat, Ask.SHIFT)
                return
            _shift(state, seat, shifts[0])
        else:
            return


# --- Juices -----------------------------------------------------------------------------------------------------------


def make_juice_moves(state: ReadableState, seat: int) -> tuple[MakeJuice, ...]:
    """Return a move for each juice that the seat can make and each tile that it can keep for it (JU-S2)."""
    me = state.seats[seat]
    grid, making = me.grid, me.making
    found = candidates(grid, making)
    if not found:
        return ()
    kept = [juice.kept for juice in making]
    moves = []
    for fruit, mask in found:
        cells = cells_of(grid, mask)
        choices = []
        if scores(state, fruit):
            # JU-S5: a tile can be kept for one juice only.
            choices = [cell for cell, tile in zip(cells, tiles_of(grid, mask), strict=True) if tile not in kept]
        moves += [MakeJuice(fruit, cells, cell) for cell in choices or (None,)]
    return tuple(moves)


def make_juice(state: MutableState, seat: int, move: MakeJuice) -> None:
    """Make a juice."""
    grid, making = state.seats[seat].grid, state.seats[seat].making
    groups = [cells_of(grid, mask) for fruit, mask in candidates(grid, making) if fruit == move.fruit]
    if move.cells not in groups:
        raise IllegalMove(
            f"These tiles are not a group of {move.fruit.title} for a juice: a group is all tiles with the fruit that "
            "touch each other, at least three."
        )
    if move not in make_juice_moves(state, seat):
        raise IllegalMove(
            "A juice must keep one of its own tiles that no other juice keeps, or no tile where that is impossible."
        )
    _make(state, seat, move)
    resolve(state, seat)


def scores(state: ReadableState, fruit: Fruit) -> bool:
    """Return whether a juice of the fruit scores: with orders, only the active order's fruit does (JU-M3)."""
    return state.mode != Mode.ORDERS_TO_GO_GO or fruit == state.orders[0]


def _make(state: MutableState, seat: int, move: MakeJuice) -> None:
    me = state.seats[seat]
    fruit = move.fruit
    (mask,) = [
        mask for of, mask in candidates(me.grid, me.making) if of == fruit and cells_of(me.grid, mask) == move.cells
    ]
    tiles = tiles_of(me.grid, mask)
    kept = None if move.kept is None else tiles[move.cells.index(move.kept)]
    counts = scores(state, fruit)
    actions = 0 if state.mode == Mode.SOLO else block_actions(len(tiles))  # JU-O2
    shown = {TILES[tile].complement for tile in tiles}
    complements = tuple(complement for complement in Complement if complement in shown)  # JU-X1
    state.change(
        seat,
        juices=me.juices + counts,
        making=(*me.making, Juice(fruit, mask, kept)),
        actions=me.actions + actions,
        effects=me.effects + bytes(complements),
    )
    if counts and state.mode == Mode.ORDERS_TO_GO_GO:
        state.order_met = True
    state.events.append(JuiceMade(seat, fruit, move.cells, kept, counts, actions, complements))


def _clear(state: MutableState, seat: int) -> None:
    """Move the tiles of the juices together (JU-S4) from the grid to the stack and the discards (JU-S5)."""
    me = state.seats[seat]
    mask = 0
    for juice in me.making:
        mask |= juice.mask
    kept = bytes([juice.kept for juice in me.making if juice.kept is not None])
    discarded = bytes(sorted(set(tiles_of(me.grid, mask)) - set(kept)))
    state.discard(discarded)
    state.change(
        seat,
        grid=without(me.grid, mask),
        stack=me.stack + kept,
        making=(),
        fresh=bytes(sorted(me.fresh + discarded)),  # JU-B2
    )
    state.events.append(TilesLeft(seat, cells_of(me.grid, mask), tuple(discarded)))


# --- Parts that are cut off -------------------------------------------------------------------------------------------


def shift_moves(state: ReadableState, seat: int) -> tuple[Shift, ...]:
    """Return the moves by which a part can rejoin (JU-I2)."""
    grid = state.seats[seat].grid
    return tuple([Shift(cells_of(grid, shove.part), shove.rows, shove.columns) for shove in shoves(grid)])


def shift(state: MutableState, seat: int, move: Shift) -> None:
    """Move a part."""
    moves = shift_moves(state, seat)
    if move not in moves:
        if move.part not in [each.part for each in moves]:
            raise IllegalMove("These cells are not a part that is cut off and can move now.")
        raise IllegalMove(
            "A part must move by the fewest steps after which it touches the rest within 4\N{MULTIPLICATION SIGN}4."
        )
    _shift(state, seat, move)
    resolve(state, seat)


def _shift(state: MutableState, seat: int, move: Shift) -> None:
    grid = state.seats[seat].grid
    shove = shoves(grid)[shift_moves(state, seat).index(move)]
    state.change(seat, grid=pushed(grid, shove))
    state.events.append(PartMoved(seat, move.part, move.rows, move.columns))
