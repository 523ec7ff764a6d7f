"""Chili and coffee, juice by juice (JU-X1 …, JU-O9)."""

from engine.errors import IllegalMove
from engine.juices.agenda import CUP, Phase, Step
from engine.juices.components import TILES, Complement, Mode
from engine.juices.events import Allotted, ChiliServed, CoffeeServed, Discarded, Drawn, Why
from engine.juices.grid import complete
from engine.juices.phases import Position, blocks, solo
from engine.juices.state import Ask, DiscardAutomaTile
from engine.juices.table import Table

_PHASES = {Complement.CHILI: Phase.CHILI, Complement.COFFEE: Phase.COFFEE}


def begin(table: Table, only: int | None) -> None:
    """Puts the complements of all seats, or one, on the agenda: by seat, and then in the order of the juices."""
    steps = []
    for seat in table.everybody_or(only):
        if effects := table.seats[seat].effects:
            steps += [Step(_PHASES[Complement(effect)], seat) for effect in effects]
            table.change(seat, effects=b"")
    table.agenda += reversed(steps)


# --- Chili ------------------------------------------------------------------------------------------------------------


def chili(table: Table, maker: int | None) -> None:
    """Serves chili: every other seat must add a Block to its own grid (JU-X2), or the Automa loses a tile (JU-O9)."""
    if maker is None:
        raise AssertionError("chili is somebody's")
    if table.mode == Mode.SOLO:
        table.events.append(ChiliServed(maker, ()))
        moves = legal_moves(table, maker)
        if len(moves) > 1:
            table.ask(maker, Ask.DISCARD_AUTOMA_TILE)
        elif moves:
            discard_automa_tile(table, maker, moves[0])
        return
    seats = len(table.seats)
    allotted = []
    for seat in [(maker + distance) % seats for distance in range(1, seats)]:  # clockwise from the maker's left
        tile = blocks.allot(table, seat)
        if tile is not None:
            allotted.append(Allotted(seat, tile))
    table.events.append(ChiliServed(maker, tuple(allotted)))
    for block in allotted:
        blocks.demand(table, block.seat)


def legal_moves(position: Position, _: int) -> tuple[DiscardAutomaTile, ...]:
    """Lists the Automa's tiles."""
    return tuple([DiscardAutomaTile(tile) for tile in solo.opponent(position).tiles])


def discard_automa_tile(table: Table, seat: int, move: DiscardAutomaTile) -> None:
    """Discards one of the Automa's tiles."""
    if move.tile not in tuple(solo.opponent(table).tiles):
        raise IllegalMove(f"The Automa has no tile #{move.tile}.")
    solo.lose(table, (move.tile,))
    table.discard((move.tile,))
    table.events.append(Discarded(move.tile, Why.CHILI))
    table.answered(seat)


# --- Coffee -----------------------------------------------------------------------------------------------------------


def coffee(table: Table, seat: int | None) -> None:
    """Serves coffee: the seat draws a tile, places it and scores it; what comes of it follows directly (JU-X3)."""
    if seat is None:
        raise AssertionError("coffee is somebody's")
    no_wild = table.mode == Mode.SOLO  # JU-O9; without the Cursed Wild there is none
    if complete(table.seats[seat].grid) or not table.can_draw(wild=not no_wild):
        table.events.append(CoffeeServed(seat, False))
        return
    table.events.append(CoffeeServed(seat, True))
    tile = table.draw()
    while no_wild and TILES[tile].wild:
        table.events.append(Discarded(tile, Why.CURSED))
        table.discard((tile,))
        tile = table.draw()
    table.change(seat, hand=bytes((tile,)), fresh=b"")
    table.events.append(Drawn(seat, 1, (tile,)))
    table.push(CUP, seat)
