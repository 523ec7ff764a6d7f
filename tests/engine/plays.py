"""Whole games played at random, step by step."""

from random import Random
from typing import Any, NamedTuple

from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.game import AnyGame
from engine.rng import SEED_BYTES, Rng
from tests.engine.cases import CASES


class Step(NamedTuple):
    """One move and what it brought about."""

    before: Any
    seat: int
    move: Any
    after: Any
    events: tuple[Any, ...]


class Play(NamedTuple):
    """A whole game: how it was set up, and every step until its end."""

    options: Any
    seat_count: int
    rng: Rng
    start: Any
    opening: tuple[Any, ...]
    steps: list[Step]

    def __repr__(self) -> str:
        return f"<{len(self.steps)} moves of {self.seat_count} seats with {self.options}, seed {self.rng.seed.hex()}>"

    @property
    def states(self) -> list[Any]:
        """Every state, the first included."""
        return [self.start, *(step.after for step in self.steps)]

    @property
    def end(self) -> Any:
        """The last state."""
        return self.states[-1]


def pick(moves: tuple[Any, ...], luck: Random, evenness: float) -> Any:
    """Picks a move: with a chance of `evenness` every type of move is as likely as the other, else every move is."""
    if luck.random() < evenness:
        kinds = sorted({type(move).__name__ for move in moves})
        kind = luck.choice(kinds)
        moves = tuple(move for move in moves if type(move).__name__ == kind)
    return luck.choice(moves)


def play(game: AnyGame, options: Any, seat_count: int, seed: bytes, luck: Random, longest: int) -> Play:
    """Plays a game to its end, at most `longest` moves."""
    evenness = luck.choice((0.0, 0.2, 0.6))
    rng = Rng(seed)
    start, opening = game.new_game(options, seat_count, rng)
    state = start
    steps: list[Step] = []
    while (awaited := game.to_act(state)) and len(steps) <= longest:
        seat = luck.choice(awaited)
        move = pick(game.legal_moves(state, seat), luck, evenness)
        after, events = game.apply(state, seat, move)
        steps.append(Step(state, seat, move, after, events))
        state = after
    return Play(options, seat_count, rng, start, opening, steps)


@st.composite
def plays(draw: st.DrawFn, kind: str) -> Play:
    """Draws a game of a kind: any number of seats, any options, any seed, any moves."""
    game = GAMES[kind]
    seat_count = draw(st.sampled_from(list(game.about.seats)))
    options = draw(CASES[kind].options(seat_count))
    luck = Random(draw(st.integers(0, 2**64 - 1)))
    return play(game, options, seat_count, luck.randbytes(SEED_BYTES), luck, CASES[kind].longest)
