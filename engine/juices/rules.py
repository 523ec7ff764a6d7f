"""The rules of Juices as a game: set-up, who is awaited, legal moves, moves; ids as in docs/rules/juices.md.

What comes next is told in `engine.juices.agenda`; what a seat may do when it is asked, in `engine.juices.phases`.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from engine.errors import GameOver, IllegalMove, InvalidOptions, NotYourTurn
from engine.juices import pipeline
from engine.juices.components import (
    COMPLEMENTED,
    COPIES,
    ORDERS,
    PAIRS,
    SEATS,
    SEATS_PER_COPY,
    WILDS,
    Fruit,
    Mode,
    box,
)
from engine.juices.events import Event
from engine.juices.grid import MASTER, Cell, Grid, put
from engine.juices.phases import Position, blocks, complements, draft, placing, rounds, scoring, solo
from engine.juices.state import (
    AddBlock,
    Ask,
    Automa,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Options,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Seat,
    Shift,
    State,
)
from engine.juices.table import Table
from engine.rng import Rng, shuffle

# --- Set-up -----------------------------------------------------------------------------------------------------------

WITH_MASTER: Final = put(Grid(), Cell(0, 0), MASTER)


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Sets a game up and deals the first round.

    Raises:
        InvalidOptions: the options or the number of seats do not make a game.
    """
    _check(options, seat_count)
    mode = _mode(options, seat_count)
    copies = _copies(options, seat_count)
    pile, rng = shuffle(rng, _solo_tiles(options) if mode == Mode.SOLO else box(copies))
    with_orders = mode == Mode.ORDERS_TO_GO_GO
    masters: tuple[int, ...] = ()
    if with_orders:
        masters, rng = shuffle(rng, ORDERS)  # JU-M3: ten orders also with two copies
    elif mode == Mode.ADVANCED or options.juice_masters:  # JU-M2, JU-O7; a plain side tells no fruit
        masters, rng = shuffle(rng, ORDERS * copies)
    preferred = [Fruit(fruit) for fruit in masters] if not with_orders else []
    table = Table(
        State(
            options=options,
            mode=mode,
            rng=rng,
            round=0,
            agenda=(),
            asks=bytes(seat_count),
            seats=tuple(
                Seat(Grid() if with_orders else WITH_MASTER, preferred=preferred[seat] if preferred else None)
                for seat in range(seat_count)
            ),
            pile=bytes(pile),
            discards=b"",
            orders=bytes(masters) if with_orders else b"",
            order_met=False,
            last_round=False,
            automa=Automa(preferred=preferred[seat_count] if preferred else None) if mode == Mode.SOLO else None,
        )
    )
    if with_orders:
        rounds.reveal_order(table)
    rounds.start(table)
    return _finish(table)


def _mode(options: Options, seat_count: int) -> Mode:
    if options.mode is not None:
        return options.mode
    return Mode.SOLO if seat_count == 1 else Mode.BASIC


def _copies(options: Options, seat_count: int) -> int:
    """JU-C3."""
    if options.copies is not None:
        return options.copies
    return 1 if seat_count <= SEATS_PER_COPY else 2


def _solo_tiles(options: Options) -> bytes:
    """JU-O1, and what the modules add (JU-O6, JU-O8)."""
    return PAIRS + COMPLEMENTED * options.complements_everywhere + WILDS * options.cursed_wild


def _check(options: Options, seat_count: int) -> None:
    if seat_count not in SEATS:
        raise InvalidOptions("seat_count", f"Juices is for 1 to 14 seats, not {seat_count}.")
    mode = _mode(options, seat_count)
    if (mode == Mode.SOLO) != (seat_count == 1):
        raise InvalidOptions("mode", "One seat plays Solo, and only one seat does.")
    copies = _copies(options, seat_count)
    if copies not in COPIES:
        raise InvalidOptions("copies", f"One copy or two can be used, not {copies}.")
    if mode == Mode.SOLO and copies != 1:
        raise InvalidOptions("copies", "Solo uses one copy.")
    if seat_count > SEATS_PER_COPY * copies:
        raise InvalidOptions("copies", f"One copy is for up to {SEATS_PER_COPY} seats; {seat_count} need two.")
    for module in ("cursed_wild", "juice_masters", "complements_everywhere"):
        if getattr(options, module) and mode != Mode.SOLO:
            raise InvalidOptions(module, "This is a module of Solo.")


# --- Play -------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _asked(asks: bytes) -> tuple[int, ...]:
    return tuple(seat for seat, ask in enumerate(asks) if ask)


def to_act(state: State) -> tuple[int, ...]:
    """Names the seats that are asked something; nobody when the game is over."""
    return _asked(state.asks)


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Lists what the seat may answer to what it is asked."""
    ask = asked(state, seat)
    return _LEGAL[ask](state, seat) if ask else ()


def apply(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Makes a move and everything that follows until somebody is asked something.

    Raises:
        GameOver: the game is over.
        NotYourTurn: the seat is asked nothing now.
        IllegalMove: the rules forbid this move now.
    """
    if not state.agenda:
        raise GameOver("The game is over.")
    ask = asked(state, seat)
    if not ask:
        raise NotYourTurn("You are asked nothing now; others must decide first.")
    answer = _ANSWERS[ask].get(type(move))
    if answer is None:
        raise IllegalMove(f"That is no answer to what you are asked: {PROMPTS[Ask(ask)]}")
    table = Table(state)
    answer(table, seat, move)
    return _finish(table)


def asked(state: State, seat: int) -> int:
    """Tells what a seat is asked (`Ask`)."""
    return state.asks[seat] if 0 <= seat < len(state.asks) else 0


def _finish(table: Table) -> tuple[State, tuple[Event, ...]]:
    pipeline.run(table)
    return table.close(), tuple(table.events)


PROMPTS: Final = {
    Ask.KEEP: "Keep one of your two tiles; the other goes to your right neighbour.",
    Ask.PLACE: "Place a tile on your grid.",
    Ask.PLACE_ONE: "Place one of the two tiles on your grid; the other goes to the Automa.",
    Ask.MAKE_JUICE: "Make a juice, and choose the tile that you keep for it.",
    Ask.SHIFT: "Move a part of your grid that is cut off.",
    Ask.BLOCK_ACTION: "Add a Block to your left neighbour's grid, remove one from yours, or pass.",
    Ask.PUT_BLOCK: "Put a Block on your grid.",
    Ask.DISCARD_AUTOMA_TILE: "Discard one of the Automa's tiles.",
}

_LEGAL: Final[dict[int, Callable[[Position, int], tuple[Any, ...]]]] = {
    Ask.KEEP: draft.legal_moves,
    Ask.PLACE: placing.legal_moves,
    Ask.PLACE_ONE: solo.legal_moves,
    Ask.MAKE_JUICE: scoring.make_juice_moves,
    Ask.SHIFT: scoring.shift_moves,
    Ask.BLOCK_ACTION: blocks.legal_moves,
    Ask.PUT_BLOCK: blocks.put_block_moves,
    Ask.DISCARD_AUTOMA_TILE: complements.legal_moves,
}

_ANSWERS: Final[dict[int, dict[type, Callable[[Table, int, Any], None]]]] = {
    Ask.KEEP: {Keep: draft.keep},
    Ask.PLACE: {Place: placing.place},
    Ask.PLACE_ONE: {Place: solo.place_one},
    Ask.MAKE_JUICE: {MakeJuice: scoring.make_juice},
    Ask.SHIFT: {Shift: scoring.shift},
    Ask.BLOCK_ACTION: {AddBlock: blocks.add, RemoveBlock: blocks.remove, Pass: blocks.give_up},
    Ask.PUT_BLOCK: {PutBlock: blocks.put_block},
    Ask.DISCARD_AUTOMA_TILE: {DiscardAutomaTile: complements.discard_automa_tile},
}
