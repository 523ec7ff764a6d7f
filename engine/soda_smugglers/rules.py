"""The rules of Soda Smugglers: the stages of a round; rule ids as in docs/rules/soda-smugglers.md.

A round goes through stages. The table `_ACTS` defines, for each kind of move, the stages in which it may happen and the
stage that follows. After each move `_advance` checks whether all travelers have packed, or have left the border.

    PACKING ──all have packed──▶ BRIBES ──▶ INSPECTIONS ◀──▶ OPENING (the traveler's)
                                    │            │
                                    └──────┬─────┘
                                           ▼
                                        ARRESTS        no travelers left ──▶ PACKING of the next round, or OVER

The guard may skip stages but never go back (SS-B0).
"""

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from engine.errors import GameOver, IllegalMove, NotYourTurn
from engine.soda_smugglers.events import Event
from engine.soda_smugglers.phases import border, packing
from engine.soda_smugglers.phases.rounds import end_round
from engine.soda_smugglers.state import (
    AcceptAll,
    AcceptBribe,
    Arrest,
    Inspect,
    Move,
    Open,
    Pack,
    Sniff,
    Stage,
    State,
    WaveThrough,
    at_border,
)
from engine.texts import format_list


class _Act(NamedTuple):
    """A kind of move: its legal moves, its effect, the stages in which it may happen, and the stage that follows."""

    moves: Callable[[State, int], Sequence[Move]]
    apply: Callable[[State, int, Any], tuple[State, tuple[Event, ...]]]
    stages: frozenset[Stage]
    next_stage: Stage


_PACKING: Final = frozenset({Stage.PACKING})
_BRIBES: Final = frozenset({Stage.BRIBES})
_INSPECTIONS: Final = frozenset({Stage.BRIBES, Stage.INSPECTIONS})
_OPENING: Final = frozenset({Stage.OPENING})
_ARRESTS: Final = frozenset({Stage.BRIBES, Stage.INSPECTIONS, Stage.ARRESTS})

_ACTS: Final[dict[type[Move], _Act]] = {  # SS-B0
    Pack: _Act(packing.pack_moves, packing.pack, _PACKING, Stage.PACKING),
    AcceptBribe: _Act(border.accept_bribe_moves, border.accept_bribe, _BRIBES, Stage.BRIBES),
    AcceptAll: _Act(border.accept_all_moves, border.accept_all, _BRIBES, Stage.ARRESTS),
    Inspect: _Act(border.inspect_moves, border.inspect, _INSPECTIONS, Stage.INSPECTIONS),
    Sniff: _Act(border.sniff_moves, border.sniff, _INSPECTIONS, Stage.OPENING),
    Open: _Act(border.open_moves, border.open_slot, _OPENING, Stage.INSPECTIONS),
    Arrest: _Act(border.arrest_moves, border.arrest, _ARRESTS, Stage.ARRESTS),
    WaveThrough: _Act(border.wave_through_moves, border.wave_through, _ARRESTS, Stage.ARRESTS),
}
_ACTS_AT: Final = {stage: tuple(act for act in _ACTS.values() if stage in act.stages) for stage in Stage}

_WRONG_STAGE: Final = {
    Stage.PACKING: "Now you pack.",
    Stage.BRIBES: "Now it is your turn as the guard.",
    Stage.INSPECTIONS: "Now it is your turn as the guard; bribes are over.",
    Stage.OPENING: "Now you open a suitcase for the dog.",
    Stage.ARRESTS: "Now it is your turn as the guard; bribes and inspections are over.",
}
"""The error for a kind of move that may not happen in a stage."""


def to_act(state: State) -> tuple[int, ...]:
    """Return the awaited seats: travelers who have not packed, the guard, or the traveler to whom the dog was sent."""
    stage = state.stage
    if stage is Stage.PACKING:
        return packing.travelers_packing(state)
    if stage is Stage.OPENING and state.sniffed is not None:
        return (state.sniffed,)
    return () if stage is Stage.OVER else (state.guard,)


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Return the seat's moves: by kind as in `Move`, then by seat and slot; packs by luggage and bribe."""
    if seat not in to_act(state):
        return ()
    return tuple([move for act in _ACTS_AT[state.stage] for move in act.moves(state, seat)])


def apply(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Return the state after a move and everything that follows from it, and the events.

    Raises:
        GameOver: the game is over.
        NotYourTurn: the seat is not awaited.
        IllegalMove: the rules forbid this move now.
    """
    awaited = to_act(state)
    if not awaited:
        raise GameOver("The game is over.")
    if seat not in awaited:
        raise NotYourTurn(_awaited(awaited))
    act = _ACTS[type(move)]
    if state.stage not in act.stages:
        raise IllegalMove(_WRONG_STAGE[state.stage])
    moved, events = act.apply(state, seat, move)
    after, more = _advance(replace(moved, stage=act.next_stage))
    return after, events + more


def _advance(state: State) -> tuple[State, tuple[Event, ...]]:
    if state.stage is Stage.PACKING:
        return (state, ()) if packing.travelers_packing(state) else packing.all_packed(state)
    return (state, ()) if at_border(state) else end_round(state)


def _awaited(seats: tuple[int, ...]) -> str:
    if len(seats) == 1:
        return f"Seat {seats[0]} is awaited now."
    return f"Seats {format_list([str(seat) for seat in seats])} are awaited now."
