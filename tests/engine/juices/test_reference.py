"""The engine and the independent reference play the same games and agree on everything."""

from collections.abc import Callable, Iterator
from itertools import product
from random import Random
from typing import Any, Final, NamedTuple, Self

import pytest
from hypothesis import given, settings

from engine.juices.components import Complement, Mode
from engine.juices.events import OrderRevealed
from engine.juices.state import (
    AddBlock,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Move,
    Options,
    Pass,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
    State,
)
from engine.rng import SEED_BYTES, Rng
from tests.engine.juices import reference, reference_grid
from tests.engine.juices.playthrough import choose
from tests.engine.juices.positions import GAME, all_of
from tests.engine.plays import Play, pick, plays
from tests.engine.trees import TREES, Tree, count_reference_leaves, trees_of
from tests.support.long_cases import long_case

MODES: Final = {Mode.BASIC: "basic", Mode.ADVANCED: "advanced", Mode.ORDERS_TO_GO_GO: "orders", Mode.SOLO: "solo"}
Choice = Callable[[State, int, Random], Any]


def in_reference(move: Move) -> reference.Move:
    """Return a move of the engine as a move of the reference."""
    match move:
        case Keep(tile):
            return ("keep", tile)
        case Place(tile, cell):
            return ("place", tile, (cell.row, cell.column))
        case MakeJuice(fruit, cells, kept):
            places = frozenset((cell.row, cell.column) for cell in cells)
            return ("juice", fruit, places, None if kept is None else (kept.row, kept.column))
        case Shift(part, rows, columns):
            return ("shift", frozenset((cell.row, cell.column) for cell in part), rows, columns)
        case AddBlock(cell):
            return ("add", (cell.row, cell.column))
        case RemoveBlock(cell):
            return ("remove", (cell.row, cell.column))
        case Pass():
            return ("pass",)
        case PutBlock(cell):
            return ("put", (cell.row, cell.column))
        case DiscardAutomaTile(tile):
            return ("discard", tile)


def reference_game(options: Options, seat_count: int, rng: Rng) -> reference.Game:
    """Return the same game in the reference."""
    mode = options.mode or (Mode.SOLO if seat_count == 1 else Mode.BASIC)
    modules = {
        name
        for name, on in (
            ("wild", options.cursed_wild),
            ("masters", options.juice_masters),
            ("complements", options.complements_everywhere),
        )
        if on
    }
    copies = options.copies or (2 if seat_count > 10 else 1)
    return reference.Game(MODES[mode], seat_count, copies, modules, rng)


def assert_same(state: State, game: reference.Game, moved: int | None = None) -> None:
    """Check that the engine and the reference have the same position.

    After a move in a phase in which seats decide concurrently, only the legal moves of the seat that moved can change.
    """
    assert set(GAME.to_act(state)) == set(game.choices)
    for seat, moves in game.choices.items():
        if moved in (None, seat) or moved not in game.choices:
            assert {in_reference(move) for move in GAME.legal_moves(state, seat)} == moves
    assert [reference_grid.contents(seat.grid) for seat in state.seats] == game.grids
    assert [set(seat.hand) for seat in state.seats] == game.hands
    assert [seat.juices for seat in state.seats] == game.juices
    assert [list(seat.stack) for seat in state.seats] == game.stacks
    assert [seat.actions for seat in state.seats] == game.actions
    effects = [[Complement(effect).title for effect in seat.effects] for seat in state.seats]
    assert effects == game.effects
    assert [seat.block for seat in state.seats] == game.blocks
    assert (list(state.pile), set(state.discards)) == (game.pile, game.discards)
    assert (list(state.orders), state.order_met) == (game.orders, game.order_met)
    assert (state.round, state.last_round) == (game.round, game.last_round)
    if state.automa is not None:
        assert set(state.automa.tiles) == game.automa
        assert (state.automa.juices, list(state.automa.stack)) == (game.automas_juices, game.automas_stack)
    score = GAME.score(state)
    assert [seat.total for seat in score.scores] == [juices for juices, _ in game.standings()]
    assert set(score.winners) == (set() if game.choices else game.winners())


def side_by_side(options: Options, seat_count: int, number: int, choice: Choice) -> State:
    """Play a game with both, and compare them before the first move and after each."""
    rng, random = Rng(number.to_bytes(SEED_BYTES, "big")), Random(number)
    state, events = GAME.new_game(options, seat_count, rng)
    game = reference_game(options, seat_count, rng)
    orders = len(all_of(events, OrderRevealed))
    assert_same(state, game)
    while awaited := GAME.to_act(state):
        seat = random.choice(awaited)
        move = choice(state, seat, random)
        state, events = GAME.apply(state, seat, move)
        game.play(seat, in_reference(move))
        assert_same(state, game, seat)
        orders += len(all_of(events, OrderRevealed))
    assert orders == (11 - len(state.orders) if state.orders else 0)
    return state


def grouping_move(state: State, seat: int, random: Random) -> Any:
    """Return a placement that extends groups, or a move of a random type."""
    moves = GAME.legal_moves(state, seat)
    return choose(state, seat, random) if isinstance(moves[0], Place) else pick(moves, random, 0.5)


@settings(max_examples=settings().max_examples // 3)  # the games with many juices below compare more
@given(plays("juices"))
def test_a_random_game_is_the_same_as_in_the_reference(played: Play) -> None:
    game = reference_game(played.options, played.seat_count, played.rng)
    assert_same(played.start, game)
    for step in played.steps:
        game.play(step.seat, in_reference(step.move))
        assert_same(step.after, game, step.seat)


@pytest.mark.parametrize("seat_count", range(2, 15))
@pytest.mark.parametrize("mode", [Mode.BASIC, Mode.ADVANCED, Mode.ORDERS_TO_GO_GO])
@pytest.mark.parametrize("seats", [2, long_case(10)])
def test_a_game_with_many_juices_is_the_same_as_in_the_reference(mode: Mode, seat_count: int, seats: int) -> None:
    """More seats play fewer games, so that every parameter takes about the same time."""
    both = (1, 2) if seats > 2 else (1 + (seat_count + mode) % 2,)
    for copies in both if seat_count <= 10 else (2,):
        for number in range(seats // seat_count + 1):
            side_by_side(Options(mode=mode, copies=copies), seat_count, 10 * seat_count + number, grouping_move)


@pytest.mark.parametrize("modules", list(product((False, True), repeat=3)), ids=str)
@pytest.mark.parametrize("games", [6, long_case(20)])
def test_solo_is_the_same_as_in_the_reference_with_all_modules(modules: tuple[bool, bool, bool], games: int) -> None:
    for number in range(games):
        side_by_side(Options(Mode.SOLO, None, *modules), 1, number, grouping_move)


class Position(NamedTuple):
    """The moves from the start of a game of the reference. A generator cannot be copied, so the game is replayed."""

    tree: Tree
    path: tuple[tuple[int, reference.Move], ...]

    def moves(self) -> Iterator[tuple[int, reference.Move]]:
        game = reference_game(self.tree.options, self.tree.seat_count, self.tree.rng)
        for seat, move in self.path:
            game.play(seat, move)
        return ((seat, move) for seat, moves in game.choices.items() for move in moves)

    def after(self, seat: int, move: reference.Move) -> Self:
        return self._replace(path=(*self.path, (seat, move)))


@pytest.mark.parametrize("name", trees_of("juices"))
def test_a_tree_has_the_counts_of_the_reference(name: str) -> None:
    tree = TREES[name]
    root = Position(tree, tuple((seat, in_reference(move)) for seat, move in tree.path()))
    depth = tree.reference_depth
    assert count_reference_leaves(root, depth) == tree.counts[depth - 1]
