"""Packing: the travelers pack concurrently and in secret (SS-K2, SS-K3)."""

from functools import cache
from itertools import permutations

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.soda_smugglers.components import Effect
from engine.soda_smugglers.events import BribesRevealed, Event, Offer, Packed
from engine.soda_smugglers.state import Pack, Stage, State, effect_of
from engine.texts import format_count


def travelers_packing(state: State) -> tuple[int, ...]:
    """Return the travelers who have not packed."""
    guard = state.guard
    return tuple([seat for seat, pack in enumerate(state.packs) if not pack and seat != guard])


def pack_moves(state: State, seat: int) -> tuple[Pack, ...]:
    """Return every way to pack the hand."""
    effect = effect_of(state)
    return _packs(state.hands[seat], effect.slots, effect.bribes)


@cache  # 56 hands, three ways to pack
def _packs(hand: bytes, slots: int, bribes: bool) -> tuple[Pack, ...]:
    """Return the packs of a hand, in the order of luggage and bribe. Equal suitcases are one choice."""
    packed = sorted(set(permutations(hand, slots + bribes)))
    return tuple(Pack(suitcases[:slots], suitcases[slots] if bribes else None) for suitcases in packed)


def pack(state: State, seat: int, move: Pack) -> tuple[State, tuple[Event, ...]]:
    """Pack suitcases. The others are discarded face down (SS-K2)."""
    effect = effect_of(state)
    rest = list(state.hands[seat])
    suitcases = _suitcases(move, effect)
    for bottles in suitcases:
        if bottles not in rest:
            raise IllegalMove(f"You do not hold that many suitcases with {format_count(bottles, 'bottle')}.")
        rest.remove(bottles)

    hands, packs = list(state.hands), list(state.packs)
    hands[seat] = bytes(rest)
    packs[seat] = bytes(suitcases)
    packed = replace(state, hands=tuple(hands), packs=tuple(packs))
    return packed, (Packed(seat, move.luggage, move.bribe),)


def _suitcases(move: Pack, effect: Effect) -> tuple[int, ...]:
    """Return the suitcases of a pack, luggage first, then the bribe (SS-K2; SS-V8, SS-V5)."""
    if len(move.luggage) != effect.slots:
        required = format_count(effect.slots, "suitcase")
        raise IllegalMove(f"Pack {required} as luggage this round, not {len(move.luggage)}.")
    if move.bribe is None:
        if effect.bribes:
            raise IllegalMove("Offer one suitcase as a bribe.")
        return move.luggage
    if not effect.bribes:
        raise IllegalMove("No bribes are offered this round.")
    return (*move.luggage, move.bribe)


def all_packed(state: State) -> tuple[State, tuple[Event, ...]]:
    """Start the guard's turn and reveal all bribes together (SS-K3)."""
    slots = effect_of(state).slots
    offers = tuple([Offer(seat, pack[slots]) for seat, pack in enumerate(state.packs) if len(pack) > slots])
    return replace(state, stage=Stage.BRIBES), (BribesRevealed(offers),) if offers else ()
