"""What a viewer may know of a game of Juices.

Only `view` and `view_event` turn a state or an event into something for a viewer. They copy what the viewer may know,
and nothing else. Hidden are the order of the pile and of the order pile, and a seat's hand from all other seats. A
passed tile is known to the seat that passed it and the seat that received it (JU-D1). All other information is public.
"""

from functools import lru_cache
from typing import Final

from msgspec.structs import replace

from engine.game import SPECTATOR, Viewer
from engine.juices.components import Complement, Fruit, Mode
from engine.juices.events import Drawn, Event, Kept, PassedOn
from engine.juices.grid import MASTER, Cell, Grid, Juice, cells_of, filled, tiles_of
from engine.juices.state import Ask, Automa, Phase, Seat, State
from engine.value import Name, Value


class Content(Name):
    """The content of a cell. The numbers are those of the API."""

    TILE = 1
    BLOCK = 2
    MASTER = 3


class GridCell(Value, frozen=True):
    """An occupied cell. `tile` is the tile, also for a Block: it came from the discards, which are public."""

    cell: Cell
    content: Content
    tile: int | None


class JuiceInMaking(Value, frozen=True):
    """A juice of the current scoring, and the tile kept for it, if any."""

    fruit: Fruit
    cells: tuple[Cell, ...]
    kept: int | None


class SeatView(Value, frozen=True, cache_hash=True):
    """What a viewer may know of a seat.

    Attributes:
        seat: the seat's number.
        asked: the decision that it must make.
        grid: the occupied cells, in reading order.
        tiles_in_hand: the number of tiles in its hand.
        hand: the tiles of the hand that the viewer knows, sorted.
        keeps: in the draft, once it has chosen: the tile that it keeps, if the viewer may know it.
        juices: the number of juices it has scored.
        stack: the tiles kept for them, in order.
        preferred_fruit: where masters show their fruit.
        making: the juices of the current scoring.
        block_actions: its remaining Block actions.
        complements: the complements of its juices that have not taken effect yet, in order.
        block: the tile that it must put on its grid as a Block.
    """

    seat: int
    asked: Ask
    grid: tuple[GridCell, ...]
    tiles_in_hand: int
    hand: tuple[int, ...]
    keeps: int | None
    juices: int
    stack: tuple[int, ...]
    preferred_fruit: Fruit | None
    making: tuple[JuiceInMaking, ...]
    block_actions: int
    complements: tuple[Complement, ...]
    block: int | None


class AutomaView(Value, frozen=True):
    """The Automa: its tiles, its juices, the tiles kept for them, and its preferred fruit where masters show it."""

    tiles: tuple[int, ...]
    juices: int
    stack: tuple[int, ...]
    preferred_fruit: Fruit | None


class View(Value, frozen=True):
    """What a viewer may know.

    Attributes:
        mode: the mode of play.
        round: the current round, or turn of Solo, from 1.
        last_round: whether the game ends with this round because a tile could not be placed.
        active_order: the fruit whose juices score, in Orders to Go-Go.
        orders_left: the number of orders after it.
        order_met: whether the active order has been met in this round.
        pile_size: the number of tiles in the pile.
        discards: the discards, sorted.
        seats: by number.
        automa: the opponent in Solo.
    """

    mode: Mode
    round: int
    last_round: bool
    active_order: Fruit | None
    orders_left: int
    order_met: bool
    pile_size: int
    discards: tuple[int, ...]
    seats: tuple[SeatView, ...]
    automa: AutomaView | None


def view(state: State, viewer: Viewer) -> View:
    """Return what the viewer may know of the state."""
    count = len(state.seats)
    receiver = (viewer - 1) % count if viewer is not SPECTATOR and 0 <= viewer < count else None
    seats = [
        _seat(seat, shown, ask, seat == viewer, seat == receiver)
        for seat, (shown, ask) in enumerate(zip(state.seats, state.asks, strict=True))
    ]
    for step in reversed(state.agenda):  # the last step comes first
        if step.seat is not None and step.phase in _COMPLEMENTS:
            seats[step.seat] = _with_complement(seats[step.seat], _COMPLEMENTS[step.phase])
    return View(
        mode=state.mode,
        round=state.round,
        last_round=state.last_round,
        active_order=Fruit(state.orders[0]) if state.orders else None,
        orders_left=max(len(state.orders) - 1, 0),
        order_met=state.order_met,
        pile_size=len(state.pile),
        discards=tuple(state.discards),
        seats=tuple(seats),
        automa=None if state.automa is None else _automa(state.automa),
    )


@lru_cache(maxsize=1 << 14)  # a move changes few seats
def _seat(number: int, seat: Seat, ask: int, own: bool, of_right_neighbor: bool) -> SeatView:
    """Return what a viewer may know of a seat. The viewer is the seat itself, its right neighbor, or another.

    The complements are those that are not on the agenda yet: of the newest juices, they take effect first (JU-X3).
    """
    hand: tuple[int, ...] = ()
    keeps = None
    if own:
        hand = tuple(seat.hand)
        keeps = next((tile for tile in hand if tile != seat.passing), None) if seat.passing is not None else None
    elif of_right_neighbor and seat.received is not None:
        hand = (seat.received,)
    return SeatView(
        seat=number,
        asked=Ask(ask),
        grid=_grid(seat.grid),
        tiles_in_hand=len(seat.hand),
        hand=hand,
        keeps=keeps,
        juices=seat.juices,
        stack=tuple(seat.stack),
        preferred_fruit=seat.preferred,
        making=tuple(_in_making(seat.grid, juice) for juice in seat.making),
        block_actions=seat.actions,
        complements=tuple(Complement(effect) for effect in seat.effects),
        block=seat.block,
    )


_COMPLEMENTS: Final = {Phase.CHILI: Complement.CHILI, Phase.COFFEE: Complement.COFFEE}
"""The complements by the phases in which they take effect."""


@lru_cache(maxsize=1024)
def _with_complement(seat: SeatView, complement: Complement) -> SeatView:
    """Return a seat with a complement that takes effect after the others."""
    return replace(seat, complements=(*seat.complements, complement))


@lru_cache(maxsize=1 << 14)
def _grid(grid: Grid) -> tuple[GridCell, ...]:
    mask = filled(grid)
    blocks = set(cells_of(grid, grid.blocks))
    shown = []
    for cell, code in zip(cells_of(grid, mask), tiles_of(grid, mask), strict=True):
        if code == MASTER:
            shown.append(GridCell(cell, Content.MASTER, None))
        else:
            shown.append(GridCell(cell, Content.BLOCK if cell in blocks else Content.TILE, code))
    return tuple(shown)


def _in_making(grid: Grid, juice: Juice) -> JuiceInMaking:
    return JuiceInMaking(juice.fruit, cells_of(grid, juice.mask), juice.kept)


def _automa(automa: Automa) -> AutomaView:
    return AutomaView(tuple(automa.tiles), automa.juices, tuple(automa.stack), automa.preferred)


def view_event(event: Event, viewer: Viewer) -> Event:
    """Return an event without the tiles that others drew, kept or passed (JU-D1)."""
    match event:
        case Drawn(seat, size) if seat != viewer:
            return Drawn(seat, size, ())
        case Kept(seat) if seat != viewer:
            return Kept(seat, None)
        case PassedOn(seat, to_seat) if viewer not in (seat, to_seat):
            return PassedOn(seat, to_seat, None)
    return event
