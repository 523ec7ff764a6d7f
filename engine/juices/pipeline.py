"""The loop behind the agenda: begins one phase after the other until somebody is asked something."""

from collections.abc import Callable
from typing import Final

from engine.juices.agenda import Phase
from engine.juices.phases import blocks, complements, draft, placing, rounds, solo
from engine.juices.table import Table

_BEGIN: Final[dict[Phase, Callable[[Table, int | None], None]]] = {
    Phase.DEAL: draft.deal,
    Phase.PASS: draft.pass_on,
    Phase.PLACE: placing.begin,
    Phase.BLOCKS: blocks.begin,
    Phase.COMPLEMENTS: complements.begin,
    Phase.CHILI: complements.chili,
    Phase.COFFEE: complements.coffee,
    Phase.END: rounds.end,
    Phase.DRAW: solo.draw,
    Phase.AUTOMA: solo.automa,
    Phase.AUTOMA_BLOCK: solo.automa_block,
}


def run(table: Table) -> None:
    """Goes on until somebody is asked something or the game is over."""
    while table.agenda and not any(table.asks):
        step = table.agenda.pop()
        _BEGIN[step.phase](table, step.seat)
