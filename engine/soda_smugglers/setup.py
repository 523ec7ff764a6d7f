"""The set-up of Soda Smugglers (SS-S, SS-V0)."""

from typing import Final

from engine.errors import InvalidOptions
from engine.rng import Rng, below, shuffle
from engine.soda_smugglers.components import SEATS, STARTING_CAPS, EventCard, Tokens
from engine.soda_smugglers.events import Event
from engine.soda_smugglers.phases.rounds import start_round
from engine.soda_smugglers.state import Options, Stage, State

_NO_TOKENS: Final = Tokens(0, 0, 0)


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Set up a game and deal the first round.

    Raises:
        InvalidOptions: no game can be set up with these options and this number of seats.
    """
    _check(options, seat_count)
    guard = options.first_guard
    if guard is None:  # SS-S2
        guard, rng = below(rng, seat_count)
    events = b""
    if options.events:  # SS-V0: shuffled once
        order, rng = shuffle(rng, tuple(EventCard))
        events = bytes(order)
    before = State(
        options=options,
        rng=rng,
        events=events,
        round=0,
        guard=(guard - 1) % seat_count,
        stage=Stage.PACKING,
        tokens=_NO_TOKENS,
        caps=(STARTING_CAPS,) * seat_count,  # SS-S1
        hands=(),
        packs=(),
        opened=b"",
        records=b"",
    )
    return start_round(before)


def _check(options: Options, seat_count: int) -> None:
    if seat_count not in SEATS:  # SS-S1
        raise InvalidOptions("seat_count", f"Soda Smugglers is for 3 to 8 seats, not {seat_count}.")
    if options.first_guard is not None and not 0 <= options.first_guard < seat_count:  # SS-S2
        raise InvalidOptions(
            "first_guard", f"There is no seat {options.first_guard}; the seats are numbered from 0 to {seat_count - 1}."
        )
