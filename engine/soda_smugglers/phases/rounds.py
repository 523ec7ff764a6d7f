"""The start and the end of a round (SS-S3, SS-K1, SS-V0)."""

from msgspec.structs import replace

from engine.rng import Rng, draw
from engine.soda_smugglers.components import DEALT, SUITCASES, TOKENS, Effect, Tokens, round_count
from engine.soda_smugglers.events import Event, EventRevealed, RoundEnded, RoundStarted
from engine.soda_smugglers.state import (
    AT_BORDER,
    RECORD_CODES,
    Record,
    Stage,
    State,
    effect_of,
    event_card,
    with_item,
)

# --- The start of a round ---------------------------------------------------------------------------------------------


def start_round(state: State) -> tuple[State, tuple[Event, ...]]:
    """Pass the role of the guard to the next seat (SS-S2), reveal the event card (SS-V0) and deal."""
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
    revealed, gift = _give_and_take(started, effect)
    return revealed, (start, EventRevealed(card, gift))


def _deal(rng: Rng, seat_count: int, guard: int) -> tuple[tuple[bytes, ...], Rng]:
    """Deal five of the 36 suitcases to each traveler (SS-K1). The order of the others never matters."""
    dealt, rng = draw(rng, SUITCASES, DEALT * (seat_count - 1))
    hands = [bytes(sorted(dealt[first : first + DEALT])) for first in range(0, len(dealt), DEALT)]
    hands.insert(guard, b"")
    return tuple(hands), rng


def tokens(seat_count: int, effect: Effect) -> Tokens:
    """Return the guard's tokens at the start of a round (SS-C3, and the change by the event card)."""
    game, more = TOKENS[seat_count], effect.tokens
    return Tokens(
        game.bribe + more.bribe if effect.bribes else 0,
        game.inspect + more.inspect,
        game.arrest + more.arrest,
        game.sniff + more.sniff,
        game.tip_off + more.tip_off,
    )


def _give_and_take(state: State, effect: Effect) -> tuple[State, int]:
    """Apply the event card's gift (SS-V1) and fine (SS-V2); a guard cannot pay more caps than it has (SS-B6)."""
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
    """End the round when all travelers have left, and start the next or end the game (SS-S3, SS-G1)."""
    ended = RoundEnded(state.round, state.caps)
    if state.round == round_count(len(state.caps)):
        return replace(state, stage=Stage.OVER), (ended,)
    started, events = start_round(replace(state, finished=(*state.finished, state.records)))
    return started, (ended, *events)
