"""The cases of Soda Smugglers for the conformance tests."""

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import groupby, product
from random import Random
from typing import TYPE_CHECKING, Any

import msgspec

from engine.game import Viewer
from engine.rng import SEED_BYTES, Rng
from engine.soda_smugglers.components import SUITCASES
from engine.soda_smugglers.events import RoundStarted
from engine.soda_smugglers.rules import to_act
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Inspect,
    Move,
    Open,
    Options,
    Pack,
    Sniff,
    Stage,
    State,
    WaveThrough,
    at_border,
    effect_of,
)

if TYPE_CHECKING:
    from tests.engine.plays import Step

BOTTLES = (0, 1, 2, 3)
BRIBES = (None, *BOTTLES)
SEATS = range(-1, 9)
_FEW = 19


class SodaSmugglersCases:
    """Implements `tests.engine.cases.Cases`."""

    max_bytes = 512
    max_moves = 8 * (
        7 + 3 * 7 + 1
    )  # at most eight rounds; in each, seven seats pack, are sniffed, open a suitcase and leave
    every_pack: tuple[Move, ...] = (
        *(Pack(luggage, bribe) for slots in (2, 3) for luggage in product(BOTTLES, repeat=slots) for bribe in BRIBES),
        *(Pack(luggage, 1) for luggage in ((), (1,), (1, 4), (-1, 1), (0, 0, 0, 0))),
        *(Pack((1, 1), bribe) for bribe in (-1, 4)),
    )
    every_other_move: tuple[Move, ...] = (
        *(AcceptBribe(seat) for seat in SEATS),
        AcceptAll(),
        *(Inspect(seat, slot) for seat in SEATS for slot in range(-1, 5)),
        *(Sniff(seat) for seat in SEATS),
        *(Open(slot) for slot in range(-1, 5)),
        *(Arrest(seat, tip_off) for seat in SEATS for tip_off in (False, True)),
        WaveThrough(),
    )

    def moves_to_try(self, state: State, seat: int) -> tuple[Move, ...]:
        """Return all moves of the kinds that fit the stage, with some beyond the valid values, and a few others."""
        packing, awaited = state.stage is Stage.PACKING, seat in to_act(state)
        packs = self.every_pack if packing and awaited else self.every_pack[::_FEW]
        return packs + (self.every_other_move if awaited and not packing else self.every_other_move[::_FEW])

    def options(self, seat_count: int, random: Random) -> Options:
        """Return random options."""
        return Options(
            events=random.random() < 0.5,
            first_guard=random.choice((None, random.randrange(seat_count))),
        )

    def pieces(self, state: State) -> Counter[int]:
        """Return a count of the suitcases that were dealt: in hands, discarded, and packed."""
        return Counter(bottles for suitcases in (*state.hands, *state.packs) for bottles in suitcases)

    def deals(self, event: Any) -> bool:
        """Return whether a round starts."""
        return isinstance(event, RoundStarted)

    def twins(
        self, steps: "Sequence[Step]", viewer: Viewer, random: Random
    ) -> Iterator[tuple[int, int, State, list[Move]]]:
        """Yield every round twice: up to the last pack, which reveals all bribes, and up to the move that ends it."""
        last = 0
        for _, group in groupby(steps, key=lambda step: step.before.round):
            first, last = last, last + len(list(group))
            packs = first + next(at for at, step in enumerate(steps[first:]) if step.after.stage is not Stage.PACKING)
            yield first, packs, *_packing_twin(steps[first:packs], viewer, random)
            yield first, last - 1, *_round_twin(steps[first : last - 1], viewer, random)


def _packing_twin(steps: "Sequence[Step]", viewer: Viewer, random: Random) -> tuple[State, list[Move]]:
    """Return a round in which all travelers except the viewer have other hands and other packs."""
    start: State = steps[0].before
    others = [seat for seat, hand in enumerate(start.hands) if hand and seat != viewer]
    pool = _undealt(start) + [bottles for seat in others for bottles in start.hands[seat]]
    random.shuffle(pool)
    hands = [list(hand) for hand in start.hands]
    for seat in others:
        hands[seat], pool = pool[:5], pool[5:]
    slots, bribes = effect_of(start).slots, effect_of(start).bribes

    def other_pack(seat: int) -> Pack:
        suitcases = random.sample(hands[seat], 5)
        return Pack(tuple(suitcases[:slots]), suitcases[slots] if bribes else None)

    return _with(start, hands, random), [step.move if step.seat == viewer else other_pack(step.seat) for step in steps]


def _round_twin(steps: "Sequence[Step]", viewer: Viewer, random: Random) -> tuple[State, list[Move]]:
    """Return a round in which every suitcase that the viewer does not see is replaced.

    These are the suitcases that other seats discard, and those of their luggage that stay closed while they are at the
    border. The suitcase that was opened for the dog stays one of the fullest.
    """
    start: State = steps[0].before
    end: State = steps[-1].after
    slots = effect_of(start).slots
    packs = {seat: list(pack) for seat, pack in enumerate(end.packs) if pack}
    rests = {seat: list(end.hands[seat]) for seat in packs}
    fullest = {step.seat: packs[step.seat][step.move.slot - 1] for step in steps if isinstance(step.move, Open)}

    closed = [
        (seat, at)
        for seat in packs
        if seat != viewer and seat in at_border(end)
        for at in range(slots)
        if not end.opened[seat] >> at & 1
    ]
    pool = _undealt(start)
    pool += [packs[seat][at] for seat, at in closed]
    pool += [bottles for seat, rest in rests.items() if seat != viewer for bottles in rest]
    random.shuffle(pool)
    # The lowest limits come first, so that a suitcase below each later limit remains.
    for seat, at in sorted(closed, key=lambda place: fullest.get(place[0], 3)):
        packs[seat][at] = next(bottles for bottles in pool if bottles <= fullest.get(seat, 3))
        pool.remove(packs[seat][at])
    for seat, rest in rests.items():
        if seat != viewer:
            rests[seat], pool = pool[: len(rest)], pool[len(rest) :]

    hands = [[*packs.get(seat, ()), *rests.get(seat, ())] for seat in range(len(start.hands))]
    moves = [
        Pack(tuple(packs[step.seat][:slots]), step.move.bribe) if isinstance(step.move, Pack) else step.move
        for step in steps
    ]
    return _with(start, hands, random), moves


def _undealt(start: State) -> list[int]:
    dealt = Counter(bottles for hand in start.hands for bottles in hand)
    return list((Counter(SUITCASES) - dealt).elements())


def _with(start: State, hands: list[list[int]], random: Random) -> State:
    """Return a state with other hands, other future events and other future draws."""
    coming = list(start.events[start.round :])
    random.shuffle(coming)
    return msgspec.structs.replace(
        start,
        rng=Rng(random.randbytes(SEED_BYTES), random.randrange(1000)),
        events=start.events[: start.round] + bytes(coming),
        hands=tuple(bytes(sorted(hand)) for hand in hands),
    )
