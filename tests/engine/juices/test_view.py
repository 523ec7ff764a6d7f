"""Views show everything that a viewer may know, and texts describe it."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from engine.game import SPECTATOR
from engine.juices import JUICES
from engine.juices.components import Complement, Fruit, box
from engine.juices.events import (
    ActionsLost,
    Allotted,
    AutomaJuiceMade,
    ChiliServed,
    CoffeeServed,
    Discarded,
    JuiceMade,
    OrderRevealed,
    PartMoved,
    Reshuffled,
    TilesLeft,
    Why,
)
from engine.juices.grid import Cell
from engine.juices.state import Ask, MakeJuice, Shift
from engine.juices.view import Content, GridCell, JuiceInMaking, View
from tests.engine.juices.cases import JuicesCases
from tests.engine.juices.positions import GAME, grid, juice, legal, new, position, tile, tiles
from tests.engine.plays import Play, plays


def shown_tiles(view: View) -> Counter[int]:
    """Return a count of the tiles that a view shows."""
    found = Counter(view.discards)
    for seat in view.seats:
        found += Counter(shown.tile for shown in seat.grid if shown.tile is not None)
        found += Counter((*seat.stack, *seat.hand, *(() if seat.block is None else (seat.block,))))
    if view.automa is not None:
        found += Counter((*view.automa.tiles, *view.automa.stack))
    return found


@given(plays("juices"), st.data())
def test_a_view_shows_all_tiles_except_the_pile_and_other_hands(played: Play, data: st.DataObject) -> None:
    viewer = data.draw(st.sampled_from((*range(played.seat_count), SPECTATOR)))
    for state in played.states:
        view = JUICES.view(state, viewer)
        hidden = Counter(state.pile)
        for number, seat in enumerate(state.seats):
            if number != viewer:
                hidden += Counter(seat.hand)
            if (number + 1) % played.seat_count == viewer != number and seat.received is not None:
                hidden[seat.received] -= 1
        assert shown_tiles(view) == JuicesCases().pieces(state) - hidden
        assert view.pile_size == len(state.pile)
        assert [seat.tiles_in_hand for seat in view.seats] == [len(seat.hand) for seat in state.seats]


@given(plays("juices"))
def test_a_seat_that_does_not_exist_sees_what_a_spectator_sees(played: Play) -> None:
    for state in played.states[:: max(1, len(played.states) // 10)]:
        for viewer in (-1, played.seat_count, played.seat_count + 3):
            assert JUICES.view(state, viewer) == JUICES.view(state, SPECTATOR)


def test_a_view_shows_the_contents_of_grids() -> None:
    state, _ = position(grid(". apki", "M [ap!]"), None, hands=("lepe kist", "orwa"))
    assert GAME.view(state, SPECTATOR).seats[0].grid == (
        GridCell(Cell(-1, 1), Content.TILE, tile("apki")),
        GridCell(Cell(0, 0), Content.MASTER, None),
        GridCell(Cell(0, 1), Content.BLOCK, tile("ap!")),
    )


def test_an_unfinished_juice_is_public() -> None:
    rows = ("M apor apba apki", ". . baki .", ". . bale .")
    state, _ = position(grid(*rows), None, hands=("", "leor"))
    state, _ = juice(state, Fruit.APPLE, (0, 1))
    seen = GAME.view(state, 1).seats[0]
    assert seen.making == (JuiceInMaking(Fruit.APPLE, (Cell(0, 1), Cell(0, 2), Cell(0, 3)), tile("apor")),)
    assert (seen.juices, seen.stack, seen.asked) == (1, (), Ask.MAKE_JUICE)


def test_the_future_effects_of_juices_are_public() -> None:
    state, _ = position(grid("M ap! ap* apki", ". apba . ."), None, hands=("", "leor"))
    state, _ = juice(state, Fruit.APPLE)
    seen = GAME.view(state, SPECTATOR).seats[0]
    assert (seen.block_actions, seen.complements) == (1, (Complement.CHILI, Complement.COFFEE))


def test_an_unchanged_seat_is_the_same_object_in_later_views() -> None:
    """The service caches the translation of an unchanged object."""
    state = new(3)
    assert GAME.view(state, 0).seats[1] is GAME.view(state, SPECTATOR).seats[1]


# --- Texts ------------------------------------------------------------------------------------------------------------


def test_prompts_name_the_decision() -> None:
    assert GAME.prompt(new(2), 0) == "Keep one of your two tiles; the other goes to your right neighbor."
    assert GAME.prompt(new(1), 0) == "Place one of the two tiles on your grid; the other goes to the Automa."
    assert GAME.prompt(new(2), 2) == ""


def test_labels_name_tiles_cells_and_directions() -> None:
    state, _ = position(grid("M apki apba apor", ". . . kile"), None, hands=("", "leor"))
    make, *_ = legal(state, 0, MakeJuice)
    assert GAME.label(make) == "Make an apple juice of (0, 1) (0, 2) (0, 3), keeping (0, 1)"
    state, _ = juice(state, Fruit.APPLE)
    assert [GAME.label(move) for move in legal(state, 0, Shift)] == [
        "Move (1, 3) 1 up and 2 to the left",
        "Move (1, 3) 3 to the left",
    ]
    assert GAME.label(MakeJuice(Fruit.KIWI, make.cells, None)).endswith("keeping no tile")


def test_events_are_described_in_sentences() -> None:
    cells = (Cell(0, -1), Cell(0, 1), Cell(0, 2))
    assert [
        GAME.describe(event)
        for event in (
            JuiceMade(1, Fruit.ORANGE, cells, tile("apor"), True, 0, ()),
            JuiceMade(1, Fruit.KIWI, cells, None, False, 2, ()),
            JuiceMade(1, Fruit.KIWI, cells, None, True, 0, (Complement.CHILI, Complement.COFFEE)),
            JuiceMade(1, Fruit.KIWI, cells, None, True, 1, (Complement.CHILI,)),
            TilesLeft(0, cells, tuple(tiles("apki apba"))),
            TilesLeft(0, cells, ()),
            PartMoved(0, cells[:1], -1, 2),
            ActionsLost(0, 1),
            ActionsLost(0, 2),
            ChiliServed(0, ()),
            ChiliServed(0, (Allotted(1, tile("apki")),)),
            ChiliServed(0, (Allotted(1, tile("apki")), Allotted(2, tile("kile")))),
            CoffeeServed(0, False),
            Reshuffled(1),
            Reshuffled(12),
            Discarded(tile("w1"), Why.NO_CELL, 3),
            Discarded(tile("w1"), Why.CURSED),
            OrderRevealed(Fruit.APPLE, 1),
            OrderRevealed(Fruit.KIWI, 0),
            AutomaJuiceMade(Fruit.APPLE, tuple(tiles("apki apba apor")), None),
        )
    ] == [
        "Seat 1 makes an orange juice of 3 tiles and keeps apple-orange #4.",
        "Seat 1 makes a kiwi juice of 3 tiles and keeps no tile; it does not score and earns 2 Block actions.",
        "Seat 1 makes a kiwi juice of 3 tiles and keeps no tile; it brings chili and coffee.",
        "Seat 1 makes a kiwi juice of 3 tiles and keeps no tile; it earns 1 Block action and brings chili.",
        "3 tiles leave the grid of seat 0; apple-kiwi #2 and apple-banana #0 go to the discards.",
        "3 tiles leave the grid of seat 0; none go to the discards.",
        "Seat 0 moves what lies at (0, −1) 1 up and 2 to the right.",  # noqa: RUF001 (a real minus sign)
        "Seat 0 gives up 1 Block action.",
        "Seat 0 gives up 2 Block actions.",
        "Chili of seat 0 takes effect.",
        "Chili of seat 0 takes effect: seat 1 gets apple-kiwi #2 as a Block.",
        "Chili of seat 0 takes effect: seat 1 gets apple-kiwi #2 and seat 2 gets kiwi-lemon #24 as Blocks.",
        "Coffee of seat 0 takes effect, but it can draw or place nothing.",
        "The discards, 1 tile, are shuffled and become the pile.",
        "The discards, 12 tiles, are shuffled and become the pile.",
        "Seat 3 has no cell for wild #65 and discards it; the game ends with this round.",
        "Wild #65 is cursed, passed over and discarded.",
        "The order is now an apple juice; 1 order is to come.",
        "The order is now a kiwi juice; 0 orders are to come.",
        "The Automa makes an apple juice of apple-kiwi #2, apple-banana #0 and apple-orange #4 and keeps no tile.",
    ]


def test_all_tiles_are_in_the_state() -> None:
    assert shown_tiles(GAME.view(new(2), SPECTATOR)) == Counter()
    assert JuicesCases().pieces(new(2)) == Counter(box(1))
