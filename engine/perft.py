"""Counted trees of moves, to check that a change of the code does not change the rules.

Chess programmers call the count of all sequences of a number of moves "perft". Almost every error in `legal_moves` or
`apply` changes it. `divide` finds the move below which two implementations differ.

Seats that are awaited concurrently can move in any order, and every order counts. A game that ends earlier has no
sequence.
"""

from typing import Any

from engine.game import AnyGame
from engine.rng import Rng


def perft(game: AnyGame, options: Any, seat_count: int, seed: bytes, depth: int) -> int:
    """Return the number of sequences of `depth` moves from the start of a game.

    Raises:
        InvalidOptions: no game can be set up with these options and this number of seats.
    """
    state, _ = game.new_game(options, seat_count, Rng(seed))
    return count_leaves(game, state, depth)


def count_leaves(game: AnyGame, state: Any, depth: int) -> int:
    """Return the number of sequences of `depth` moves from a state."""
    if depth == 0:
        return 1
    if depth == 1:
        return sum(len(game.legal_moves(state, seat)) for seat in game.to_act(state))
    return sum(divide(game, state, depth).values())


def divide(game: AnyGame, state: Any, depth: int) -> dict[str, int]:
    """Return, for each first move, the number of sequences of `depth` moves from a state that begin with it.

    The keys are a seat and its move in the notation, such as `0 place ki2@or`.
    """
    return {
        f"{seat} {move}": count_leaves(game, game.apply(state, seat, move)[0], depth - 1)
        for seat in game.to_act(state)
        for move in game.legal_moves(state, seat)
    }
