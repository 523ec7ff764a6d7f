"""Packing: every traveler on their own, in secret, at the same time (SS-K2, SS-K3)."""

from functools import cache
from itertools import permutations

from msgspec.structs import replace

from engine.errors import IllegalMove
from engine.soda_smugglers.components import Effect
from engine.soda_smugglers.state import BribesRevealed, Event, Offer, Pack, Packed, Stage, State, effect_of
from engine.words import counted


def travelers_packing(state: State) -> tuple[int, ...]:
    """Names the travelers who have not packed."""
    guard = state.guard
    return tuple([seat for seat, pack in enumerate(state.packs) if not pack and seat != guard])


def pack_moves(state: State, seat: int) -> tuple[Pack, ...]:
    """Lists every way to pack the hand."""
    effect = effect_of(state)
    return _packs(state.hands[seat], effect.slots, effect.bribes)


@cache  # 56 hands, three ways to pack
def _packs(hand: bytes, slots: int, bribes: bool) -> tuple[Pack, ...]:
    """Lists the packs of a hand, in the order of luggage and bribe. Equal suitcases are one choice."""
    packed = sorted(set(permutations(hand, slots + bribes)))
    return tuple(Pack(suitcases[:slots], suitcases[slots] if bribes else None) for suitcases in packed)


def pack(state: State, seat: int, move: Pack) -> tuple[State, tuple[Event, ...]]:
    """Packs; what is not packed is discarded, hidden (SS-K2)."""
    effect = effect_of(state)
    rest = list(state.hands[seat])
    suitcases = _suitcases(move, effect)
    for bottles in suitcases:
        if bottles not in rest:
            raise IllegalMove(f"You do not hold that many suitcases with {counted(bottles, 'bottle')}.")
        rest.remove(bottles)

    hands, packs = list(state.hands), list(state.packs)
    hands[seat] = bytes(rest)
    packs[seat] = bytes(suitcases)
    packed = replace(state, hands=tuple(hands), packs=tuple(packs))
    return packed, (Packed(seat, move.luggage, move.bribe),)


def _suitcases(move: Pack, effect: Effect) -> tuple[int, ...]:
    """Reads a pack: luggage and then the bribe (SS-K2; SS-V8, SS-V5)."""
    if len(move.luggage) != effect.slots:
        raise IllegalMove(f"Pack {counted(effect.slots, 'suitcase')} as luggage this round, not {len(move.luggage)}.")
    if move.bribe is None:
        if effect.bribes:
            raise IllegalMove("Offer one suitcase as a bribe.")
        return move.luggage
    if not effect.bribes:
        raise IllegalMove("No bribes are offered this round.")
    return (*move.luggage, move.bribe)


def all_packed(state: State) -> tuple[State, tuple[Event, ...]]:
    """Opens the guard's turn; the bribes, where there are any, become public at once (SS-K3)."""
    slots = effect_of(state).slots
    offers = tuple([Offer(seat, pack[slots]) for seat, pack in enumerate(state.packs) if len(pack) > slots])
    return replace(state, stage=Stage.BRIBES), (BribesRevealed(offers),) if offers else ()
