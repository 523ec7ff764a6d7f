"""The end of a round, of a turn of Solo, and of the game."""

from typing import Final

from engine.juices.agenda import ROUND, TURN
from engine.juices.components import DEALT, JUICES_TO_END, Fruit, Mode
from engine.juices.events import End, GameEnded, OrderRevealed
from engine.juices.table import Table

_ENDED_BY_JUICES: Final = (Mode.BASIC, Mode.ADVANCED)


def end(table: Table, _: int | None) -> None:
    """Ends the game if it is time, else begins another round."""
    if (why := _why_over(table)) is not None:
        over(table, why)
        return
    if table.order_met:  # JU-M3
        table.orders, table.order_met = table.orders[1:], False
        reveal_order(table)
    start(table)


def start(table: Table) -> None:
    """Puts a round, or a turn of Solo, on the agenda."""
    table.push(TURN if table.mode == Mode.SOLO else ROUND)


def reveal_order(table: Table) -> None:
    """Tells the active order."""
    table.events.append(OrderRevealed(Fruit(table.orders[0]), len(table.orders) - 1))


def over(table: Table, why: End) -> None:
    """Ends the game."""
    table.agenda.clear()
    table.events.append(GameEnded(why))


def _why_over(table: Table) -> End | None:
    if table.order_met and len(table.orders) == 1:  # JU-M3
        return End.ORDERS_FULFILLED
    if table.mode in _ENDED_BY_JUICES and any(seat.juices >= JUICES_TO_END for seat in table.seats):  # JU-E1
        return End.SIX_JUICES
    if table.last_round:  # JU-E2
        return End.NO_CELL
    if table.left() < DEALT * len(table.seats):  # JU-D3, JU-O4; here, so that no order is revealed for nothing (JU-M3)
        return End.TILES_RAN_OUT
    return None
