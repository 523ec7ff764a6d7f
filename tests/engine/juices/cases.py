"""The cases of Juices for the conformance tests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from engine.game import SPECTATOR, Viewer
from engine.juices.components import Fruit, Mode
from engine.juices.events import AutomaTook, Discarded, Drawn, OrderRevealed, PassedOn, Placed, Reshuffled, RoundStarted
from engine.juices.grid import EMPTY, MASTER, Cell, Grid, openings
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
from tests.engine.juices import reference_grid

if TYPE_CHECKING:
    from tests.engine.plays import Step

AWAY = Cell(9, -9)
STRANGE_TILES = (0, 68, 137, 138, 255, -1)


class JuicesCases:
    """Implements `tests.engine.cases.Cases`."""

    max_moves = 2000
    max_bytes = 3 * 1024

    def options(self, seat_count: int, random: Random) -> Options:
        """Return random options."""
        if seat_count == 1:
            modules = [random.random() < 0.5 for _ in range(3)]
            return Options(random.choice((None, Mode.SOLO)), random.choice((None, 1)), *modules)
        copies = (None, 1, 2) if seat_count <= 10 else (None, 2)
        modes = (None, Mode.BASIC, Mode.ADVANCED, Mode.ORDERS_TO_GO_GO)
        return Options(mode=random.choice(modes), copies=random.choice(copies))

    def moves_to_try(self, state: State, seat: int) -> tuple[Move, ...]:
        """Return legal and illegal moves near the seat's decision. They do not depend on hidden information."""
        return tuple(dict.fromkeys(_moves(state, seat, state.asks[seat])))

    def pieces(self, state: State) -> Counter[int]:
        """Count the tiles at all locations: pile, hands, grids, stacks and discards."""
        tiles = state.pile + state.discards
        for seat in state.seats:
            tiles += seat.hand + seat.stack + seat.grid.cells.translate(None, bytes((EMPTY, MASTER)))
            tiles += b"" if seat.block is None else bytes((seat.block,))
        if state.automa is not None:
            tiles += state.automa.tiles + state.automa.stack
        return Counter(tiles)

    def deals(self, event: Any) -> bool:
        """Return False: all tiles are in the state from the start."""
        return False

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, random: Random
    ) -> Iterator[tuple[int, int, State, list[Move]]]:
        """Yield each round twice: up to the first tile that is revealed, and for a random number of moves."""
        starts = [0] + [
            at + 1
            for at, step in enumerate(steps[:-1])
            if any(isinstance(event, RoundStarted) for event in step.events)
        ]
        for first in random.sample(starts, min(len(starts), 6)):
            reveals = (at for at in range(first, len(steps)) if any(True for _ in _shown(steps[at].events, SPECTATOR)))
            for last in (next(reveals, first), min(len(steps), first + random.randint(1, 40))):
                last = next((at for at in range(first, last) if _depends_on_hidden_information(steps[at])), last)
                yield first, last, *_twin(steps, first, last, viewer, random)


# --- Moves ------------------------------------------------------------------------------------------------------------


def _around(grid: Grid) -> list[Cell]:
    """Return the cells of a grid, the cells around it, and one far away."""
    near = {
        (row + down, column + right)
        for row, column in set(reference_grid.contents(grid)) or {(0, 0)}
        for down, right in product((-1, 0, 1), repeat=2)
    }
    return [*(Cell(row, column) for row, column in sorted(near)), AWAY]


def _moves(state: State, seat: int, ask: int) -> Iterator[Move]:
    """Yield all moves near the decision, and one move of each other kind."""
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
            for piece in reference_grid.pieces(reference_grid.contents(me.grid)):
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
    """Yield the groups of the grid, whole or not, with possible and impossible fruits and all tiles to keep."""
    me = state.seats[seat]
    contents = reference_grid.contents(me.grid)
    juices = [(juice.fruit, set(reference_grid.places(me.grid, juice.mask))) for juice in me.making]
    for fruit, group in sorted(
        reference_grid.candidates(contents) | reference_grid.candidates(contents, juices), key=str
    ):
        cells = _cells(group)
        for kept in (*cells, AWAY, None):
            yield MakeJuice(fruit, cells, kept)
        yield MakeJuice(fruit, cells[:-1], cells[0])
        yield MakeJuice(fruit, cells[::-1], cells[0])
        yield MakeJuice(Fruit(fruit % len(Fruit) + 1), cells, cells[0])


def _cells(places: Any) -> tuple[Cell, ...]:
    return tuple(Cell(*place) for place in sorted(places))


# --- Twins ------------------------------------------------------------------------------------------------------------


def _depends_on_hidden_information(step: "Step") -> bool:
    """Return whether the public result of a step can differ in a twin.

    A shuffle of the discards depends on the generator. In Solo with one empty cell, the drawn tiles decide whether the
    seat has a choice.
    """
    after: State = step.after
    forced = after.asks[0] == Ask.PLACE_ONE and len(openings(after.seats[0].grid)) == 1
    return forced or any(isinstance(event, Reshuffled) for event in step.events)


def _shown(events: Sequence[Any], viewer: Viewer) -> Iterator[int]:
    """Yield the tiles from hands and the pile that events reveal to a viewer."""
    for event in events:
        match view_event(event, viewer):
            case Placed(_, tile) | AutomaTook(tile) | Discarded(tile):
                yield tile
            case PassedOn(_, _, tile) if tile is not None:
                yield tile
            case Drawn(_, _, tiles):
                yield from tiles


def _twin(steps: "Sequence[Step]", first: int, last: int, viewer: Viewer, random: Random) -> tuple[State, list[Move]]:
    """Return a stretch in which all tiles and orders that stay hidden from the viewer are replaced."""
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
    random.shuffle(names)
    replacements = dict(zip(sorted(hidden), names, strict=True))

    def other(tile: Any) -> Any:
        return replacements.get(tile, tile)

    revealed = 1 + sum(isinstance(event, OrderRevealed) for step in stretch for event in step.events)
    orders = list(before.orders[revealed:])
    random.shuffle(orders)
    twin = msgspec.structs.replace(
        before,
        rng=Rng(random.randbytes(SEED_BYTES), random.randrange(1000)),
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
