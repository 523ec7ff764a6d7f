"""The rules of Juices: which seats must act, legal moves, apply; rule ids as in docs/rules/juices.md.

`engine.juices.phases` defines what comes next. The two tables here map each decision to its functions in the phases.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final

from engine.errors import GameOver, IllegalMove, NotYourTurn
from engine.juices.events import Event
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState, blocks, complements, draft, placing, resolution, runner, solo
from engine.juices.state import (
    AddBlock,
    Ask,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
    State,
    ask_of,
)
from engine.juices.texts import PROMPTS


@lru_cache(maxsize=4096)
def _awaited(asks: bytes) -> tuple[int, ...]:
    return tuple(seat for seat, ask in enumerate(asks) if ask)


def to_act(state: State) -> tuple[int, ...]:
    """Return the seats that must decide; empty when the game is over."""
    return _awaited(state.asks)


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Return the legal moves for the seat's decision."""
    ask = ask_of(state, seat)
    return _LEGAL[ask](state, seat) if ask else ()


def apply(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Return the state after a move, up to the next decision of a seat, and the events.

    Raises:
        GameOver: the game is over.
        NotYourTurn: the seat has no decision to make now.
        IllegalMove: the rules forbid this move now.
    """
    if not state.agenda:
        raise GameOver("The game is over.")
    ask = ask_of(state, seat)
    if not ask:
        raise NotYourTurn("You have no decision to make now; other seats must decide first.")
    apply_move = _APPLY[ask].get(type(move))
    if apply_move is None:
        raise IllegalMove(f"This kind of move does not fit your decision: {PROMPTS[ask]}")
    after = MutableState(state)
    apply_move(after, seat, move)
    runner.run(after)
    return after.freeze(), tuple(after.events)


_LEGAL: Final[dict[Ask, Callable[[ReadableState, int], tuple[Any, ...]]]] = {
    Ask.KEEP: draft.legal_moves,
    Ask.PLACE: placing.legal_moves,
    Ask.PLACE_ONE: solo.legal_moves,
    Ask.MAKE_JUICE: resolution.make_juice_moves,
    Ask.SHIFT: resolution.shift_moves,
    Ask.BLOCK_ACTION: blocks.legal_moves,
    Ask.PUT_BLOCK: blocks.put_block_moves,
    Ask.DISCARD_AUTOMA_TILE: complements.legal_moves,
}

_APPLY: Final[dict[Ask, dict[type, Callable[[MutableState, int, Any], None]]]] = {
    Ask.KEEP: {Keep: draft.keep},
    Ask.PLACE: {Place: placing.place},
    Ask.PLACE_ONE: {Place: solo.place_one},
    Ask.MAKE_JUICE: {MakeJuice: resolution.make_juice},
    Ask.SHIFT: {Shift: resolution.shift},
    Ask.BLOCK_ACTION: {AddBlock: blocks.add, RemoveBlock: blocks.remove, Pass: blocks.give_up},
    Ask.PUT_BLOCK: {PutBlock: blocks.put_block},
    Ask.DISCARD_AUTOMA_TILE: {DiscardAutomaTile: complements.discard_automa_tile},
}
