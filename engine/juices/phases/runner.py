"""The loop that begins phases in order until a seat must decide."""

from collections.abc import Callable
from typing import Final

from engine.juices.mutable_state import MutableState
from engine.juices.phases import blocks, complements, draft, placing, rounds, solo
from engine.juices.state import Phase

_BEGIN: Final[dict[Phase, Callable[[MutableState, int | None], None]]] = {
    Phase.DEAL: draft.deal,
    Phase.PASS: draft.pass_on,
    Phase.PLACE: placing.begin,
    Phase.BLOCKS: blocks.begin,
    Phase.COMPLEMENTS: complements.begin,
    Phase.CHILI: complements.chili,
    Phase.COFFEE: complements.coffee,
    Phase.END: rounds.end,
    Phase.DRAW: solo.draw,
    Phase.AUTOMA: solo.make_automa_juices,
    Phase.AUTOMA_BLOCK: solo.automa_block,
}


def run(state: MutableState) -> None:
    """Begin phases until a seat must decide or the game is over."""
    while state.agenda and not any(state.asks):
        step = state.agenda.pop()
        _BEGIN[step.phase](state, step.seat)
