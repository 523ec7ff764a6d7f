"""The set-up of Soda Jerk: options, and how a game and each round start (SJ-S, SJ-A1, SJ-G1)."""

from collections.abc import Sequence
from typing import TypeVar

from msgspec.structs import replace

from engine.errors import InvalidOptions
from engine.rng import Rng, choice, shuffle
from engine.soda_jerk.components import CARDS_PER_FLAVOR, DEALT, NEW_B_SIDES, SEATS, SWITCHEROO, Flavor, flavor_deck
from engine.soda_jerk.events import Event, RoundStarted
from engine.soda_jerk.state import Options, State

T = TypeVar("T")


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Set up a game and deal the first round.

    Raises:
        InvalidOptions: no game can be set up with these options and this number of seats.
    """
    _check(options, seat_count)
    first_seat, rng = _given_or_drawn(options.first_seat, rng, range(seat_count))  # SJ-S3
    taps = tuple(Flavor)
    if seat_count == 2:  # SJ-S4, before any tap turns to its B side
        removed, rng = _given_or_drawn(options.removed_flavor, rng, taps)
        taps = tuple(tap for tap in taps if tap != removed)
    before = State(
        options=options,
        rng=rng,
        taps=taps,
        effects=(),
        round=0,
        first_seat=first_seat,
        seat=first_seat,
        flips_in_a_row=0,
        hands=(b"",) * seat_count,
        piles=(b"",) * len(taps),
    )
    return start_round(before, first_seat)


def _check(options: Options, seat_count: int) -> None:
    if seat_count not in SEATS:  # SJ-S1
        raise InvalidOptions("seat_count", f"Soda Jerk is for 2 to 4 seats, not {seat_count}.")
    if options.first_seat is not None and not 0 <= options.first_seat < seat_count:  # SJ-S3
        raise InvalidOptions(
            "first_seat", f"There is no seat {options.first_seat}; the seats are numbered from 0 to {seat_count - 1}."
        )
    if options.removed_flavor is not None and seat_count != 2:  # SJ-S4
        raise InvalidOptions("removed_flavor", f"Only two seats play without a flavor; {seat_count} use all five.")
    copies = options.copies_per_value
    if len(copies) != 3 or min(copies) < 0 or sum(copies) != CARDS_PER_FLAVOR:  # SJ-C2
        raise InvalidOptions(
            "copies_per_value",
            f"Give three counts of cards, none negative, that add up to {CARDS_PER_FLAVOR}, not {copies}.",
        )


def _given_or_drawn(given: T | None, rng: Rng, items: Sequence[T]) -> tuple[T, Rng]:
    return choice(rng, items) if given is None else (given, rng)


def start_round(state: State, first_seat: int) -> tuple[State, tuple[Event, ...]]:
    """Turn taps to their B sides, deal, and start the next round."""
    round_number = state.round + 1
    effects, rng = _turn_taps(state, round_number)
    hands, rng = _deal(state, rng)
    started = replace(
        state,
        rng=rng,
        effects=effects,
        round=round_number,
        first_seat=first_seat,
        seat=first_seat,
        flips_in_a_row=0,
        hands=hands,
        piles=(b"",) * len(state.taps),
    )
    return started, (RoundStarted(round_number, first_seat, effects),)


def _turn_taps(state: State, round_number: int) -> tuple[tuple[Flavor, ...], Rng]:
    """Turn more taps to their B sides; a tap that shows its B side keeps it (SJ-A1)."""
    if not state.options.advanced:
        return (), state.rng
    drawn, rng = shuffle(state.rng, [tap for tap in state.taps if tap not in state.effects])
    return tuple(sorted((*state.effects, *drawn[: NEW_B_SIDES[round_number]]))), rng


def _deal(state: State, rng: Rng) -> tuple[tuple[bytes, ...], Rng]:
    """Shuffle the whole flavor deck and deal; the remaining cards are set aside (SJ-S2, SJ-G1)."""
    seat_count = len(state.hands)
    deck, rng = shuffle(rng, flavor_deck(state.taps, state.options.copies_per_value))
    dealt = DEALT[seat_count]
    switcheroo = (SWITCHEROO,) if seat_count == 2 else ()  # SJ-S4, SJ-C3
    hands = tuple(bytes(sorted((*deck[seat * dealt : (seat + 1) * dealt], *switcheroo))) for seat in range(seat_count))
    return hands, rng
