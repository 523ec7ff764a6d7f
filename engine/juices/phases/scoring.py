"""Bringing a grid to rest: juices are made, their tiles leave, parts that are cut off rejoin, and so on."""

from engine.errors import IllegalMove
from engine.juices.components import TILES, Complement, Fruit, Mode, block_actions
from engine.juices.events import JuiceMade, PartMoved, TilesLeft
from engine.juices.grid import Juice, candidates, cells_of, pushed, shoves, tiles_of, without
from engine.juices.phases import Position
from engine.juices.state import Ask, MakeJuice, Shift
from engine.juices.table import Table


def settle(table: Table, seat: int) -> None:
    """Goes on with a seat's grid until the seat is asked something or the grid is at rest.

    A juice comes before everything else (JU-S2), also where the move of a part has made it (JU-I3). When none is left
    the tiles of those that were made leave (JU-S4). Then parts rejoin, one at a time (JU-I1).
    """
    table.answered(seat)
    while True:
        if juices := make_juice_moves(table, seat):
            if len(juices) > 1:
                table.ask(seat, Ask.MAKE_JUICE)
                return
            _make(table, seat, juices[0])
        elif table.seats[seat].making:
            _clear(table, seat)
        elif shifts := shift_moves(table, seat):
            if len(shifts) > 1:
                table.ask(seat, Ask.SHIFT)
                return
            _shift(table, seat, shifts[0])
        else:
            return


# --- Juices -----------------------------------------------------------------------------------------------------------


def make_juice_moves(position: Position, seat: int) -> tuple[MakeJuice, ...]:
    """Lists the juices that the seat can make, each with every tile that it can keep for it (JU-S2)."""
    me = position.seats[seat]
    grid, making = me.grid, me.making
    found = candidates(grid, making)
    if not found:
        return ()
    kept = [juice.kept for juice in making]
    moves = []
    for fruit, mask in found:
        cells = cells_of(grid, mask)
        choices = []
        if scores(position, fruit):
            # JU-S5: two juices keep two different tiles.
            choices = [cell for cell, tile in zip(cells, tiles_of(grid, mask), strict=True) if tile not in kept]
        moves += [MakeJuice(fruit, cells, cell) for cell in choices or (None,)]
    return tuple(moves)


def make_juice(table: Table, seat: int, move: MakeJuice) -> None:
    """Makes a juice."""
    grid, making = table.seats[seat].grid, table.seats[seat].making
    groups = [cells_of(grid, mask) for fruit, mask in candidates(grid, making) if fruit == move.fruit]
    if move.cells not in groups:
        raise IllegalMove(
            f"These tiles are no whole group of {move.fruit.title} that a juice can be made of: it takes all "
            "that touch each other, at least three."
        )
    if move not in make_juice_moves(table, seat):
        raise IllegalMove("A juice keeps one of its own tiles that no other keeps, and none where that cannot be.")
    _make(table, seat, move)
    settle(table, seat)


def scores(position: Position, fruit: Fruit) -> bool:
    """Tells whether a juice of a fruit scores: with orders only the active one's (JU-M3)."""
    return position.mode != Mode.ORDERS_TO_GO_GO or fruit == position.orders[0]


def _make(table: Table, seat: int, move: MakeJuice) -> None:
    me = table.seats[seat]
    fruit = move.fruit
    (mask,) = [
        mask for of, mask in candidates(me.grid, me.making) if of == fruit and cells_of(me.grid, mask) == move.cells
    ]
    tiles = tiles_of(me.grid, mask)
    kept = None if move.kept is None else tiles[move.cells.index(move.kept)]
    counts = scores(table, fruit)
    actions = 0 if table.mode == Mode.SOLO else block_actions(len(tiles))  # JU-O2
    shown = {TILES[tile].complement for tile in tiles}
    complements = tuple(complement for complement in Complement if complement in shown)  # JU-X1
    table.change(
        seat,
        juices=me.juices + counts,
        making=(*me.making, Juice(fruit, mask, kept)),
        actions=me.actions + actions,
        effects=me.effects + bytes(complements),
    )
    if counts and table.mode == Mode.ORDERS_TO_GO_GO:
        table.order_met = True
    table.events.append(JuiceMade(seat, fruit, move.cells, kept, counts, actions, complements))


def _clear(table: Table, seat: int) -> None:
    """Takes the tiles of the juices off the grid, all together (JU-S4), to the stack and to the discards (JU-S5)."""
    me = table.seats[seat]
    mask = 0
    for juice in me.making:
        mask |= juice.mask
    kept = bytes([juice.kept for juice in me.making if juice.kept is not None])
    discarded = bytes(sorted(set(tiles_of(me.grid, mask)) - set(kept)))
    table.discard(discarded)
    table.change(
        seat,
        grid=without(me.grid, mask),
        stack=me.stack + kept,
        making=(),
        fresh=bytes(sorted(me.fresh + discarded)),  # JU-B2
    )
    table.events.append(TilesLeft(seat, cells_of(me.grid, mask), tuple(discarded)))


# --- Parts that are cut off -------------------------------------------------------------------------------------------


def shift_moves(position: Position, seat: int) -> tuple[Shift, ...]:
    """Lists the moves by which a part may rejoin (JU-I2)."""
    grid = position.seats[seat].grid
    return tuple([Shift(cells_of(grid, shove.part), shove.rows, shove.columns) for shove in shoves(grid)])


def shift(table: Table, seat: int, move: Shift) -> None:
    """Moves a part."""
    moves = shift_moves(table, seat)
    if move not in moves:
        if move.part not in [each.part for each in moves]:
            raise IllegalMove("These cells are no part that is cut off and can move now.")
        raise IllegalMove(
            "A part moves as few steps as it can until it touches the rest within 4\N{MULTIPLICATION SIGN}4."
        )
    _shift(table, seat, move)
    settle(table, seat)


def _shift(table: Table, seat: int, move: Shift) -> None:
    grid = table.seats[seat].grid
    shove = shoves(grid)[shift_moves(table, seat).index(move)]
    table.change(seat, grid=pushed(grid, shove))
    table.events.append(PartMoved(seat, move.part, move.rows, move.columns))
