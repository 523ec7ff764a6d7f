"""The rules of Soda Jerk: set-up, turns, the end of a round and the standings; ids as in docs/rules/soda-jerk.md.

A game is a row of turns. After each one `_next_turn` decides what comes next: another turn, another round, or the end.
"""

from collections.abc import Sequence
from typing import Final, TypeVar

from msgspec.structs import replace

from engine.errors import GameOver, IllegalMove, InvalidOptions, NotYourTurn
from engine.game import Score, ScoreLine, SeatScore
from engine.rng import Rng, choice, shuffle
from engine.soda_jerk.components import (
    B_SIDES,
    CARDS,
    CARDS_PER_FLAVOR,
    CODES,
    DEALT,
    FULL_HAND,
    LAST_CARDS,
    MOST_AT_TAPS,
    NEW_B_SIDES,
    ROUNDS,
    SEATS,
    SWITCHEROO,
    Flavor,
    flavor_deck,
)
from engine.soda_jerk.scoring import hand_points, kept, tap_values
from engine.soda_jerk.state import (
    FACE_UP,
    Event,
    FinishedRound,
    Flip,
    Flipped,
    Move,
    Options,
    Place,
    Placed,
    RoundEnded,
    RoundStarted,
    State,
    pack,
    revealed,
    unpack,
)
from engine.soda_jerk.view import round_result
from engine.words import signed, victory

T = TypeVar("T")

# Every move there is, made once: places by tap and card code, flips by tap and position - 1.
PLACES: Final = {tap: tuple(Place(card, tap) for card in CARDS) for tap in Flavor}
FLIPS: Final = {tap: tuple(Flip(tap, position) for position in range(1, MOST_AT_TAPS + 1)) for tap in Flavor}

# --- Set-up -----------------------------------------------------------------------------------------------------------


def new_game(options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
    """Sets a game up and deals the first round.

    Raises:
        InvalidOptions: the options or the number of seats do not make a game.
    """
    _check(options, seat_count)
    first_seat, rng = _given_or_drawn(options.first_seat, rng, range(seat_count))  # SJ-S3
    taps = tuple(Flavor)
    if seat_count == 2:  # SJ-S4, before any tap turns to its B side
        removed, rng = _given_or_drawn(options.removed_flavor, rng, taps)
        taps = tuple(tap for tap in taps if tap != removed)
    before = State(
        options=options,
        rng=rng,
        taps=taps,
        effects=(),
        round=0,
        first_seat=first_seat,
        seat=first_seat,
        flips_in_a_row=0,
        hands=(b"",) * seat_count,
        piles=(b"",) * len(taps),
    )
    return _start_round(before, first_seat)


def _check(options: Options, seat_count: int) -> None:
    if seat_count not in SEATS:  # SJ-S1
        raise InvalidOptions("seat_count", f"Soda Jerk is for 2 to 4 seats, not {seat_count}.")
    if options.first_seat is not None and not 0 <= options.first_seat < seat_count:  # SJ-S3
        raise InvalidOptions(
            "first_seat", f"There is no seat {options.first_seat}; the seats are numbered from 0 to {seat_count - 1}."
        )
    if options.removed_flavor is not None and seat_count != 2:  # SJ-S4
        raise InvalidOptions("removed_flavor", f"Only two seats play without a flavor; {seat_count} use all five.")
    copies = options.copies_per_value
    if len(copies) != 3 or min(copies) < 0 or sum(copies) != CARDS_PER_FLAVOR:  # SJ-C2
        raise InvalidOptions(
            "copies_per_value",
            f"How many cards print 1, 2 and 3: three counts, none negative, that add up to {CARDS_PER_FLAVOR}.",
        )


def _given_or_drawn(given: T | None, rng: Rng, items: Sequence[T]) -> tuple[T, Rng]:
    return choice(rng, items) if given is None else (given, rng)


def _start_round(state: State, first_seat: int) -> tuple[State, tuple[Event, ...]]:
    round_number = state.round + 1
    effects, rng = _turn_taps(state, round_number)
    hands, rng = _deal(state, rng)
    started = replace(
        state,
        rng=rng,
        effects=effects,
        round=round_number,
        first_seat=first_seat,
        seat=first_seat,
        flips_in_a_row=0,
        hands=hands,
        piles=(b"",) * len(state.taps),
    )
    return started, (RoundStarted(round_number, first_seat, effects),)


def _turn_taps(state: State, round_number: int) -> tuple[tuple[Flavor, ...], Rng]:
    """SJ-A1: turns more taps to their B sides; one that shows it stays so."""
    if not state.options.advanced:
        return (), state.rng
    drawn, rng = shuffle(state.rng, [tap for tap in state.taps if tap not in state.effects])
    return tuple(sorted((*state.effects, *drawn[: NEW_B_SIDES[round_number]]))), rng


def _deal(state: State, rng: Rng) -> tuple[tuple[bytes, ...], Rng]:
    """SJ-S2, SJ-G1: from the whole flavor deck, shuffled anew; what is left over is nobody's."""
    seat_count = len(state.hands)
    deck, rng = shuffle(rng, flavor_deck(state.taps, state.options.copies_per_value))
    dealt = DEALT[seat_count]
    switcheroo = (SWITCHEROO,) if seat_count == 2 else ()  # SJ-S4, SJ-C3
    hands = tuple(bytes(sorted((*deck[seat * dealt : (seat + 1) * dealt], *switcheroo))) for seat in range(seat_count))
    return hands, rng


# --- Turns ------------------------------------------------------------------------------------------------------------


def to_act(state: State) -> tuple[int, ...]:
    """Names the seat whose turn it is; nobody when the game is over."""
    return () if _over(state) else (state.seat,)


def legal_moves(state: State, seat: int) -> tuple[Move, ...]:
    """Lists the seat's places, by card and then by tap, and then the flips, by tap and then by position."""
    if seat != state.seat or _over(state):
        return ()
    return (*_places(state, seat), *_flips(state, seat))


def apply(state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
    """Makes a turn, and ends the round and starts the next where that follows.

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
    """SJ-T3: a seat's first turn takes a card out of its hand, so its hand is full until then and never again."""
    return len(state.hands[seat]) == FULL_HAND[len(state.hands)]


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

    # SJ-A2, Clear glass: not on a first turn, or a first player could end a round alone by SJ-E3.
    face_up = move.tap in state.effects and B_SIDES[move.tap].face_up and not first_turn
    packed = pack(code, seat, face_up)
    at = hand.index(code)
    placed = replace(
        state,
        hands=_with(state.hands, seat, hand[:at] + hand[at + 1 :]),
        piles=_with(state.piles, tap, pile + bytes((packed,))),
        flips_in_a_row=0,  # SJ-E2
    )
    return placed, Placed(seat, move.tap, unpack(packed, len(pile) + 1))


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
    return flipped, Flipped(seat, move.tap, unpack(packed, move.position))


def _with(items: tuple[bytes, ...], index: int, item: bytes) -> tuple[bytes, ...]:
    """Puts an item in the place of another."""
    return (*items[:index], item, *items[index + 1 :])


# --- The end of a turn, of a round, of the game -----------------------------------------------------------------------


def _next_turn(state: State) -> tuple[State, tuple[Event, ...]]:
    """Passes the turn on (SJ-T1), unless the round ends here."""
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
    values = tap_values(state)
    worth = dict(zip(state.taps, values, strict=True))
    finished = FinishedRound(
        effects=state.effects,
        piles=tuple(revealed(pile) for pile in state.piles),  # SJ-P1
        tap_values=values,
        hands=state.hands,
        points=tuple(hand_points(hand, worth) for hand in state.hands),
    )
    ended = replace(state, piles=finished.piles, finished=(*state.finished, finished))
    result = RoundEnded(round_result(state.round, state.taps, state.options.advanced, finished))
    if _over(ended):  # SJ-G1
        return ended, (result,)
    totals = _totals(ended)
    lowest = [seat for seat, total in enumerate(totals) if total == min(totals)]
    first_seat, rng = choice(ended.rng, lowest) if len(lowest) > 1 else (lowest[0], ended.rng)  # SJ-G2
    started, events = _start_round(replace(ended, rng=rng), first_seat)
    return started, (result, *events)


# --- The standings ----------------------------------------------------------------------------------------------------


def score(state: State) -> Score:
    """Tells the standings by the finished rounds."""
    totals = _totals(state)
    final = _over(state)
    winners = tuple(seat for seat, total in enumerate(totals) if total == max(totals)) if final else ()  # SJ-G3
    seats = tuple(
        SeatScore(seat, total, 1 + sum(other > total for other in totals), _lines(state, seat))
        for seat, total in enumerate(totals)
    )
    return Score(final, seats, winners, _note(state, winners))


def _totals(state: State) -> list[int]:
    return [sum(finished.points[seat] for finished in state.finished) for seat in range(len(state.hands))]


def _lines(state: State, seat: int) -> tuple[ScoreLine, ...]:
    """One line for each finished round and flavor that the seat had kept."""
    lines = []
    for round_number, finished in enumerate(state.finished, start=1):
        worth = dict(zip(state.taps, finished.tap_values, strict=True))
        for flavor, count in kept(finished.hands[seat]).items():
            value = worth[flavor]
            label = f"{count} \N{MULTIPLICATION SIGN} {flavor.title} at {signed(value)}"
            lines.append(ScoreLine(flavor.code, label, count * value, round_number))
    return tuple(lines)


def _note(state: State, winners: tuple[int, ...]) -> str:
    if not winners:
        rounds = len(state.finished)
        return f"The standings after {rounds} of {ROUNDS} rounds." if rounds else "No round is over yet."
    return victory(winners)
