"""Golden games: whole games as text for people to check against the rules, and a snapshot that every release must read.

After a change that is meant, write them anew and read the difference:

    python -m tests.engine.juices.playthrough
"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any, Final

from engine.codec import Codec
from engine.juices import JUICES
from engine.juices.components import TILES, Mode
from engine.juices.events import BlockAdded, BlockRemoved, Event, PartMoved, RoundStarted, TilesLeft
from engine.juices.grid import MASTER
from engine.juices.state import Ask, Options, Place, State
from engine.rng import Rng
from tests.engine.juices import slow_grid as slow

GOLDEN: Final = Path(__file__).parent / "golden"
SEED: Final = bytes(range(32))

GAMES: Final = {
    "three-seats-advanced": (Options(mode=Mode.ADVANCED), 3, 113),
    "two-seats-orders": (Options(mode=Mode.ORDERS_TO_GO_GO), 2, 66),
    "solo-all-modules": (
        Options(mode=Mode.SOLO, cursed_wild=True, juice_masters=True, complements_everywhere=True),
        1,
        79,
    ),
}
"""The golden games by their file's name: options, number of seats, and the luck that picks the moves."""

_SHORT: Final = 7


def choose(state: State, seat: int, luck: Random) -> Any:
    """Picks a move: a place that makes the largest group of a fruit, more often than not; else any."""
    moves = JUICES.legal_moves(state, seat)
    places = [move for move in moves if isinstance(move, Place)]
    if not places or luck.random() < 0.15:
        return luck.choice(moves)
    lying = slow.lying(state.seats[seat].grid)

    def promise(move: Place) -> float:
        around = slow.neighbours((move.cell.row, move.cell.column))
        beside = [
            TILES[code] for place, (code, block) in lying.items() if place in around and code != MASTER and not block
        ]
        shared = sum(bool(set(TILES[move.tile].fruits) & set(tile.fruits)) or tile.wild for tile in beside)
        return shared + luck.random()

    return max(places, key=promise)


def playthrough(name: str) -> str:
    """Plays a golden game and tells it."""
    options, seat_count, luck = GAMES[name]
    return "\n".join(_tell(options, seat_count, Random(luck))) + "\n"


def snapshot() -> bytes:
    """Encodes a state that uses much of a snapshot: an advanced game in which a seat is making its second juice."""
    options, seat_count, luck = GAMES["three-seats-advanced"]
    states = _states(options, seat_count, Random(luck))
    state = max(
        (state for state in states if JUICES.to_act(state)),
        key=lambda state: (sum(len(seat.making) for seat in state.seats), state.round),
    )
    return Codec(JUICES).encode_snapshot(state)


def shown(state: State) -> str:
    """A state as text, one field a line."""
    return "".join(f"{field} = {getattr(state, field)!r}\n" for field in state.__struct_fields__)


def _states(options: Options, seat_count: int, luck: Random) -> Iterator[State]:
    state, _ = JUICES.new_game(options, seat_count, Rng(SEED))
    yield state
    while awaited := JUICES.to_act(state):
        seat = luck.choice(awaited)
        state, _ = JUICES.apply(state, seat, choose(state, seat, luck))
        yield state


def _tell(options: Options, seat_count: int, luck: Random) -> Iterator[str]:
    yield "# A golden game of Juices. Written anew by: python -m tests.engine.juices.playthrough"
    yield f"# {options}, {seat_count} seats"
    state, events = JUICES.new_game(options, seat_count, Rng(SEED))
    for number, dealt in enumerate(state.seats):
        if dealt.preferred is not None:
            yield f"# seat {number} prefers {dealt.preferred.title}"
    if state.automa is not None and state.automa.preferred is not None:
        yield f"# the Automa prefers {state.automa.preferred.title}"
    yield from _tell_events(state, events)
    while awaited := JUICES.to_act(state):
        seat = luck.choice(awaited)
        moves = JUICES.legal_moves(state, seat)
        move = choose(state, seat, luck)
        yield f"seat {seat}, {len(moves)} legal moves: {JUICES.label(move)}"
        state, events = JUICES.apply(state, seat, move)
        yield from _tell_events(state, events)
        if state.asks[seat] in (Ask.MAKE_JUICE, Ask.SHIFT):
            yield from _grids(state, {seat})
        else:
            yield from _grids(state, {event.seat for event in events if isinstance(event, _MOVES_THINGS)})
    score = JUICES.score(state)
    yield ""
    yield f"== {score.note} =="
    for standing in score.seats:
        yield f"seat {standing.seat}: {standing.total} juices, rank {standing.rank}, {standing.tie_breakers}"
        for line in standing.lines:
            yield f"  {line.label}: {line.points}"


_MOVES_THINGS: Final = (TilesLeft, PartMoved, BlockAdded, BlockRemoved)


def _tell_events(state: State, events: tuple[Event, ...]) -> Iterator[str]:
    for event in events:
        if isinstance(event, RoundStarted):
            yield ""
        yield f"  {JUICES.describe(event)}"


def _grids(state: State, seats: Iterable[int]) -> Iterator[str]:
    """Draws the grids of seats."""
    for seat in sorted(seats):
        lying = slow.lying(state.seats[seat].grid)
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


def regenerate() -> None:
    """Writes every golden file anew."""
    GOLDEN.mkdir(exist_ok=True)
    for name in GAMES:
        (GOLDEN / f"{name}.txt").write_text(playthrough(name), encoding="utf-8")
    schema = JUICES.about.schema
    (GOLDEN / f"schema-{schema}.msgpack").write_bytes(snapshot())
    (GOLDEN / f"schema-{schema}.txt").write_text(shown(Codec(JUICES).decode_snapshot(snapshot())), encoding="utf-8")


if __name__ == "__main__":
    regenerate()
