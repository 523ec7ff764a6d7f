"""Chili and coffee, juice by juice (JU-X, JU-O9)."""

from engine.errors import IllegalMove
from engine.juices.components import TILES, Complement, Mode
from engine.juices.events import Allotted, ChiliServed, CoffeeServed, Discarded, Drawn, Why
from engine.juices.grid import complete
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState, blocks, solo
from engine.juices.phases.sequences import CUP
from engine.juices.state import Ask, DiscardAutomaTile, Phase, Step

_PHASES = {Complement.CHILI: Phase.CHILI, Complement.COFFEE: Phase.COFFEE}


def begin(state: MutableState, only: int | None) -> None:
    """Put the complements of one seat or all on the agenda: by seat, and then in the order of the juices."""
    steps = []
    for seat in state.seats_of(only):
        if effects := state.seats[seat].effects:
            steps += [Step(_PHASES[Complement(effect)], seat) for effect in effects]
            state.change(seat, effects=b"")
    state.agenda += reversed(steps)


# --- Chili ------------------------------------------------------------------------------------------------------------


def chili(state: MutableState, maker: int | None) -> None:
    """Apply chili: every other seat must add a Block to its own grid (JU-X2), or the Automa loses a tile (JU-O9)."""
    if maker is None:
        raise AssertionError("chili needs a seat")
    if state.mode == Mode.SOLO:
        state.events.append(ChiliServed(maker, ()))
        moves = legal_moves(state, maker)
        if len(moves) > 1:
            state.ask(maker, Ask.DISCARD_AUTOMA_TILE)
        elif moves:
            discard_automa_tile(state, maker, moves[0])
        return
    seats = len(state.seats)
    allotted = []
    for seat in [(maker + distance) % seats for distance in range(1, seats)]:  # clockwise from the maker's left
        tile = blocks.allot(state, seat)
        if tile is not None:
            allotted.append(Allotted(seat, tile))
    state.events.append(ChiliServed(maker, tuple(allotted)))
    for block in allotted:
        blocks.require_block(state, block.seat)


def legal_moves(state: ReadableState, _: int) -> tuple[DiscardAutomaTile, ...]:
    """Return a move for each of the Automa's tiles."""
    return tuple([DiscardAutomaTile(tile) for tile in solo.opponent(state).tiles])


def discard_automa_tile(state: MutableState, seat: int, move: DiscardAutomaTile) -> None:
    """Discard one of the Automa's tiles."""
    if move.tile not in tuple(solo.opponent(state).tiles):
        raise IllegalMove(f"The Automa has no tile #{move.tile}.")
    solo.remove_automa_tiles(state, (move.tile,))
    state.discard((move.tile,))
    state.events.append(Discarded(move.tile, Why.CHILI))
    state.clear_ask(seat)


# --- Coffee -----------------------------------------------------------------------------------------------------------


def coffee(state: MutableState, seat: int | None) -> None:
    """Apply coffee: the seat draws a tile, places it and scores it; the consequences follow immediately (JU-X3)."""
    if seat is None:
        raise AssertionError("coffee needs a seat")
    no_wild = state.mode == Mode.SOLO  # JU-O9; without the Cursed Wild there are no wilds
    if complete(state.seats[seat].grid) or not state.can_draw(wild=not no_wild):
        state.events.append(CoffeeServed(seat, False))
        return
    state.events.append(CoffeeServed(seat, True))
    tile = state.draw()
    while no_wild and TILES[tile].wild:
        state.events.append(Discarded(tile, Why.CURSED))
        state.discard((tile,))
        tile = state.draw()
    state.change(seat, hand=bytes((tile,)), fresh=b"")
    state.events.append(Drawn(seat, 1, (tile,)))
    state.push(CUP, seat)
