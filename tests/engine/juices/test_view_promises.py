"""What the contract's comments say about views and events of Juices, checked with a viewer who knows the events only.

`Onlooker` receives the opening and the events of every move as `view_event` shows them to one viewer, and works out
every field of the view from them. A view that shows anything else fails, and so does an event that does not report what
happened.
"""

from dataclasses import dataclass, field
from functools import lru_cache
from random import Random
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR, Viewer
from engine.juices import JUICES
from engine.juices.components import COMPLEMENTED, PAIRS, TILES, WILDS, Complement, Fruit, Mode, box
from engine.juices.events import (
    ActionsLost,
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    BlockAdded,
    BlockRemoved,
    ChiliServed,
    CoffeeServed,
    Discarded,
    Drawn,
    End,
    GameEnded,
    JuiceMade,
    Kept,
    OrderRevealed,
    PartMoved,
    PassedOn,
    Placed,
    Reshuffled,
    RoundStarted,
    TilesLeft,
    Why,
)
from engine.juices.grid import Cell
from engine.juices.setup import WITH_MASTER
from engine.juices.state import (
    AddBlock,
    Ask,
    DiscardAutomaTile,
    Keep,
    MakeJuice,
    Options,
    Pass,
    Phase,
    Place,
    PutBlock,
    RemoveBlock,
    Shift,
    State,
)
from engine.juices.view import AutomaView, Content, GridCell, JuiceInMaking, SeatView, View
from engine.rng import SEED_BYTES, Rng
from tests.engine.juices.cases import JuicesCases
from tests.engine.juices.playthrough import act
from tests.engine.juices.positions import GAME, do, grid, juice, legal, place, position
from tests.engine.plays import Play, Step, plays


@lru_cache
def greedy(number: int) -> Play:
    """Play a game whose seats place tiles for juices. With random moves alone few seats make six."""
    random = Random(number)
    seat_count = JUICES.about.seats[number % len(JUICES.about.seats)]
    options, rng = JuicesCases().options(seat_count, random), Rng(random.randbytes(SEED_BYTES))
    start, opening = JUICES.new_game(options, seat_count, rng)
    state, steps = start, []
    while JUICES.to_act(state):
        seat, move = act(state, random)
        after, events = JUICES.apply(state, seat, move)
        steps.append(Step(state, seat, move, after, events))
        state = after
    return Play(options, seat_count, rng, start, opening, steps)


PLAYS: Final = st.one_of(plays("juices"), st.integers(0, 63).map(greedy))

ANSWERS: Final[dict[Ask, tuple[type, ...]]] = {
    Ask.NOTHING: (),
    Ask.KEEP: (Keep,),
    Ask.PLACE: (Place,),
    Ask.PLACE_ONE: (Place,),
    Ask.MAKE_JUICE: (MakeJuice,),
    Ask.SHIFT: (Shift,),
    Ask.BLOCK_ACTION: (AddBlock, RemoveBlock, Pass),
    Ask.PUT_BLOCK: (PutBlock,),
    Ask.DISCARD_AUTOMA_TILE: (DiscardAutomaTile,),
}
"""The moves that answer each decision."""


@dataclass
class Table:
    """What an onlooker knows of a seat, or of the Automa."""

    grid: dict[Cell, tuple[Content, int | None]] = field(default_factory=dict)
    in_hand: int = 0
    hand: list[int] = field(default_factory=list)
    keeps: int | None = None
    juices: int = 0
    stack: list[int] = field(default_factory=list)
    making: list[JuiceInMaking] = field(default_factory=list)
    actions: int = 0
    complements: list[list[Complement]] = field(default_factory=lambda: [[]])
    """Those that wait, and on top of them those of the juices that a coffee has brought."""
    block: int | None = None

    def lose(self, tile: int) -> None:
        """Take a tile from the hand. It is public from now on."""
        self.in_hand -= 1
        if tile in self.hand:
            self.hand.remove(tile)

    def take_effect(self, complement: Complement) -> None:
        """Take the next complement, which must be this one."""
        waiting = next(group for group in reversed(self.complements) if group)
        assert waiting.pop(0) == complement


class Onlooker:
    """A viewer who knows the options and the events that it may see."""

    def __init__(self, played: Play, viewer: Viewer) -> None:
        self.viewer, self.seats = viewer, played.seat_count
        options: Options = played.options
        self.mode = options.mode or (Mode.SOLO if self.seats == 1 else Mode.BASIC)
        copies = options.copies or (2 if self.seats > 10 else 1)
        solo_tiles = PAIRS + COMPLEMENTED * options.complements_everywhere + WILDS * options.cursed_wild
        self.pile = len(solo_tiles if self.mode is Mode.SOLO else box(copies))
        self.tables = [Table() for _ in range(self.seats)]
        if self.mode is not Mode.ORDERS_TO_GO_GO:
            for table in self.tables:
                table.grid[Cell(0, 0)] = (Content.MASTER, None)
        self.automa = Table()
        self.automas_tiles: list[int] = []
        self.automas_wanted = self.round = 0
        self.discards: list[int] = []
        self.order: OrderRevealed | None = None
        self.order_met = self.last_round = False
        self.end: End | None = None

    def watch(self, events: tuple[Any, ...]) -> None:
        """Receive the events of a version."""
        for event in events:
            self._receive(JUICES.view_event(event, self.viewer))
        (solo, *others) = self.tables
        if self.automas_wanted and not others and self.discards and len(solo.grid) < 16 and solo.block is None:
            self.automas_wanted -= 1  # the lowest of the discards is the Block that the seat must put
            solo.block = self.discards.pop(0)

    def _receive(self, event: Any) -> None:
        match event:
            case RoundStarted(number):
                assert number == self.round + 1
                assert not any(any(table.complements) or table.making or table.actions for table in self.tables)
                self.round, self.automas_wanted = number, 0
                for table in self.tables:
                    table.complements = [[]]
            case OrderRevealed(_, left):
                assert left == (9 if self.order is None else self.order.left - 1)
                self.order, self.order_met = event, False
            case Reshuffled(number):
                assert (self.pile in (0, 1), number) == (True, len(self.discards))  # 1: in the middle of a draw
                self.pile, self.discards = self.pile + number, []
            case Drawn(seat, size, shown):
                assert len(shown) == (size if seat == self.viewer else 0)
                self.pile -= size
                self.tables[seat].in_hand += size
                self.tables[seat].hand += shown
            case Kept(seat, tile):
                assert (tile is not None) == (seat == self.viewer)
                self.tables[seat].keeps = tile
            case PassedOn(seat, to_seat, tile):
                self._passed_on(seat, to_seat, tile)
            case Placed(seat, tile, cell):
                self.tables[seat].lose(tile)
                self._lay(seat, cell, Content.TILE, tile)
            case Discarded(tile, why, seat):
                self._discarded(tile, why, seat)
            case JuiceMade() | TilesLeft() | PartMoved() | BlockAdded() | BlockRemoved() | ActionsLost():
                self._at_a_grid(event)
            case ChiliServed(seat, blocks):
                self.tables[seat].take_effect(Complement.CHILI)
                assert not (self.mode is Mode.SOLO and blocks)
                for allotted in blocks:
                    assert allotted.seat != seat
                    self.discards.remove(allotted.tile)
                    self.tables[allotted.seat].block = allotted.tile
            case CoffeeServed(seat, draws):
                table = self.tables[seat]
                table.take_effect(Complement.COFFEE)
                left = self.pile + len(self.discards)
                assert draws or len(table.grid) == 16 or not left or self.mode is Mode.SOLO
                assert not draws or (len(table.grid) < 16 and left)
                table.complements.append([])
            case GameEnded(why):
                self.end = why
                self.last_round |= why is End.NO_CELL
            case _:
                self._of_the_automa(event)

    def _passed_on(self, seat: int, to_seat: int, tile: int | None) -> None:
        assert to_seat == (seat - 1) % self.seats
        assert (tile is not None) == (self.viewer in (seat, to_seat))
        giver, receiver = self.tables[seat], self.tables[to_seat]
        giver.in_hand -= 1
        receiver.in_hand += 1
        giver.keeps = None
        if tile is not None:
            giver.hand = [each for each in giver.hand if each != tile]
            receiver.hand.append(tile)

    def _discarded(self, tile: int, why: Why, seat: int | None) -> None:
        assert (seat is not None) == (why is Why.NO_CELL)
        if seat is not None:
            assert len(self.tables[seat].grid) == 16
            self.tables[seat].lose(tile)
            self.last_round = True
        elif why is Why.SECOND_COMPLEMENT:
            self.tables[0].lose(tile)
        elif why is Why.CHILI:
            self.automas_tiles.remove(tile)
        else:
            shown = TILES[tile]
            assert shown.wild if why is Why.CURSED else shown.complement
            self.pile -= 1
        self.discards.append(tile)

    def _at_a_grid(self, event: Any) -> None:
        table = self.tables[event.seat]
        match event:
            case JuiceMade(_, fruit, cells, kept, scores, actions, complements):
                table.making.append(JuiceInMaking(fruit, cells, kept))
                assert kept is None or kept in [table.grid[cell][1] for cell in cells]
                assert scores == (self.order is None or self.order.fruit == fruit)
                table.juices += scores
                table.actions += actions
                table.complements[-1] += complements
                self.order_met |= self.order is not None and scores
            case TilesLeft(_, cells, discarded):
                assert set(cells) == {cell for juice in table.making for cell in juice.cells}
                gone = [table.grid.pop(cell)[1] for cell in cells]
                kept_tiles = [juice.kept for juice in table.making if juice.kept is not None]
                assert sorted([*discarded, *kept_tiles]) == sorted(tile for tile in gone if tile is not None)
                table.stack += kept_tiles
                table.making = []
                self.discards += discarded
            case PartMoved(_, part, rows, columns):
                moved = [(cell, table.grid.pop(cell)) for cell in part]
                table.grid |= {Cell(cell.row + rows, cell.column + columns): shown for cell, shown in moved}
            case BlockAdded(seat, tile, cell):
                if table.block == tile:
                    table.block = None
                elif self.mode is Mode.SOLO:
                    self.automas_wanted -= 1
                    self.discards.remove(tile)
                else:
                    self.discards.remove(tile)
                    self.tables[(seat - 1) % self.seats].actions -= 1
                self._lay(seat, cell, Content.BLOCK, tile)
            case BlockRemoved(_, tile, cell):
                assert table.grid.pop(cell) == (Content.BLOCK, tile)
                self.discards.append(tile)
                table.actions -= 1
            case ActionsLost(_, actions):
                table.actions -= actions
                assert (table.actions, actions > 0) == (0, True)

    def _of_the_automa(self, event: Any) -> None:
        assert self.mode is Mode.SOLO
        match event:
            case AutomaTook(tile):
                if self.tables[0].in_hand:
                    self.tables[0].lose(tile)
                else:
                    self.pile -= 1
                self.automas_tiles.append(tile)
            case AutomaJuiceMade(fruit, tiles, kept):
                assert all(TILES[tile].wild or fruit in TILES[tile].fruits for tile in tiles)
                assert set(tiles) <= set(self.automas_tiles)
                self.automa.making.append(JuiceInMaking(fruit, (), kept))
                self.automa.hand += tiles
                self.automa.juices += 1
            case AutomaTilesLeft(discarded):
                used = {*self.automa.hand, *(tile for tile in self.automas_tiles if TILES[tile].wild)}
                kept_tiles = [juice.kept for juice in self.automa.making if juice.kept is not None]
                assert sorted([*discarded, *kept_tiles]) == sorted(used)
                self.automa.stack += kept_tiles
                self.automas_wanted = len(self.automa.making)
                self.automa.making, self.automa.hand = [], []
                self.automas_tiles = [tile for tile in self.automas_tiles if tile not in used]
                self.discards += discarded
        self.discards.sort()

    def _lay(self, seat: int, cell: Cell, content: Content, tile: int) -> None:
        assert cell not in self.tables[seat].grid
        self.tables[seat].grid[cell] = (content, tile)

    def expects(self, state: State) -> View:
        """Return the view. Only decisions and preferred fruits, which no event reports, are those of the state."""
        self.discards.sort()
        return View(
            mode=self.mode,
            round=self.round,
            last_round=self.last_round,
            active_order=None if self.order is None else self.order.fruit,
            orders_left=0 if self.order is None else self.order.left,
            order_met=self.order_met,
            pile_size=self.pile,
            discards=tuple(self.discards),
            seats=tuple(self._seat(number, table, state) for number, table in enumerate(self.tables)),
            automa=self._automa(state) if self.mode is Mode.SOLO else None,
        )

    def _seat(self, number: int, table: Table, state: State) -> SeatView:
        return SeatView(
            seat=number,
            asked=Ask(state.asks[number]),
            grid=tuple(GridCell(cell, *table.grid[cell]) for cell in sorted(table.grid)),
            tiles_in_hand=table.in_hand,
            hand=tuple(sorted(table.hand)),
            keeps=table.keeps,
            juices=table.juices,
            stack=tuple(table.stack),
            preferred_fruit=state.seats[number].preferred,
            making=tuple(table.making),
            block_actions=table.actions,
            complements=tuple(each for group in reversed(table.complements) for each in group),
            block=table.block,
        )

    def _automa(self, state: State) -> AutomaView:
        assert state.automa is not None
        tiles, stack = tuple(sorted(self.automas_tiles)), tuple(self.automa.stack)
        return AutomaView(tiles, self.automa.juices, stack, state.automa.preferred)


@pytest.mark.rule("JU-X1", "JU-X3", "JU-S4", "JU-D1", "JU-O4")
@given(PLAYS, st.data())
def test_a_view_is_what_its_viewer_can_work_out_from_the_events(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    onlooker = Onlooker(played, viewer)
    onlooker.watch(played.opening)
    assert JUICES.view(played.start, viewer) == onlooker.expects(played.start)
    for step in played.steps:
        onlooker.watch(step.events)
        assert JUICES.view(step.after, viewer) == onlooker.expects(step.after)


@given(PLAYS)
def test_a_seat_is_asked_for_what_its_legal_moves_answer(played: Play) -> None:
    for state in played.states:
        view = JUICES.view(state, SPECTATOR)
        assert [seat.seat for seat in view.seats if seat.asked] == list(JUICES.to_act(state))
        for seat in view.seats:
            assert {type(move) for move in JUICES.legal_moves(state, seat.seat)} <= {*ANSWERS[seat.asked]}
            drafting = seat.tiles_in_hand == 2 and view.mode is Mode.SOLO
            assert (seat.asked is Ask.PLACE_ONE) == (drafting and bool(seat.asked))


@given(PLAYS)
def test_preferred_fruits_are_shown_in_advanced_and_with_the_masters_only(played: Play) -> None:
    view = JUICES.view(played.end, SPECTATOR)
    shown = view.mode is Mode.ADVANCED or played.options.juice_masters
    fruits = [seat.preferred_fruit for seat in view.seats]
    if view.automa is not None:
        fruits.append(view.automa.preferred_fruit)
    assert all((fruit is not None) == shown for fruit in fruits)
    masters = 2 if played.options.copies == 2 or played.seat_count > 10 else 1
    assert not shown or all(fruits.count(fruit) <= masters for fruit in Fruit)


@given(PLAYS)
def test_a_game_ends_for_the_reason_that_its_last_event_names(played: Play) -> None:
    last, *_ = [event for step in played.steps for event in step.events if isinstance(event, GameEnded)]
    view = JUICES.view(played.end, SPECTATOR)
    juices = max(seat.juices for seat in view.seats)
    if last.why is End.SIX_JUICES:
        assert view.mode in (Mode.BASIC, Mode.ADVANCED)
        assert juices >= 6
    elif last.why is End.ORDERS_FULFILLED:
        assert (view.order_met, view.orders_left, view.active_order is None) == (True, 0, False)
    elif last.why is End.TILES_RAN_OUT:
        assert view.pile_size + len(view.discards) < 2 * played.seat_count
    assert view.last_round == (last.why is End.NO_CELL) or juices >= 6 or view.order_met


@pytest.mark.rule("JU-X1")
def test_a_chili_is_shown_while_it_waits_for_the_coffee_of_another_seat() -> None:
    state, _ = position(
        WITH_MASTER,
        grid("M apki"),
        phases=(Phase.COMPLEMENTS, Phase.END),
        effects=((Complement.COFFEE,), (Complement.CHILI, Complement.COFFEE)),
        discards="gror",
    )
    assert state.asks[0] == Ask.PLACE
    complements = [seat.complements for seat in GAME.view(state, SPECTATOR).seats]
    assert complements == [(), (Complement.CHILI, Complement.COFFEE)]
    state, _ = do(state, 0, legal(state, 0, Place)[0])
    assert state.asks[0] == Ask.PUT_BLOCK
    assert [seat.complements for seat in GAME.view(state, 1).seats] == [(), (Complement.COFFEE,)]


@pytest.mark.rule("JU-X3")
def test_complements_that_coffee_brings_are_shown_before_older_ones() -> None:
    state, _ = position(
        grid("M ap* apki apba"),
        None,
        phases=(Phase.COMPLEMENTS, Phase.END),
        effects=((Complement.COFFEE, Complement.CHILI),),
        pile="apor",
    )
    state, _ = place(state, "apor", 1, 1)
    state, _ = juice(state, Fruit.APPLE)
    assert state.asks[0] == Ask.BLOCK_ACTION
    assert GAME.view(state, SPECTATOR).seats[0].complements == (Complement.COFFEE, Complement.CHILI)
