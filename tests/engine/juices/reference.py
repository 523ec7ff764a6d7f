"""An independent reference of Juices, written from docs/rules/juices.md. It shares only the shuffles with the engine.

A game consists of generators that yield the moves among which a seat must choose, and receive its choice. If only one
move is possible, the seat does not have to choose. A grid is `reference_grid.Contents`. A move is a tuple that begins
with its name: `("keep", tile)`, `("place", tile, place)`, `("juice", fruit, places, kept)`,
`("shift", places, rows, columns)`, `("add", place)`, `("remove", place)`, `("pass",)`, `("put", place)`,
`("discard", tile)`.
"""

from collections.abc import Collection, Generator, Iterable
from itertools import combinations
from typing import Any, Final

from engine.juices.components import Fruit
from engine.juices.grid import MASTER
from engine.rng import Rng, shuffle
from tests.engine.juices import reference_grid

Move = tuple[Any, ...]
SeatDecisions = Generator[set[Move], Move, None]
"""The decisions of one seat, one after the other."""
Decisions = Generator[dict[int, set[Move]], tuple[int, Move], None]
"""The concurrent decisions of several seats."""

CHILI, COFFEE = "chili", "coffee"
FRUITS: Final = tuple(Fruit)

# JU-C1: the symbols of a tile, by its number.
PAIRS: Final = [set(pair) for pair in combinations(FRUITS, 2)]
COMPLEMENTED: Final = [{fruit, complement} for fruit in FRUITS for complement in (CHILI, COFFEE)]
WILDS: Final[list[set[Any]]] = [set(), set(), set(), set()]
SHOWN: Final[list[set[Any]]] = [*PAIRS, *COMPLEMENTED, *WILDS] * 2


def wild(tile: int) -> bool:
    """Return whether a tile is a wild."""
    return not SHOWN[tile]


def complemented(tile: int) -> bool:
    """Return whether a tile shows a complement."""
    return bool(SHOWN[tile] & {CHILI, COFFEE})


class Game:
    """A game. `choices` has the moves of every seat that must choose, and is empty when the game is over.

    Args:
        mode: "basic", "advanced", "orders" or "solo".
        seat_count: the number of seats.
        copies: the number of copies of the game.
        modules: of Solo: "wild", "masters", "complements".
        rng: the source of the shuffles: of the pile, then of the masters, then of the discards.
    """

    def __init__(self, mode: str, seat_count: int, copies: int, modules: Collection[str], rng: Rng) -> None:
        self.mode, self.seats, self.rng = mode, range(seat_count), rng
        tiles = [*range(69 * copies)]  # JU-C3
        if mode == "solo":  # JU-O1, JU-O6, JU-O8
            tiles = [*range(45)]
            tiles += [*range(45, 65)] if "complements" in modules else []
            tiles += [*range(65, 69)] if "wild" in modules else []
        self.pile = self.shuffled(tiles)  # the last one is drawn first
        self.discards: set[int] = set()
        self.orders: list[Fruit] = []
        self.preferred: list[Fruit] = []
        if mode == "orders":  # JU-M3
            self.orders = self.shuffled(FRUITS)
        if mode == "advanced" or "masters" in modules:  # JU-M2, JU-O7
            self.preferred = self.shuffled(FRUITS * copies)
        self.grids: list[reference_grid.Contents] = [
            {} if mode == "orders" else {(0, 0): (MASTER, False)} for _ in self.seats
        ]
        self.hands: list[set[int]] = [set() for _ in self.seats]
        self.juices = [0 for _ in self.seats]
        self.stacks: list[list[int]] = [[] for _ in self.seats]
        self.actions = [0 for _ in self.seats]
        self.fresh: list[set[int]] = [set() for _ in self.seats]
        self.effects: list[list[str]] = [[] for _ in self.seats]
        self.blocks: list[int | None] = [None for _ in self.seats]
        self.automa: set[int] = set()
        self.automas_juices = 0
        self.automas_stack: list[int] = []
        self.round = 0
        self.order_met = self.last_round = False
        self._decisions = self._solo() if mode == "solo" else self._rounds()
        self.choices = next(self._decisions)

    def play(self, seat: int, move: Move) -> None:
        """Make a move."""
        if move not in self.choices[seat]:
            raise ValueError(f"seat {seat} may not {move}")
        try:
            self.choices = self._decisions.send((seat, move))
        except StopIteration:
            self.choices = {}

    # --- Drawing

    def shuffled(self, items: Iterable[Any]) -> list[Any]:
        """Return the items in random order."""
        shuffled, self.rng = shuffle(self.rng, [*items])
        return [*shuffled]

    def left(self) -> list[int]:
        """Return the tiles that can still be drawn."""
        return [*self.pile, *self.discards]

    def draw(self) -> int:
        """Draw a tile (JU-D3)."""
        if not self.pile:
            self.pile, self.discards = self.shuffled(sorted(self.discards)), set()
        tile: int = self.pile.pop()
        return tile

    # --- Rounds

    def _rounds(self) -> Decisions:
        while len(self.left()) >= 2 * len(self.seats):  # JU-D3
            if self.order_met:  # JU-M3: no order is revealed after the last round
                self.orders, self.order_met = self.orders[1:], False
            self.round += 1
            yield from self._round()
            if self.mode != "orders" and max(self.juices) >= 6:  # JU-E1
                return
            if self.last_round:  # JU-E2
                return
            if self.order_met and len(self.orders) == 1:  # JU-M3
                return

    def _round(self) -> Decisions:
        self.fresh = [set() for _ in self.seats]
        for seat in self.seats:  # JU-D1
            self.hands[seat] = {self.draw(), self.draw()}
        kept: dict[int, int] = {}
        yield from concurrently({seat: self._keep(seat, kept) for seat in self.seats})
        passed = {seat: self.hands[seat] - {kept[seat]} for seat in self.seats}
        for seat in self.seats:
            self.hands[seat] = {kept[seat]} | passed[self.left_of(seat)]
        yield from concurrently({seat: self._place_all(seat) for seat in self.seats})  # JU-D2
        for seat in self.seats:  # JU-B1
            yield from concurrently({seat: self._block_actions(seat)})
        yield from self._complements(self.seats)

    def left_of(self, seat: int) -> int:
        """Return the left neighbor."""
        return (seat + 1) % len(self.seats)

    def _keep(self, seat: int, kept: dict[int, int]) -> SeatDecisions:
        _, kept[seat] = yield {("keep", tile) for tile in self.hands[seat]}

    def _place_all(self, seat: int) -> SeatDecisions:
        while self.hands[seat]:
            places = reference_grid.openings(self.grids[seat])
            if not places:  # JU-D4
                self.discards |= self.hands[seat]
                self.hands[seat] = set()
                self.last_round = True
                break
            move = yield from choose({("place", tile, place) for tile in self.hands[seat] for place in places})
            self._lay(seat, *move[1:])
        yield from self._score(seat)

    def _lay(self, seat: int, tile: int, place: reference_grid.Place) -> None:
        self.hands[seat].remove(tile)
        self.grids[seat][place] = tile, False

    # --- Scoring

    def _score(self, seat: int) -> SeatDecisions:
        while True:
            yield from self._make_juices(seat)  # JU-I3: before the next part moves
            ways = reference_grid.shoves(self.grids[seat])
            if not ways:
                return
            _, part, rows, columns = yield from choose({("shift", *way) for way in ways})  # JU-I2
            self.grids[seat] = reference_grid.moved(self.grids[seat], part, rows, columns)

    def _make_juices(self, seat: int) -> SeatDecisions:
        grid = self.grids[seat]
        juices: list[tuple[Fruit, set[reference_grid.Place]]] = []
        kept: list[int] = []
        while candidates := reference_grid.candidates(grid, juices):  # JU-S2
            moves: set[Move] = set()
            for fruit, group in candidates:
                choices = [place for place in group if grid[place][0] not in kept]  # JU-S5
                if not self._counts(fruit) or not choices:
                    moves.add(("juice", fruit, group, None))
                else:
                    moves |= {("juice", fruit, group, place) for place in choices}
            _, fruit, group, place = yield from choose(moves)
            juices.append((fruit, set(group)))
            if place is not None:
                kept.append(grid[place][0])
            if self._counts(fruit):
                self.juices[seat] += 1
                self.order_met = self.mode == "orders"
            if self.mode != "solo":  # JU-S6, JU-O2
                self.actions[seat] += 2 if len(group) >= 5 else 1 if len(group) == 4 else 0
            shown = set().union(*(SHOWN[grid[place][0]] for place in group))
            self.effects[seat] += [complement for complement in (CHILI, COFFEE) if complement in shown]  # JU-X1
        used = {grid.pop(place)[0] for place in set().union(*(group for _, group in juices))}  # JU-S4
        self.stacks[seat] += kept
        self.discards |= used - {*kept}
        self.fresh[seat] |= used - {*kept}

    def _counts(self, fruit: Fruit) -> bool:
        return self.mode != "orders" or fruit == self.orders[0]  # JU-M3

    # --- Blocks

    def _block_actions(self, seat: int) -> SeatDecisions:
        while self.actions[seat] > 0:
            mine, others = self.grids[seat], self.grids[self.left_of(seat)]
            fresh = self.fresh[seat] & self.discards  # JU-B2
            moves: set[Move] = {("pass",)}
            moves |= {("add", place) for place in reference_grid.openings(others) if fresh}
            moves |= {("remove", place) for place, (_, block) in mine.items() if block}
            match (yield from choose(moves)):
                case ("pass",):
                    self.actions[seat] = 0
                case ("add", place):
                    self.actions[seat] -= 1
                    others[place] = min(fresh), True
                    self.discards.remove(min(fresh))
                case ("remove", place):  # JU-B3
                    self.actions[seat] -= 1
                    self.discards.add(mine.pop(place)[0])
                    yield from self._score(seat)

    def _demand(self, seats: Iterable[int]) -> Decisions:
        """Let seats add Blocks from the discards to their own grids (JU-X2, JU-O3)."""
        for seat in seats:
            if self.discards and len(self.grids[seat]) < 16:
                self.blocks[seat] = min(self.discards)
                self.discards.remove(min(self.discards))
        yield from concurrently({seat: self._put(seat) for seat in self.seats if self.blocks[seat] is not None})

    def _put(self, seat: int) -> SeatDecisions:
        _, place = yield from choose({("put", place) for place in reference_grid.openings(self.grids[seat])})
        tile = self.blocks[seat]
        assert tile is not None
        self.grids[seat][place], self.blocks[seat] = (tile, True), None

    # --- Complements

    def _complements(self, seats: Iterable[int]) -> Decisions:
        waiting = [(seat, effect) for seat in seats for effect in self.effects[seat]]  # JU-X1
        for seat in seats:
            self.effects[seat] = []
        for seat, effect in waiting:
            if effect == COFFEE:
                yield from self._coffee(seat)
            elif self.mode == "solo":
                yield from concurrently({seat: self._lose(seat)})
            else:
                around = [*self.seats[seat + 1 :], *self.seats[:seat]]  # clockwise from the maker's left
                yield from self._demand(around)

    def _coffee(self, seat: int) -> Decisions:
        suitable = [tile for tile in self.left() if self.mode != "solo" or not wild(tile)]  # JU-O9
        if len(self.grids[seat]) == 16 or not suitable:  # JU-X3
            return
        self.fresh[seat] = set()
        tile = self.draw()
        while tile not in suitable:
            self.discards.add(tile)
            tile = self.draw()
        self.hands[seat] = {tile}
        yield from concurrently({seat: self._place_all(seat)})
        yield from concurrently({seat: self._block_actions(seat)})
        yield from self._complements([seat])

    def _lose(self, seat: int) -> SeatDecisions:
        if self.automa:  # JU-O9
            _, tile = yield from choose({("discard", tile) for tile in self.automa})
            self.automa.remove(tile)
            self.discards.add(tile)

    # --- Solo

    def _solo(self) -> Decisions:
        while len(self.left()) >= 2:  # JU-O4
            self.round += 1
            self.hands[0] = {self.draw(), self.draw()}
            self.fresh[0] = set()
            if len(self.grids[0]) == 16:  # JU-O4
                self.last_round = True
                return
            yield from concurrently({0: self._place_one()})
            yield from self._complements([0])
            for _ in range(self._automa_scores()):  # JU-O3
                yield from self._demand([0])

    def _place_one(self) -> SeatDecisions:
        places = reference_grid.openings(self.grids[0])
        _, tile, place = yield from choose({("place", tile, place) for tile in self._may_stay() for place in places})
        self._lay(0, tile, place)
        (other,) = self.hands[0]
        self.hands[0] = set()
        if complemented(other):  # JU-O8
            self.discards.add(other)
            if all(complemented(tile) for tile in self.left()):
                other = -1
            while other >= 0 and complemented(other):
                other = self.draw()
                self.discards |= {other} if complemented(other) else set()
        if other >= 0:
            self.automa.add(other)
        yield from self._score(0)

    def _may_stay(self) -> set[int]:
        """Return those of the two drawn tiles that the seat may place."""
        hand = self.hands[0]
        if must_stay := {tile for tile in hand if complemented(tile)}:  # JU-O8
            return must_stay
        must_go = {tile for tile in hand if wild(tile)}  # JU-O6
        if not must_go and self.preferred:
            must_go = {tile for tile in hand if self.preferred[1] in SHOWN[tile]}  # JU-O7
        return hand - must_go if len(must_go) == 1 else hand

    def _automa_scores(self) -> int:
        """Make the Automa's juices (JU-O3) and return their number."""
        theirs = self.preferred[1] if self.preferred else None
        wilds = {tile for tile in self.automa if wild(tile)}
        used, juices = set(wilds), 0
        kept: list[int] = []
        for fruit in sorted(FRUITS, key=lambda fruit: fruit if fruit != theirs else 99):
            carry = {tile for tile in self.automa if fruit in SHOWN[tile]}
            if len(carry) + len(wilds) < 3:
                continue
            juices += 1
            used |= carry
            free = sorted(carry - {*kept})
            favorites = [tile for tile in free if theirs in SHOWN[tile]]  # JU-O7
            kept += (favorites or free)[:1]
        self.automa -= used
        self.automas_stack += kept
        self.automas_juices += juices
        self.discards |= used - {*kept}
        return juices

    # --- The end

    def standings(self) -> list[tuple[int, int]]:
        """Return juices with extra juices, and Blocks; the Automa comes last (JU-E3, JU-M2, JU-O7)."""
        stacks = [*self.stacks, self.automas_stack]
        juices = [*self.juices, self.automas_juices]
        for seat, fruit in enumerate(self.preferred[: len(stacks)]):
            if seat in self.seats or self.mode == "solo":
                juices[seat] += sum(fruit in SHOWN[tile] for tile in stacks[seat])
        blocks = [sum(block for _, block in grid.values()) for grid in self.grids]
        standings = [*zip(juices, blocks, strict=False)]
        return [*standings, (juices[1], 0)] if self.mode == "solo" else standings

    def winners(self) -> set[int | None]:
        """Return the winners."""
        if self.mode == "solo":  # JU-O4
            (mine, _), (theirs, _) = self.standings()
            return {0} if mine > theirs else {None}
        most = max(juices for juices, _ in self.standings())
        fewest = min(blocks for juices, blocks in self.standings() if juices == most)
        return {seat for seat, standing in enumerate(self.standings()) if standing == (most, fewest)}


def choose(moves: set[Move]) -> Generator[set[Move], Move, Move]:
    """Let a seat choose a move, unless only one is possible."""
    if len(moves) == 1:
        return moves.pop()
    return (yield moves)


def concurrently(decisions: dict[int, SeatDecisions]) -> Decisions:
    """Let seats decide concurrently, in any order."""
    choices = {}
    for seat, decision in decisions.items():
        try:
            choices[seat] = next(decision)
        except StopIteration:
            continue
    while choices:
        seat, move = yield choices
        try:
            choices[seat] = decisions[seat].send(move)
        except StopIteration:
            del choices[seat]
