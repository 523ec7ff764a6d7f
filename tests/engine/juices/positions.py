"""Positions of Juices for tests, written in a few words.

Tiles are written in the notation of `engine.juices.notation`: `apki`, `ap!`, `ap*`, `w1`. A grid is drawn row by row:
`.` is an empty cell, `M` the Juice Master, `[apki]` a Block. The master lies at (0, 0). Without a master, the first
occupied cell does.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from engine.game import Game
from engine.juices import JUICES
from engine.juices.components import Complement, Fruit, Mode, box, tile_code
from engine.juices.events import Event
from engine.juices.grid import MASTER, Cell, Grid
from engine.juices.mutable_state import MutableState
from engine.juices.notation import parse_tile
from engine.juices.phases import runner, sequences
from engine.juices.phases.sequences import TURN
from engine.juices.setup import WITH_MASTER
from engine.juices.state import Automa, Keep, MakeJuice, Move, Options, Phase, Place, Seat, State, Step
from engine.juices.view import View
from engine.rng import SEED_BYTES, Rng
from tests.engine.juices import reference_grid

GAME: Final[Game[Options, State, Move, Event, View]] = JUICES
E = TypeVar("E")

ROUND: Final = sequences.ROUND[sequences.ROUND.index(Phase.PLACE) :]
"""The phases of a round after the tiles have been passed."""


def seed(number: int) -> Rng:
    """Return the generator with this number as its seed."""
    return Rng(number.to_bytes(SEED_BYTES, "big"))


def new(seat_count: int = 3, options: Options | None = None, number: int = 0) -> State:
    """Return the state at the start of a game."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[0]


def opening(seat_count: int = 3, options: Options | None = None, number: int = 0) -> tuple[Event, ...]:
    """Return the events at the start of a game."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[1]


# --- Tiles and grids --------------------------------------------------------------------------------------------------


def tile(name: str) -> int:
    """Return a tile's number."""
    return parse_tile(name)


def tiles(text: str) -> bytes:
    """Return tiles in the order written."""
    return bytes(tile(word) for word in text.split())


def grid(*rows: str) -> Grid:
    """Return the grid that is drawn."""
    things: dict[tuple[int, int], tuple[int, bool]] = {}
    for row, words in enumerate(rows):
        for column, word in enumerate(words.split()):
            if word != ".":
                code = MASTER if word == "M" else tile(word.strip("[]"))
                things[row, column] = code, word.startswith("[")
    masters = [place for place, (code, _) in things.items() if code == MASTER]
    down, right = masters[0] if masters else min(things)
    return reference_grid.grid_with({(row - down, column - right): thing for (row, column), thing in things.items()})


FULL: Final = grid("M apwa orpi apor", "bawa apst lepe kist", "leor kile bape appi", "pepi apgr piwa orpe")
"""A complete grid without a juice, of tiles with two fruits."""
ROOM_FOR_ONE: Final = grid("M apwa orpi apor", "bawa apst lepe kist", "leor kile bape appi", "pepi apgr piwa .")


def cell(row: int, column: int) -> Cell:
    """Return a cell."""
    return Cell(row, column)


def shown(state: State, seat: int = 0) -> dict[tuple[int, int], str]:
    """Return the contents of a seat's grid, in the notation."""
    contents = reference_grid.contents(state.seats[seat].grid)
    names = {place: "M" if code == MASTER else tile_code(code) for place, (code, _) in contents.items()}
    return {place: f"[{names[place]}]" if block else names[place] for place, (_, block) in contents.items()}


# --- Games ------------------------------------------------------------------------------------------------------------


def position(
    *grids: Grid | None,
    hands: Sequence[str] = (),
    pile: str = "",
    deep: bool = True,
    discards: str = "",
    mode: Mode = Mode.BASIC,
    phases: Iterable[Phase] = ROUND,
    juices: Sequence[int] = (),
    stacks: Sequence[str] = (),
    preferred: Sequence[Fruit] = (),
    actions: Sequence[int] = (),
    fresh: Sequence[str] = (),
    effects: Sequence[Sequence[Complement]] = (),
    orders: Sequence[Fruit] = (),
    automa: str = "",
    automas_fruit: Fruit | None = None,
    options: Options | None = None,
    number: int = 0,
) -> tuple[State, tuple[Event, ...]]:
    """Return the state at the first decision after the start of a phase, and the events until then.

    Args:
        grids: by seat; None for a grid with only a master, or for an empty grid with orders.
        hands: by seat. This and all following sequences can omit the last seats.
        pile: the tiles on top of the pile, the next one first.
        deep: whether all remaining tiles lie below them.
        discards: the discards.
        mode: the mode of play.
        phases: the phases to come, the next one first.
        juices: the numbers of juices.
        stacks: the tiles kept for juices.
        preferred: the preferred fruits.
        actions: the remaining Block actions.
        fresh: the tiles that can become Blocks.
        effects: the complements that have not taken effect.
        orders: the active order and the following ones.
        automa: the Automa's tiles.
        automas_fruit: its preferred fruit.
        options: the options of the state; only the mode by default.
        number: the number of the seed.
    """

    def of(items: Sequence[E], seat: int, default: E) -> E:
        return items[seat] if seat < len(items) else default

    bare = Grid() if mode == Mode.ORDERS_TO_GO_GO else WITH_MASTER
    seats = tuple(
        Seat(
            grid=bare if given is None else given,
            hand=bytes(sorted(tiles(of(hands, seat, "")))),
            juices=of(juices, seat, 0),
            stack=tiles(of(stacks, seat, "")),
            preferred=preferred[seat] if preferred else None,
            actions=of(actions, seat, 0),
            fresh=bytes(sorted(tiles(of(fresh, seat, "")))),
            effects=bytes(of(effects, seat, ())),
        )
        for seat, given in enumerate(grids)
    )
    used = {*tiles(pile), *tiles(discards), *tiles(automa)}
    for seat in seats:
        used |= {*seat.grid.cells, *seat.hand, *seat.stack}
    rest = [each for each in box(1) if each not in used] if deep else []
    opponent = Automa(bytes(sorted(tiles(automa))), preferred=automas_fruit) if mode == Mode.SOLO else None
    state = State(
        options=options or Options(mode=mode),
        mode=mode,
        rng=seed(number),
        round=1,
        agenda=tuple(Step(phase) for phase in reversed(tuple(phases))),
        asks=bytes(len(seats)),
        seats=seats,
        pile=bytes(rest) + tiles(pile)[::-1],
        discards=bytes(sorted(tiles(discards))),
        orders=bytes(orders),
        order_met=False,
        last_round=False,
        automa=opponent,
    )
    started = MutableState(state)
    runner.run(started)
    return started.freeze(), tuple(started.events)


def do(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Make a move."""
    return GAME.apply(state, seat, move)


def keep(state: State, seat: int, name: str) -> tuple[State, tuple[Event, ...]]:
    """Keep a tile."""
    return do(state, seat, Keep(tile(name)))


def place(state: State, name: str, row: int, column: int, seat: int = 0) -> tuple[State, tuple[Event, ...]]:
    """Place a tile."""
    return do(state, seat, Place(tile(name), Cell(row, column)))


def juice(
    state: State, fruit: Fruit, kept: tuple[int, int] | None = None, seat: int = 0
) -> tuple[State, tuple[Event, ...]]:
    """Make the only possible juice of a fruit. Keep the tile at `kept`, or any tile if it is None."""
    moves = [move for move in legal(state, seat, MakeJuice) if move.fruit == fruit]
    assert len({move.cells for move in moves}) == 1
    chosen = [move for move in moves if kept is None or move.kept == Cell(*kept)]
    return do(state, seat, chosen[0])


def legal(state: State, seat: int, kind: type[E]) -> list[E]:
    """Return the legal moves of a kind."""
    return [move for move in GAME.legal_moves(state, seat) if isinstance(move, kind)]


def only(events: Iterable[Event], kind: type[E]) -> E:
    """Return the only event of a kind."""
    (event,) = all_of(events, kind)
    return event


def all_of(events: Iterable[Event], kind: type[E]) -> list[E]:
    """Return all events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def finish(state: State, pick: Any = None) -> tuple[State, list[Event]]:
    """Play to the end, with the last legal moves or those that `pick` returns."""
    all_events: list[Event] = []
    while awaited := GAME.to_act(state):
        moves = GAME.legal_moves(state, awaited[0])
        state, events = GAME.apply(state, awaited[0], pick(moves) if pick else moves[-1])
        all_events += events
    return state, all_events


# --- Solo -------------------------------------------------------------------------------------------------------------


def turn(
    pile: str, mine: Grid | None = None, automa: str = "", automas_fruit: Fruit | None = None, **known: object
) -> tuple[State, tuple[Event, ...]]:
    """Return the first decision in a turn of Solo."""
    return position(
        mine,
        mode=Mode.SOLO,
        phases=TURN,
        pile=pile,
        automa=automa,
        automas_fruit=automas_fruit,
        **known,  # type: ignore[arg-type]
    )


def may_be_placed(state: State) -> set[int]:
    """Return the tiles that the seat of Solo may place."""
    return {move.tile for move in legal(state, 0, Place)}


def automas_tiles(state: State) -> bytes:
    """Return the tiles of the Automa."""
    assert state.automa is not None
    return state.automa.tiles
