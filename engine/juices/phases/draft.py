"""The draft: every seat keeps one of two tiles and passes the other (JU-D1)."""

from engine.errors import IllegalMove
from engine.juices.components import DEALT
from engine.juices.events import Drawn, Kept, PassedOn, RoundStarted
from engine.juices.mutable_state import MutableState
from engine.juices.phases import ReadableState
from engine.juices.state import Ask, Keep


def deal(state: MutableState, _: int | None) -> None:
    """Deal two tiles to every seat."""
    state.round += 1
    state.events.append(RoundStarted(state.round))
    for seat in range(len(state.seats)):
        hand = bytes(sorted((state.draw(), state.draw())))
        state.change(seat, hand=hand, fresh=b"")
        state.events.append(Drawn(seat, DEALT, tuple(hand)))
        state.ask(seat, Ask.KEEP)


def legal_moves(state: ReadableState, seat: int) -> tuple[Keep, ...]:
    """Return a move for each of the two tiles."""
    return tuple([_KEEPS[tile] for tile in state.seats[seat].hand])


def keep(state: MutableState, seat: int, move: Keep) -> None:
    """Record the choice. No tile moves yet."""
    hand = state.seats[seat].hand
    if move.tile not in tuple(hand):
        raise IllegalMove(f"You do not hold tile #{move.tile}.")
    (passing,) = hand.replace(bytes((move.tile,)), b"")
    state.change(seat, passing=passing)
    state.clear_ask(seat)
    state.events.append(Kept(seat, move.tile))


def pass_on(state: MutableState, _: int | None) -> None:
    """Pass the other tiles of all seats to the right."""
    before = tuple(state.seats)
    for seat, giver in enumerate((*before[1:], before[0])):  # from the left neighbor
        received, own = giver.passing, before[seat]
        if received is None or own.passing is None:
            raise AssertionError("a seat has not chosen")
        kept = own.hand.replace(bytes((own.passing,)), b"")
        state.change(seat, hand=bytes(sorted((*kept, received))), passing=None, received=received)
        state.events.append(PassedOn((seat + 1) % len(before), seat, received))


_KEEPS = tuple(Keep(tile) for tile in range(256))
