"""Set-up, and how a round of Soda Smugglers starts and ends."""

from typing import Final

from msgspec.structs import replace

from engine.errors import InvalidOptions
from engine.rng import Rng, below, draw, shuffle
from engine.soda_smugglers.components import (
    DEALT,
    SEATS,
    STARTING_CAPS,
    SUITCASES,
    TOKENS,
    TURNS_AS_GUARD,
    Effect,
    EventCard,
    Tokens,
)
from engine.soda_smugglers.state import (
    AT_BORDER,
    RECORD_CODES,
    Event,
    EventRevealed,
    Options,
    Record,
    RoundEnded,
    RoundStarted,
    Stage,
    State,
    effect_of,
    event_card,
    with_item,
)

_NOTHING: Final = Tokens(0, 0, 0)

# --- Set-up -----------------------------------------------------------------------------------------------------------


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Sets a game up and deals the first round.

    Raises:
        InvalidOptions: the options or the number of seats do not make a game.
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
        tokens=_NOTHING,
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


def round_count(seat_count: int) -> int:
    """Tells how many rounds a game has (SS-S3)."""
    return seat_count * TURNS_AS_GUARD[seat_count]


# --- The start of a round ---------------------------------------------------------------------------------------------


def start_round(state: State) -> tuple[State, tuple[Event, ...]]:
    """Passes the guard's role on (SS-S2), reveals the event card (SS-V0) and then deals."""
    seat_count = len(state.caps)
    guard = (state.guard + 1) % seat_count
    hands, rng = _deal(state.rng, seat_count, guard)
    started = replace(
        state,
        rng=rng,
        round=state.round + 1,
        guard=guard,
        stage=Stage.PACKING,
        hands=hands,
        packs=(b"",) * seat_count,
        opened=bytes(seat_count),
        records=bytes((AT_BORDER,)) * seat_count,
    )
    effect = effect_of(started)
    started = replace(started, tokens=tokens(seat_count, effect))
    start = RoundStarted(started.round, guard)
    card = event_card(started)
    if card is None:
        return started, (start,)
    revealed, gift = _at_once(started, effect)
    return revealed, (start, EventRevealed(card, gift))


def _deal(rng: Rng, seat_count: int, guard: int) -> tuple[tuple[bytes, ...], Rng]:
    """SS-K1: five suitcases for each traveler, of all 36 anew; the order of what is left over never matters."""
    dealt, rng = draw(rng, SUITCASES, DEALT * (seat_count - 1))
    hands = [bytes(sorted(dealt[first : first + DEALT])) for first in range(0, len(dealt), DEALT)]
    hands.insert(guard, b"")
    return tuple(hands), rng


def tokens(seat_count: int, effect: Effect) -> Tokens:
    """Tells which tokens the guard has for a round (SS-C3, and what the event changes)."""
    game, more = TOKENS[seat_count], effect.tokens
    return Tokens(
        game.bribe + more.bribe if effect.bribes else 0,
        game.inspect + more.inspect,
        game.arrest + more.arrest,
        game.sniff + more.sniff,
        game.tip_off + more.tip_off,
    )


def _at_once(state: State, effect: Effect) -> tuple[State, int]:
    """What the event card gives the guard (SS-V1) and takes (SS-V2), as far as there is something to take (SS-B6)."""
    seat_count, guard = len(state.caps), state.guard
    gift = max(effect.gift - effect.fine * TOKENS[seat_count].arrest, -state.caps[guard])
    if not gift:
        return state, 0
    caps = list(state.caps)
    caps[guard] += gift
    records = with_item(state.records, guard, RECORD_CODES[Record(None, 0, gift)])
    return replace(state, caps=tuple(caps), records=records), gift


# --- The end of a round -----------------------------------------------------------------------------------------------


def end_round(state: State) -> tuple[State, tuple[Event, ...]]:
    """Ends the round when everybody has left, and starts the next or ends the game (SS-S3, SS-G1)."""
    ended = RoundEnded(state.round, state.caps)
    if state.round == round_count(len(state.caps)):
        return replace(state, stage=Stage.OVER), (ended,)
    started, events = start_round(replace(state, finished=(*state.finished, state.records)))
    return started, (ended, *events)
