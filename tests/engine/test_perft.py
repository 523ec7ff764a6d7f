"""Perft tests: the number of move sequences changes only if the rules change."""

from typing import Any

import pytest

from engine.catalogue import GAMES
from engine.perft import count_leaves, divide, perft
from engine.soda_jerk import SODA_JERK
from tests.engine.soda_jerk.positions import BANANA, KIWI, ORANGE, STRAWBERRY, position
from tests.engine.trees import TREES


def explained(kind: str, state: Any, depth: int, counts: list[int]) -> str:
    """Return a message with the counts, the moves below the root, and the root."""
    game = GAMES[kind]
    moves = "\n".join(f"{move}: {count}" for move, count in divide(game, state, depth).items())
    return f"counts by depth: {counts}\nby first move, to depth {depth}:\n{moves}\n{game.format_state(state)}"


@pytest.mark.parametrize("name", TREES)
def test_the_tree_has_the_expected_counts(name: str) -> None:
    tree, root = TREES[name], TREES[name].root()
    depths = range(1, len(tree.counts) + 1)
    counts = [count_leaves(GAMES[tree.kind], root, depth) for depth in depths]
    assert counts == list(tree.counts), explained(tree.kind, root, len(tree.counts), counts)


def test_every_game_has_trees() -> None:
    assert {tree.kind for tree in TREES.values()} == set(GAMES)


@pytest.mark.parametrize("name", ["Soda Jerk, start, 2 seats", "Soda Smugglers, packing", "Juices, draft"])
def test_perft_counts_the_tree_from_the_start_of_a_game(name: str) -> None:
    tree = TREES[name]
    game = GAMES[tree.kind]
    counts = tuple(perft(game, tree.options, tree.seat_count, tree.rng.seed, depth) for depth in range(4))
    assert counts == (1, *tree.counts[:3])


@pytest.mark.parametrize("kind", GAMES)
def test_divide_counts_the_sequences_after_each_legal_move(kind: str) -> None:
    game = GAMES[kind]
    state, _ = game.new_game(game.options_type(), game.about.seats[-1], TREES["Juices, draft"].rng)
    division = divide(game, state, 2)
    moves = {f"{seat} {move}" for seat in game.to_act(state) for move in game.legal_moves(state, seat)}
    assert set(division) == moves
    assert sum(division.values()) == count_leaves(game, state, 2)


def test_the_end_of_a_round_of_soda_jerk_has_the_expected_counts() -> None:
    """The first seat places one of 4 kinds of cards at one of 4 taps, or flips one of 3 cards: 19 moves."""
    state = position(
        "kiwi1 kiwi2 kiwi2 banana1 switcheroo",
        "strawberry1 strawberry1 banana2 switcheroo",
        taps={KIWI: "kiwi3/0 kiwi1/1^ banana1/1", STRAWBERRY: "banana3/1"},
        effects=(BANANA,),
        removed=ORANGE,
    )
    counts = [count_leaves(SODA_JERK, state, depth) for depth in (1, 2, 3)]
    assert counts == [19, 294, 5247], explained("soda_jerk", state, 3, counts)
