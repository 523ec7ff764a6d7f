"""Games in the middle, written down in a few words.

A tile is written by the first two letters of its fruits: `apki` is apple-kiwi, `ap!` is apple with chili, `ap*` apple
with coffee, `w1` to `w4` are the wilds; the second copy's have a prime: `apki'`. A grid is drawn row by row; `.` is an
empty cell, `M` the Juice Master, `[apki]` a Block. Unless it is told otherwise the master lies at (0, 0), and where
there is none the first cell drawn does.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

from engine.game import Game
from engine.juices import JUICES
from engine.juices.components import PER_COPY, TILES, Complement, Fruit, Mode, box
from engine.juices.events import Event
from engine.juices.grid import MASTER, Cell, Grid
from engine.juices.mutable_state import MutableState
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
"""A round from the moment when the tiles have been passed on."""


def seed(number: int) -> Rng:
    """A generator for each number."""
    return Rng(number.to_bytes(SEED_BYTES, "big"))


def new(seat_count: int = 3, options: Options | None = None, number: int = 0) -> State:
    """A game that has just been dealt."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[0]


def opening(seat_count: int = 3, options: Options | None = None, number: int = 0) -> tuple[Event, ...]:
    """What happens when it is dealt."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[1]


# --- Tiles and grids --------------------------------------------------------------------------------------------------


def _names() -> dict[str, int]:
    marks = {None: "", Complement.CHILI: "!", Complement.COFFEE: "*"}
    names = {}
    for number, shown in enumerate(TILES):
        name = "".join(fruit.name[:2].lower() for fruit in shown.fruits) + marks[shown.complement]
        if shown.wild:
            name = f"w{number % PER_COPY - PER_COPY + 5}"
        names[name + "'" * (number >= PER_COPY)] = number
    return names


NAMES: Final = _names()


def tile(name: str) -> int:
    """A tile's number."""
    return NAMES[name]


def tiles(text: str) -> bytes:
    """Tiles, in the order written."""
    return bytes(tile(word) for word in text.split())


def grid(*rows: str) -> Grid:
    """Draws a grid."""
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
    """A cell."""
    return Cell(row, column)


def shown(state: State, seat: int = 0) -> dict[tuple[int, int], str]:
    """What lies on a grid, in the words of this module."""
    names = {number: name for name, number in NAMES.items()} | {MASTER: "M"}
    lying = reference_grid.contents(state.seats[seat].grid)
    return {place: f"[{names[code]}]" if block else names[code] for place, (code, block) in lying.items()}


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
    """A game at the beginning of a phase, and what happens until somebody is asked something.

    Args:
        grids: by seat; None for a master alone, or for nothing where there are orders.
        hands: what the seats hold, by seat; this and what follows may leave the last seats out.
        pile: the tiles on top of the pile, the first one to be drawn first.
        deep: whether all tiles that are nowhere else lie below them.
        discards: the discards.
        mode: how the game is played.
        phases: those to come, the next one first.
        juices: how many the seats have.
        stacks: the tiles kept for them.
        preferred: preferred fruits.
        actions: Block actions to come.
        fresh: the tiles by which Blocks are added.
        effects: complements to come.
        orders: the active order and those to come.
        automa: the Automa's tiles.
        automas_fruit: its preferred fruit.
        options: the options, where they matter.
        number: which seed.
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
    began = MutableState(state)
    runner.run(began)
    return began.freeze(), tuple(began.events)


def do(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Makes a move."""
    return GAME.apply(state, seat, move)


def keep(state: State, seat: int, name: str) -> tuple[State, tuple[Event, ...]]:
    """Keeps a tile."""
    return do(state, seat, Keep(tile(name)))


def place(state: State, name: str, row: int, column: int, seat: int = 0) -> tuple[State, tuple[Event, ...]]:
    """Places a tile."""
    return do(state, seat, Place(tile(name), Cell(row, column)))


def juice(
    state: State, fruit: Fruit, kept: tuple[int, int] | None = None, seat: int = 0
) -> tuple[State, tuple[Event, ...]]:
    """Makes the only juice of a fruit, keeping the tile at a place or any."""
    moves = [move for move in legal(state, seat, MakeJuice) if move.fruit == fruit]
    assert len({move.cells for move in moves}) == 1
    chosen = [move for move in moves if kept is None or move.kept == Cell(*kept)]
    return do(state, seat, chosen[0])


def legal(state: State, seat: int, kind: type[E]) -> list[E]:
    """The legal moves of a kind."""
    return [move for move in GAME.legal_moves(state, seat) if isinstance(move, kind)]


def only(events: Iterable[Event], kind: type[E]) -> E:
    """The only event of a kind."""
    (event,) = all_of(events, kind)
    return event


def all_of(events: Iterable[Event], kind: type[E]) -> list[E]:
    """All events of a kind."""
    return [event for event in events if isinstance(event, kind)]


def finish(state: State, pick: Any = None) -> tuple[State, list[Event]]:
    """Plays on to the end, with the last legal move or whichever is picked."""
    told: list[Event] = []
    while awaited := GAME.to_act(state):
        moves = GAME.legal_moves(state, awaited[0])
        state, events = GAME.apply(state, awaited[0], pick(moves) if pick else moves[-1])
        told += events
    return state, told


# --- Solo -------------------------------------------------------------------------------------------------------------


def turn(
    pile: str, mine: Grid | None = None, automa: str = "", automas_fruit: Fruit | None = None, **known: object
) -> tuple[State, tuple[Event, ...]]:
    """A turn of Solo from its start."""
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
    """The tiles that the seat of Solo may place."""
    return {move.tile for move in legal(state, 0, Place)}


def automas_tiles(state: State) -> bytes:
    """The tiles before the Automa."""
    assert state.automa is not None
    return state.automa.tiles
