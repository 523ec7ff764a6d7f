"""The draft: every seat keeps one of two tiles and passes the other (JU-D1)."""

from engine.errors import IllegalMove
from engine.juices.components import DEALT
from engine.juices.events import Drawn, Kept, PassedOn, RoundStarted
from engine.juices.phases import Position
from engine.juices.state import Ask, Keep
from engine.juices.table import Table


def deal(table: Table, _: int | None) -> None:
    """Deals two tiles to every seat."""
    table.round += 1
    table.events.append(RoundStarted(table.round))
    for seat in range(len(table.seats)):
        hand = bytes(sorted((table.draw(), table.draw())))
        table.change(seat, hand=hand, fresh=b"")
        table.events.append(Drawn(seat, DEALT, tuple(hand)))
        table.ask(seat, Ask.KEEP)


def legal_moves(position: Position, seat: int) -> tuple[Keep, ...]:
    """Lists the two tiles."""
    return tuple([_KEEPS[tile] for tile in position.seats[seat].hand])


def keep(table: Table, seat: int, move: Keep) -> None:
    """Notes the choice. Nothing moves yet."""
    hand = table.seats[seat].hand
    if move.tile not in tuple(hand):
        raise IllegalMove(f"You do not hold tile #{move.tile}.")
    (passing,) = hand.replace(bytes((move.tile,)), b"")
    table.change(seat, passing=passing)
    table.answered(seat)
    table.events.append(Kept(seat, move.tile))


def pass_on(table: Table, _: int | None) -> None:
    """Passes the other tiles to the right, all at once."""
    before = tuple(table.seats)
    for seat, giver in enumerate((*before[1:], before[0])):  # from the left neighbour
        received, own = giver.passing, before[seat]
        if received is None or own.passing is None:
            raise AssertionError("a seat has not chosen")
        kept = own.hand.replace(bytes((own.passing,)), b"")
        table.change(seat, hand=bytes(sorted((*kept, received))), passing=None, received=received)
        table.events.append(PassedOn((seat + 1) % len(before), seat, received))


_KEEPS = tuple(Keep(tile) for tile in range(256))
