"""The start and the end of a round or a turn of Solo, and the end of the game."""

from typing import Final

from engine.juices.components import DEALT, JUICES_TO_END, Fruit, Mode
from engine.juices.events import End, GameEnded, OrderRevealed
from engine.juices.mutable_state import MutableState
from engine.juices.phases.sequences import ROUND, TURN

_ENDED_BY_JUICES: Final = (Mode.BASIC, Mode.ADVANCED)


def end(state: MutableState, _: int | None) -> None:
    """End the game if its conditions are met, else start another round."""
    if (why := _end_reason(state)) is not None:
        over(state, why)
        return
    if state.order_met:  # JU-M3
        state.orders, state.order_met = state.orders[1:], False
        reveal_order(state)
    start(state)


def start(state: MutableState) -> None:
    """Put a round, or a turn of Solo, on the agenda."""
    state.push(TURN if state.mode == Mode.SOLO else ROUND)


def reveal_order(state: MutableState) -> None:
    """Reveal the active order."""
    state.events.append(OrderRevealed(Fruit(state.orders[0]), len(state.orders) - 1))


def over(state: MutableState, why: End) -> None:
    """End the game."""
    state.agenda.clear()
    state.events.append(GameEnded(why))


def _end_reason(state: MutableState) -> End | None:
    if state.order_met and len(state.orders) == 1:  # JU-M3
        return End.ORDERS_FULFILLED
    if state.mode in _ENDED_BY_JUICES and any(seat.juices >= JUICES_TO_END for seat in state.seats):  # JU-E1
        return End.SIX_JUICES
    if state.last_round:  # JU-E2
        return End.NO_CELL
    if state.left() < DEALT * len(state.seats):  # JU-D3, JU-O4; before another order is revealed (JU-M3)
        return End.TILES_RAN_OUT
    return None
