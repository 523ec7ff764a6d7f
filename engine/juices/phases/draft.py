"""The draft: every seat keeps one of two tiles and passes the other (JU-D1)."""

from engine.errors import IllegalMove
from engine.juices.events import Drawn, End, Kept, PassedOn, RoundStarted
from engine.juices.phases import Position, rounds
from engine.juices.state import Ask, Keep
from engine.juices.table import Table

_DEALT = 2


def deal(table: Table, _: int | None) -> None:
    """Deals two tiles to every seat, unless there are too few."""
    seats = range(len(table.seats))
    if table.left() < _DEALT * len(seats):  # JU-D3
        rounds.over(table, End.TILES_RAN_OUT)
        return
    rounds.next_order(table)
    table.round += 1
    table.events.append(RoundStarted(table.round))
    for seat in seats:
        hand = bytes(sorted((table.draw(), table.draw())))
        table.change(seat, hand=hand, fresh=b"")
        table.events.append(Drawn(seat, _DEALT, tuple(hand)))
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
    table.ask(seat, Ask.NOTHING)
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
