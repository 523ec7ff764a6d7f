"""The set-up of Juices: options, the pile and the masters (JU-C, JU-M, JU-O1)."""

from typing import Final

from engine.errors import InvalidOptions
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
from engine.juices.mutable_state import MutableState
from engine.juices.phases import rounds, runner
from engine.juices.state import Automa, Options, Seat, State
from engine.rng import Rng, shuffle

WITH_MASTER: Final = put(Grid(), Cell(0, 0), MASTER)


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Set up a game and deal the first round.

    Raises:
        InvalidOptions: no game can be set up with these options and this number of seats.
    """
    _check(options, seat_count)
    mode = _mode(options, seat_count)
    copies = _copies(options, seat_count)
    pile, rng = shuffle(rng, _solo_tiles(options) if mode == Mode.SOLO else box(copies))
    with_orders = mode == Mode.ORDERS_TO_GO_GO
    masters: tuple[int, ...] = ()
    if with_orders:
        masters, rng = shuffle(rng, ORDERS)  # JU-M3: ten orders also with two copies
    elif mode == Mode.ADVANCED or options.juice_masters:  # JU-M2, JU-O7; the plain side of a master shows no fruit
        masters, rng = shuffle(rng, ORDERS * copies)
    preferred = [Fruit(fruit) for fruit in masters] if not with_orders else []
    state = MutableState(
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
        rounds.reveal_order(state)
    rounds.start(state)
    runner.run(state)
    return state.freeze(), tuple(state.events)


def _mode(options: Options, seat_count: int) -> Mode:
    if options.mode is not None:
        return options.mode
    return Mode.SOLO if seat_count == 1 else Mode.BASIC


def _copies(options: Options, seat_count: int) -> int:
    """Return the number of copies of the game (JU-C3)."""
    if options.copies is not None:
        return options.copies
    return 1 if seat_count <= SEATS_PER_COPY else 2


def _solo_tiles(options: Options) -> bytes:
    """Return the tiles of Solo (JU-O1) with those of its modules (JU-O6, JU-O8)."""
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
