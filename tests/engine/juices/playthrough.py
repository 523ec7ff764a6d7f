"""The golden games of Juices (see `tests.engine.golden`), with drawings of the grids."""

from collections.abc import Iterator
from random import Random
from typing import Any, Final

from engine.juices import JUICES
from engine.juices.components import TILES, Mode
from engine.juices.events import BlockAdded, BlockRemoved, Event, PartMoved, RoundStarted, TilesLeft
from engine.juices.grid import MASTER
from engine.juices.state import Ask, Options, Place, State
from tests.engine.golden import Golden
from tests.engine.juices import reference_grid

GAMES: Final = {
    "three-seats-advanced": Golden(Options(mode=Mode.ADVANCED), 3, 113),
    "two-seats-orders": Golden(Options(mode=Mode.ORDERS_TO_GO_GO), 2, 66),
    "solo-all-modules": Golden(
        Options(mode=Mode.SOLO, cursed_wild=True, juice_masters=True, complements_everywhere=True), 1, 79
    ),
}
"""The seeds were chosen for the variety of events."""

SNAPSHOT: Final = "three-seats-advanced"


def fullness(state: State) -> tuple[int, int]:
    """Return how much of a state is in use: most of it when a seat makes its second juice late in the game."""
    return sum(len(seat.making) for seat in state.seats), state.round


def act(state: State, random: Random) -> tuple[int, Any]:
    """Return a seat and a move that leads to juices."""
    seat = random.choice(JUICES.to_act(state))
    return seat, choose(state, seat, random)


def choose(state: State, seat: int, random: Random) -> Any:
    """Return a random move, or mostly a placement that extends the largest group of a fruit."""
    moves = JUICES.legal_moves(state, seat)
    places = [move for move in moves if isinstance(move, Place)]
    if not places or random.random() < 0.15:
        return random.choice(moves)
    lying = reference_grid.contents(state.seats[seat].grid)

    def gain(move: Place) -> float:
        around = reference_grid.neighbors((move.cell.row, move.cell.column))
        beside = [
            TILES[code] for place, (code, block) in lying.items() if place in around and code != MASTER and not block
        ]
        shared = sum(bool(set(TILES[move.tile].fruits) & set(tile.fruits)) or tile.wild for tile in beside)
        return shared + random.random()

    return max(places, key=gain)


def lines(state: State, event: Event) -> Iterator[str]:
    """Yield the lines for an event, and the preferred fruits before the first round."""
    if isinstance(event, RoundStarted):
        if event.round == 1:
            for number, seat in enumerate(state.seats):
                if seat.preferred is not None:
                    yield f"  seat {number} prefers {seat.preferred.title}"
            if state.automa is not None and state.automa.preferred is not None:
                yield f"  the Automa prefers {state.automa.preferred.title}"
        yield ""
    yield f"  {JUICES.describe(event)}"


_CHANGES_OF_GRIDS: Final = (TilesLeft, PartMoved, BlockAdded, BlockRemoved)


def picture(state: State, seat: int, events: tuple[Event, ...]) -> Iterator[str]:
    """Yield a drawing of the grid about which the seat must decide, or of the grids that have changed."""
    if state.asks[seat] in (Ask.MAKE_JUICE, Ask.SHIFT):
        yield from _grids(state, {seat})
    else:
        yield from _grids(state, {event.seat for event in events if isinstance(event, _CHANGES_OF_GRIDS)})


_SHORT: Final = 7


def _grids(state: State, seats: set[int]) -> Iterator[str]:
    """Yield drawings of the grids of seats."""
    for seat in sorted(seats):
        lying = reference_grid.contents(state.seats[seat].grid)
        if not lying:
            yield f"    seat {seat}: nothing"
            continue
        rows, columns = ({place[axis] for place in lying} for axis in (0, 1))
        yield f"    seat {seat}, from ({min(rows)}, {min(columns)}):"
        for row in range(min(rows), max(rows) + 1):
            words = [_word(lying.get((row, column))) for column in range(min(columns), max(columns) + 1)]
            yield f"      {' '.join(words)}".rstrip()


def _word(thing: tuple[int, bool] | None) -> str:
    if thing is None:
        return "." + " " * (_SHORT - 1)
    code, block = thing
    if code == MASTER:
        return "Master".ljust(_SHORT)
    tile = TILES[code]
    name = "".join(fruit.title[:2] for fruit in tile.fruits) or "wild"
    if tile.complement is not None:
        name += tile.complement.title[:2].upper()
    return (f"[{name}]" if block else name).ljust(_SHORT)
