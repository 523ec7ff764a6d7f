"""What Juices tells the conformance tests about itself."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec
from hypothesis import strategies as st

from engine.game import SPECTATOR, Viewer
from engine.juices.components import Fruit, Mode
from engine.juices.events import AutomaTook, Discarded, Drawn, OrderRevealed, PassedOn, Placed, Reshuffled, RoundStarted
from engine.juices.grid import EMPTY, MASTER, Cell, Grid
from engine.juices.state import (
    AddBlock,
    Ask,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Options,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
    State,
)
from engine.juices.view import view_event
from engine.rng import SEED_BYTES, Rng
from tests.engine.juices import slow_grid as slow

if TYPE_CHECKING:
    from tests.engine.plays import Step

AWAY = Cell(9, -9)
STRANGE_TILES = (0, 68, 137, 138, 255, -1)


class JuicesCases:
    """Cases of Juices."""

    longest = 2000
    largest = 3 * 1024

    def options(self, seat_count: int) -> st.SearchStrategy[Options]:
        """Draws options."""
        if seat_count == 1:
            return st.builds(
                Options,
                mode=st.sampled_from((None, Mode.SOLO)),
                copies=st.sampled_from((None, 1)),
                cursed_wild=st.booleans(),
                juice_masters=st.booleans(),
                complements_everywhere=st.booleans(),
            )
        copies = (None, 1, 2) if seat_count <= 10 else (None, 2)
        modes = (None, Mode.BASIC, Mode.ADVANCED, Mode.ORDERS_TO_GO_GO)
        return st.builds(Options, mode=st.sampled_from(modes), copies=st.sampled_from(copies))

    def moves_to_try(self, state: State, seat: int) -> tuple[Move, ...]:
        """Lists moves around what a seat is asked, legal and not, by nothing but what it may know."""
        return tuple(dict.fromkeys(_moves(state, seat, state.asks[seat])))

    def pieces(self, state: State) -> Counter[int]:
        """Counts the tiles, wherever they are."""
        tiles = Counter(state.pile) + Counter(state.discards)
        for seat in state.seats:
            tiles += Counter(seat.hand) + Counter(seat.stack)
            tiles += Counter(code for code in seat.grid.cells if code not in (EMPTY, MASTER))
            tiles += Counter(() if seat.block is None else (seat.block,))
        if state.automa is not None:
            tiles += Counter(state.automa.tiles) + Counter(state.automa.stack)
        return tiles

    def deals(self, event: Any) -> bool:
        """Tells that no tile ever comes from nowhere: the box is dealt once."""
        return False

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, luck: Random
    ) -> Iterator[tuple[int, int, State, list[Move]]]:
        """Rewrites each round from its start: once as long as nothing is shown, and once for a while."""
        starts = [0] + [
            at + 1
            for at, step in enumerate(steps[:-1])
            if any(isinstance(event, RoundStarted) for event in step.events)
        ]
        for first in starts:
            shows = (at for at in range(first, len(steps)) if any(True for _ in _shown(steps[at].events, SPECTATOR)))
            for last in (next(shows, first), min(len(steps), first + luck.randint(1, 40))):
                # A shuffle of the discards comes from the generator, which the viewer does not know either.
                dry = (
                    at for at in range(first, last) if any(isinstance(event, Reshuffled) for event in steps[at].events)
                )
                last = next(dry, last)
                yield first, last, *_twin(steps, first, last, viewer, luck)


# --- Moves ------------------------------------------------------------------------------------------------------------


def _around(grid: Grid) -> list[Cell]:
    """The cells on a grid, beside it and at its corners, and one far away."""
    near = {
        (row + down, column + right)
        for row, column in set(slow.lying(grid)) or {(0, 0)}
        for down, right in product((-1, 0, 1), repeat=2)
    }
    return [*(Cell(row, column) for row, column in sorted(near)), AWAY]


def _moves(state: State, seat: int, ask: int) -> Iterator[Move]:
    """Everything around what is asked, and one move of each other kind."""
    me = state.seats[seat]
    yield from (Keep(0), Place(0, AWAY), MakeJuice(Fruit.KIWI, (AWAY,), AWAY), Shift((AWAY,), 1, 0), AddBlock(AWAY))
    yield from (RemoveBlock(AWAY), Pass(), PutBlock(AWAY), DiscardAutomaTile(0))
    match ask:
        case Ask.KEEP:
            yield from (Keep(tile) for tile in (*me.hand, *STRANGE_TILES))
        case Ask.PLACE | Ask.PLACE_ONE:
            tiles = (*me.hand, me.hand[0] + 1)
            yield from (Place(tile, cell) for tile in tiles for cell in _around(me.grid))
            yield from (Place(tile, _around(me.grid)[0]) for tile in STRANGE_TILES)
        case Ask.MAKE_JUICE:
            yield from _juices(state, seat)
        case Ask.SHIFT:
            for piece in slow.pieces(slow.lying(me.grid)):
                part = _cells(piece)
                yield from (Shift(part, *way) for way in product(range(-3, 4), repeat=2))
                yield Shift(part[:-1], 1, 0)
        case Ask.BLOCK_ACTION | Ask.PUT_BLOCK:
            left = state.seats[(seat + 1) % len(state.seats)].grid
            cells = dict.fromkeys((*_around(me.grid), *_around(left)))
            yield from (kind(cell) for kind in (AddBlock, RemoveBlock, PutBlock) for cell in cells)
        case Ask.DISCARD_AUTOMA_TILE:
            yield from (DiscardAutomaTile(tile) for tile in range(-1, 70))


def _juices(state: State, seat: int) -> Iterator[MakeJuice]:
    """The groups of the bare grid, whole or not, with every fruit that is near and every tile to keep."""
    for fruit, group in slow.candidates(slow.lying(state.seats[seat].grid)):
        cells = _cells(group)
        for kept in (*cells, AWAY, None):
            yield MakeJuice(fruit, cells, kept)
        yield MakeJuice(fruit, cells[:-1], cells[0])
        yield MakeJuice(fruit, cells[::-1], cells[0])
        yield MakeJuice(Fruit(fruit % len(Fruit) + 1), cells, cells[0])


def _cells(places: Any) -> tuple[Cell, ...]:
    return tuple(Cell(*place) for place in sorted(places))


# --- Twins ------------------------------------------------------------------------------------------------------------


def _shown(events: Sequence[Any], viewer: Viewer) -> Iterator[int]:
    """The tiles out of hands and pile that a viewer gets to know."""
    for event in events:
        match view_event(event, viewer):
            case Placed(_, tile) | AutomaTook(tile) | Discarded(tile):
                yield tile
            case PassedOn(_, _, tile) if tile is not None:
                yield tile
            case Drawn(_, _, tiles):
                yield from tiles


def _twin(steps: "Sequence[Step]", first: int, last: int, viewer: Viewer, luck: Random) -> tuple[State, list[Move]]:
    """Exchanges all tiles in other hands and in the pile, and all orders, that the viewer does not get to know."""
    before: State = steps[first].before
    seats = len(before.seats)
    hidden = set(before.pile)
    for number, seat in enumerate(before.seats):
        if number != viewer:
            hidden |= set(seat.hand)
            if (number + 1) % seats == viewer and seat.received is not None:
                hidden.discard(seat.received)
    stretch = steps[first:last]
    for step in stretch:
        hidden -= set(_shown(step.events, viewer))
    names = sorted(hidden)
    luck.shuffle(names)
    exchange = dict(zip(sorted(hidden), names, strict=True))

    def other(tile: Any) -> Any:
        return exchange.get(tile, tile)

    revealed = 1 + sum(isinstance(event, OrderRevealed) for step in stretch for event in step.events)
    orders = list(before.orders[revealed:])
    luck.shuffle(orders)
    twin = msgspec.structs.replace(
        before,
        rng=Rng(luck.randbytes(SEED_BYTES), luck.randrange(1000)),
        pile=bytes(other(tile) for tile in before.pile),
        orders=before.orders[:revealed] + bytes(orders),
        seats=tuple(
            msgspec.structs.replace(
                seat,
                hand=bytes(sorted(other(tile) for tile in seat.hand)),
                passing=other(seat.passing),
                received=other(seat.received),
            )
            for seat in before.seats
        ),
    )
    moves = [Keep(other(step.move.tile)) if isinstance(step.move, Keep) else step.move for step in stretch]
    return twin, moves
