"""The rules of Soda Jerk: turns, and how a round and the game end; rule ids as in docs/rules/soda-jerk.md.

A game is a sequence of turns. After each turn `_next_turn` decides what comes next: another turn, another round, or the
end of the game.
"""

from typing import Final

from msgspec.structs import replace

from engine.errors import GameOver, IllegalMove, NotYourTurn
from engine.rng import choice
from engine.soda_jerk.components import B_SIDES, CARDS, CODES, FULL_HAND, LAST_CARDS, MAX_AT_TAPS, ROUNDS, Flavor
from engine.soda_jerk.events import Event, Flipped, Placed, RoundEnded, placed_card, round_result
from engine.soda_jerk.scoring import finished_round, totals
from engine.soda_jerk.setup import start_round
from engine.soda_jerk.state import FACE_UP, Flip, Move, Place, State, pack

# Every possible move, created once: placements by tap and card code, flips by tap and position - 1.
PLACES: Final = {tap: tuple(Place(card, tap) for card in CARDS) for tap in Flavor}
FLIPS: Final = {tap: tuple(Flip(tap, position) for position in range(1, MAX_AT_TAPS + 1)) for tap in Flavor}


def to_act(state: State) -> tuple[int, ...]:
    """Return the seat whose turn it is; empty when the game is over."""
    return () if _over(state) else (state.seat,)


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Return the seat's placements, by card and then by tap, and then its flips, by tap and then by position."""
    if seat != state.seat or _over(state):
        return ()
    return (*_places(state, seat), *_flips(state, seat))


def apply(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Return the state after a turn, with the next round started where this one ends, and the events.

    Raises:
        GameOver: the game is over.
        NotYourTurn: it is another seat's turn.
        IllegalMove: the rules forbid this move now.
    """
    if _over(state):
        raise GameOver("The game is over.")
    if seat != state.seat:  # SJ-T1
        raise NotYourTurn(f"It is the turn of seat {state.seat}.")
    moved, event = _place(state, seat, move) if isinstance(move, Place) else _flip(state, seat, move)
    after, events = _next_turn(moved)
    return after, (event, *events)


def _over(state: State) -> bool:
    return len(state.finished) == ROUNDS


def _first_turn(state: State, seat: int) -> bool:
    """Return whether the seat has its first turn of the round (SJ-T3): its hand is full only before that turn."""
    return len(state.hands[seat]) == FULL_HAND[len(state.hands)]


# --- Placing a card ---------------------------------------------------------------------------------------------------


def _places(state: State, seat: int) -> list[Place]:
    if _first_turn(state, seat):  # SJ-T3
        rows = [PLACES[tap] for tap, pile in zip(state.taps, state.piles, strict=True) if not pile]
    else:
        rows = [PLACES[tap] for tap in state.taps]
    return [row[code] for code in dict.fromkeys(state.hands[seat]) for row in rows]  # equal cards are one choice


def _place(state: State, seat: int, move: Place) -> tuple[State, Placed]:
    hand = state.hands[seat]
    code = CODES.get(move.card)
    if code is None or code not in hand:  # SJ-T2
        raise IllegalMove(f"You do not hold {move.card.phrase}.")
    if move.tap not in state.taps:  # SJ-T2
        raise IllegalMove(f"The {move.tap.title} tap is not in play.")
    tap = state.taps.index(move.tap)
    pile = state.piles[tap]
    first_turn = _first_turn(state, seat)
    if first_turn and pile:  # SJ-T3
        raise IllegalMove(
            f"Your first turn of a round must place a card at a tap without cards; the {move.tap.title} tap has some."
        )

    # SJ-A2, Clear glass: not on a first turn, because the first seat could then end a round alone by SJ-E3.
    face_up = move.tap in state.effects and B_SIDES[move.tap].face_up and not first_turn
    packed = pack(code, seat, face_up)
    at = hand.index(code)
    placed = replace(
        state,
        hands=_with(state.hands, seat, hand[:at] + hand[at + 1 :]),
        piles=_with(state.piles, tap, pile + bytes((packed,))),
        flips_in_a_row=0,  # SJ-E2
    )
    return placed, Placed(seat, move.tap, placed_card(packed, len(pile) + 1))


# --- Flipping a card --------------------------------------------------------------------------------------------------


def _flips(state: State, seat: int) -> list[Flip]:
    if _first_turn(state, seat):  # SJ-T3
        return []
    return [
        flip
        for tap, pile in zip(state.taps, state.piles, strict=True)
        for flip, packed in zip(FLIPS[tap], pile, strict=False)
        if packed < FACE_UP  # SJ-T4
    ]


def _flip(state: State, seat: int, move: Flip) -> tuple[State, Flipped]:
    if _first_turn(state, seat):  # SJ-T3
        raise IllegalMove("Your first turn of a round must place a card at a tap without cards; you cannot flip yet.")
    if move.tap not in state.taps:  # SJ-T4
        raise IllegalMove(f"The {move.tap.title} tap is not in play.")
    tap = state.taps.index(move.tap)
    pile = state.piles[tap]
    if not 1 <= move.position <= len(pile):  # SJ-T4
        raise IllegalMove(f"There is no card {move.position} at the {move.tap.title} tap; it has {len(pile)}.")
    at = move.position - 1
    packed = pile[at]
    if packed >= FACE_UP:  # SJ-T4
        raise IllegalMove(f"Card {move.position} at the {move.tap.title} tap lies face up already.")

    packed |= FACE_UP
    flipped = replace(
        state,
        piles=_with(state.piles, tap, pile[:at] + bytes((packed,)) + pile[at + 1 :]),
        flips_in_a_row=state.flips_in_a_row + 1,  # SJ-E2
    )
    return flipped, Flipped(seat, move.tap, placed_card(packed, move.position))


def _with(items: tuple[bytes, ...], index: int, item: bytes) -> tuple[bytes, ...]:
    """Return the items with one of them replaced."""
    return (*items[:index], item, *items[index + 1 :])


# --- The end of a turn, of a round, of the game -----------------------------------------------------------------------


def _next_turn(state: State) -> tuple[State, tuple[Event, ...]]:
    """Pass the turn to the next seat (SJ-T1), or end the round."""
    seat_count = len(state.hands)
    seat = (state.seat + 1) % seat_count
    flips = state.flips_in_a_row
    if (
        flips == seat_count  # SJ-E2
        or (flips and all(not pile or min(pile) >= FACE_UP for pile in state.piles))  # SJ-E3, after flips only
        or len(state.hands[seat]) <= LAST_CARDS  # SJ-E1, a Switcheroo counts
    ):
        return _end_round(state)
    return replace(state, seat=seat), ()


def _end_round(state: State) -> tuple[State, tuple[Event, ...]]:
    finished = finished_round(state)
    ended = replace(state, piles=finished.piles, finished=(*state.finished, finished))
    result = RoundEnded(round_result(state.round, state.taps, state.options.advanced, finished))
    if _over(ended):  # SJ-G1
        return ended, (result,)
    points = totals(ended)
    lowest = [seat for seat, total in enumerate(points) if total == min(points)]
    first_seat, rng = choice(ended.rng, lowest) if len(lowest) > 1 else (lowest[0], ended.rng)  # SJ-G2
    started, events = start_round(replace(ended, rng=rng), first_seat)
    return started, (result, *events)
