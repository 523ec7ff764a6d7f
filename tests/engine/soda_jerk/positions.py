"""Positions of Soda Jerk for tests, written in a few words.

A card is written `kiwi2` or `switcheroo`. A card at a tap has the seat that placed it, `kiwi2/0`, and `^` if it lies
face up: `kiwi2/0^`.
"""

from typing import Final

from engine.game import Game
from engine.rng import SEED_BYTES, Rng
from engine.soda_jerk import SODA_JERK
from engine.soda_jerk.components import CODES, Card, Flavor
from engine.soda_jerk.events import Event, RoundEnded
from engine.soda_jerk.state import FinishedRound, Flip, Move, Options, Place, State, pack
from engine.soda_jerk.view import View

GAME: Final[Game[Options, State, Move, Event, View]] = SODA_JERK
STRAWBERRY, BLUEBERRY, BANANA, KIWI, ORANGE = Flavor

SIX: Final = "strawberry1 blueberry1 banana1 kiwi1 orange1 orange2"
"""A hand that is neither full nor small enough to end the round."""


def seed(number: int) -> Rng:
    """Return the generator with this number as its seed."""
    return Rng(number.to_bytes(SEED_BYTES, "big"))


def new(seat_count: int = 3, options: Options | None = None, number: int = 0) -> State:
    """Return the state at the start of a game."""
    return GAME.new_game(options or Options(), seat_count, seed(number))[0]


def card(text: str) -> Card:
    """Return a card."""
    return Card() if text == "switcheroo" else Card(Flavor[text[:-1].upper()], int(text[-1]))


def place(text: str, tap: Flavor) -> Place:
    """Return a placement of a card."""
    return Place(card(text), tap)


def hand(text: str) -> bytes:
    """Return a hand."""
    return bytes(sorted(CODES[card(word)] for word in text.split()))


def pile(text: str) -> bytes:
    """Return the pile of a tap."""
    laid = []
    for word in text.split():
        name, seat = word.removesuffix("^").split("/")
        laid.append(pack(CODES[card(name)], int(seat), word.endswith("^")))
    return bytes(laid)


def position(
    *hands: str,
    taps: dict[Flavor, str] | None = None,
    effects: tuple[Flavor, ...] = (),
    seat: int = 0,
    flips: int = 0,
    round_number: int = 1,
    points: tuple[tuple[int, ...], ...] = (),
    number: int = 0,
    removed: Flavor = ORANGE,
) -> State:
    """Return a state with these hands.

    Args:
        hands: by seat.
        taps: the cards at the taps.
        effects: the taps that show their B side.
        seat: the seat whose turn it is.
        flips: flips in a row.
        round_number: the current round.
        points: by seat, of each finished round.
        number: the number of the seed.
        removed: the removed flavor, with two seats.
    """
    flavors = tuple(flavor for flavor in Flavor if len(hands) > 2 or flavor != removed)
    empty = (b"",) * len(flavors)
    return State(
        options=Options(advanced=bool(effects)),
        rng=seed(number),
        taps=flavors,
        effects=effects,
        round=round_number,
        first_seat=0,
        seat=seat,
        flips_in_a_row=flips,
        hands=tuple(hand(text) for text in hands),
        piles=tuple(pile((taps or {}).get(tap, "")) for tap in flavors),
        finished=tuple(FinishedRound((), empty, (0,) * len(flavors), (b"",) * len(hands), scored) for scored in points),
    )


def play(state: State, *moves: Move) -> State:
    """Make moves, each for the seat whose turn it is."""
    for move in moves:
        state, _ = GAME.apply(state, state.seat, move)
    return state


def ended(state: State, *moves: Move) -> RoundEnded | None:
    """Make moves and return the end of the round that the last one causes, if any."""
    state = play(state, *moves[:-1])
    _, events = GAME.apply(state, state.seat, moves[-1])
    ends = [event for event in events if isinstance(event, RoundEnded)]
    assert len(ends) <= 1
    return ends[0] if ends else None


def value(tap: Flavor, text: str, *, effect: bool = False) -> int:
    """Return the value of a tap with these cards at the end of a round."""
    other, removed = [flavor for flavor in Flavor if flavor != tap][:2]
    hand = f"{tap.code}1 " * 4
    state = position(
        hand,
        hand,
        taps={tap: text, other: f"{tap.code}1/0"},
        effects=(tap,) if effect else (),
        flips=1,
        removed=removed,
    )
    end = ended(state, Flip(other, 1))
    assert end is not None
    return end.result.tap_values[state.taps.index(tap)]
