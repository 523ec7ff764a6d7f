"""Whole games with random moves, step by step."""

from functools import lru_cache
from random import Random
from typing import Any, Final, NamedTuple

from hypothesis import settings
from hypothesis import strategies as st

from engine.catalogue import GAMES
from engine.game import AnyGame
from engine.rng import SEED_BYTES, Rng
from tests.engine.cases import CASES

POOL: Final = 64
"""The number of games of each kind in an ordinary run. Tests share them, because playing takes more time than checking.

Each test still sees as many games as its number of examples. A run with more examples draws from all games.
"""


class Step(NamedTuple):
    """One move and its result."""

    before: Any
    seat: int
    move: Any
    after: Any
    events: tuple[Any, ...]


class Play(NamedTuple):
    """A whole game: its set-up, and every step until its end."""

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
        """Every state, including the first."""
        return [self.start, *(step.after for step in self.steps)]

    @property
    def end(self) -> Any:
        """The last state."""
        return self.states[-1]

    def sample(self, number: int) -> list[Step]:
        """Return up to this number of steps of each type of move, spread over the game."""
        by_type: dict[type, list[Step]] = {}
        for step in self.steps:
            by_type.setdefault(type(step.move), []).append(step)
        return [step for steps in by_type.values() for step in steps[:: max(1, len(steps) // number)][:number]]


def pick(moves: tuple[Any, ...], random: Random, evenness: float) -> Any:
    """Return a random move: choose a type of move uniformly with probability `evenness`, else a move uniformly."""
    if random.random() < evenness:
        kinds = sorted({type(move).__name__ for move in moves})
        kind = random.choice(kinds)
        moves = tuple(move for move in moves if type(move).__name__ == kind)
    return random.choice(moves)


def play(game: AnyGame, options: Any, seat_count: int, seed: bytes, random: Random, limit: int) -> Play:
    """Play a game to its end, or until it exceeds the limit of moves."""
    evenness = random.choice((0.0, 0.2, 0.6))
    rng = Rng(seed)
    start, opening = game.new_game(options, seat_count, rng)
    state = start
    steps: list[Step] = []
    while (awaited := game.to_act(state)) and len(steps) <= limit:
        seat = random.choice(awaited)
        move = pick(game.legal_moves(state, seat), random, evenness)
        after, events = game.apply(state, seat, move)
        steps.append(Step(state, seat, move, after, events))
        state = after
    return Play(options, seat_count, rng, start, opening, steps)


@lru_cache(maxsize=POOL * len(GAMES))
def numbered(kind: str, number: int) -> Play:
    """Play the game of a kind with this number. The numbers of seats cycle; all else is random."""
    game, random = GAMES[kind], Random(f"{kind} {number}")
    seat_count = game.about.seats[number % len(game.about.seats)]
    options = CASES[kind].options(seat_count, random)
    return play(game, options, seat_count, random.randbytes(SEED_BYTES), random, CASES[kind].max_moves)


def plays(kind: str) -> st.SearchStrategy[Play]:
    """Return a strategy for games of a kind, with any number of seats, options, seed and moves."""
    numbers = POOL if settings().max_examples < POOL else 2**32
    return st.integers(0, numbers - 1).map(lambda number: numbered(kind, number))
