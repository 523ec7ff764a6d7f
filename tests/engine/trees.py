"""Trees of moves with the expected number of move sequences, for the engine and the independent references."""

from collections.abc import Iterable
from random import Random
from typing import Any, Final, NamedTuple, Protocol, Self

from engine.catalogue import GAMES
from engine.juices.components import Mode
from engine.juices.state import Options as JuicesOptions
from engine.rng import SEED_BYTES, Rng
from engine.soda_jerk.state import Options as SodaJerkOptions
from engine.soda_smugglers.state import Options as SodaSmugglersOptions


class Tree(NamedTuple):
    """A tree of moves.

    Attributes:
        kind: the kind of game.
        options: its options.
        seat_count: its number of seats.
        seed: the seed of the game, and of the generator that picks the moves before the root.
        moves_before: the number of random moves before the root.
        counts: the number of sequences of 1, 2, 3 … moves from the root.
        reference_depth: the depth to which the slow reference is counted too.
    """

    kind: str
    options: Any
    seat_count: int
    seed: int
    moves_before: int
    counts: tuple[int, ...]
    reference_depth: int

    @property
    def rng(self) -> Rng:
        """The generator at the start of the game."""
        return Rng(self.seed.to_bytes(SEED_BYTES, "big"))

    def start(self) -> Any:
        """Return the state at the start of the game."""
        return GAMES[self.kind].new_game(self.options, self.seat_count, self.rng)[0]

    def path(self) -> list[tuple[int, Any]]:
        """Return the seats and moves before the root."""
        game, random, state = GAMES[self.kind], Random(self.seed), self.start()
        path = []
        for _ in range(self.moves_before):
            seat = random.choice(game.to_act(state))
            move = random.choice(game.legal_moves(state, seat))
            state, _ = game.apply(state, seat, move)
            path.append((seat, move))
        return path

    def root(self) -> Any:
        """Return the state at the root."""
        state = self.start()
        for seat, move in self.path():
            state, _ = GAMES[self.kind].apply(state, seat, move)
        return state


SOLO: Final = JuicesOptions(mode=Mode.SOLO, cursed_wild=True, juice_masters=True, complements_everywhere=True)
TREES: Final = {
    "Soda Jerk, start, 2 seats": Tree("soda_jerk", SodaJerkOptions(first_seat=0), 2, 7, 0, (40, 1320, 52272), 2),
    "Soda Jerk, start, 3 seats": Tree("soda_jerk", SodaJerkOptions(first_seat=0), 3, 7, 0, (50, 1600, 43200), 2),
    "Soda Jerk, start, 4 seats": Tree("soda_jerk", SodaJerkOptions(first_seat=0), 4, 7, 0, (40, 1120, 23520), 2),
    "Soda Jerk, flips, advanced": Tree("soda_jerk", SodaJerkOptions(advanced=True), 4, 12, 12, (40, 1620, 74520), 2),
    "Soda Smugglers, packing": Tree("soda_smugglers", SodaSmugglersOptions(), 3, 1, 0, (51, 1188, 10692), 2),
    "Soda Smugglers, guard": Tree("soda_smugglers", SodaSmugglersOptions(), 5, 2, 4, (17, 157, 3948), 2),
    "Soda Smugglers, dog": Tree("soda_smugglers", SodaSmugglersOptions(events=True), 4, 13, 3, (10, 171, 15324), 2),
    "Soda Smugglers, all bribes": Tree("soda_smugglers", SodaSmugglersOptions(events=True), 3, 2, 2, (10, 84, 1262), 2),
    "Juices, draft": Tree("juices", JuicesOptions(), 2, 1, 0, (4, 8, 128, 1792), 3),
    "Juices, making a juice": Tree("juices", JuicesOptions(mode=Mode.ORDERS_TO_GO_GO), 3, 45, 14, (26, 560, 9120), 2),
    "Juices, moving a part": Tree("juices", JuicesOptions(mode=Mode.BASIC), 2, 12, 18, (12, 40, 352), 2),
    "Juices, Block actions": Tree("juices", JuicesOptions(mode=Mode.ADVANCED), 2, 44, 13, (9, 76, 304), 2),
    "Juices, chili": Tree("juices", JuicesOptions(mode=Mode.BASIC), 3, 10, 19, (16, 128, 768), 2),
    "Juices, Solo": Tree("juices", SOLO, 1, 17, 9, (7, 70, 1260), 2),
}


def trees_of(kind: str) -> list[str]:
    """Return the names of the trees of a kind of game."""
    return [name for name, tree in TREES.items() if tree.kind == kind]


class Position(Protocol):
    """A position of a reference."""

    def moves(self) -> Iterable[tuple[int, Any]]:
        """Return the legal moves of all awaited seats."""

    def after(self, seat: int, move: Any) -> Self:
        """Return the position after a move, and leave this one unchanged."""


def count_reference_leaves(position: Position, depth: int) -> int:
    """Return the number of sequences of `depth` moves from a position of a reference."""
    moves = list(position.moves())
    if depth == 1:
        return len(moves)
    return sum(count_reference_leaves(position.after(seat, move), depth - 1) for seat, move in moves)
