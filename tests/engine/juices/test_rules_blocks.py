"""Blocks and complements: JU-B, JU-X."""

import pytest

from engine.errors import IllegalMove
from engine.juices.components import Complement, Fruit
from engine.juices.events import (
    ActionsLost,
    Allotted,
    BlockAdded,
    BlockRemoved,
    ChiliServed,
    CoffeeServed,
    Drawn,
    JuiceMade,
    PartMoved,
    Placed,
)
from engine.juices.grid import Cell
from engine.juices.state import AddBlock, Ask, Pass, Phase, Place, PutBlock, RemoveBlock, Shift
from tests.engine.juices.positions import (
    FULL,
    GAME,
    ROOM_FOR_ONE,
    ROUND,
    all_of,
    do,
    grid,
    juice,
    legal,
    only,
    place,
    position,
    shown,
    tile,
    tiles,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
CHILI, COFFEE = Complement
AFTER = ROUND[1:]
EFFECTS = ROUND[ROUND.index(Phase.COMPLEMENTS) :]


# --- Block actions ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-B1")
def test_blocks_wait_until_every_seat_has_finished_scoring() -> None:
    state, _ = position(grid("M apki apba apor", ". apgr . ."), None, hands=("", "leor"))
    state, _ = juice(state, APPLE)
    assert (state.seats[0].actions, GAME.to_act(state)) == (1, (1,))
    state, _ = place(state, "leor", 0, 1, seat=1)
    assert GAME.to_act(state) == (0,)
    assert state.asks[0] == Ask.BLOCK_ACTION


@pytest.mark.rule("JU-B1")
def test_seats_use_all_their_actions_in_seat_order() -> None:
    state, _ = position(None, None, None, phases=AFTER, actions=(0, 2, 1), fresh=("", "apki apba", "lepe"),
                     discards="apki apba lepe")  # fmt: skip
    for seat in (1, 1, 2):
        assert GAME.to_act(state) == (seat,)
        state, _ = do(state, seat, legal(state, seat, AddBlock)[0])
    assert state.round == 2


@pytest.mark.rule("JU-B1")
def test_a_pass_gives_up_the_remaining_actions() -> None:
    state, _ = position(None, None, phases=AFTER, actions=(2,), fresh=("apki apba",), discards="apki apba")
    state, events = do(state, 0, Pass())
    assert events[0] == ActionsLost(0, 2)
    assert (state.seats[0].actions, state.round) == (0, 2)


@pytest.mark.rule("JU-B1")
def test_a_seat_that_could_only_pass_is_skipped() -> None:
    state, events = position(None, FULL, phases=AFTER, actions=(2, 1), fresh=("apki", "baki"), discards="lepe")
    assert all_of(events, ActionsLost) == [ActionsLost(0, 2), ActionsLost(1, 1)]
    assert [seat.actions for seat in state.seats] == [0, 0]
    assert state.round == 2


@pytest.mark.rule("JU-B2")
def test_a_block_can_be_added_to_any_opening_of_the_left_neighbor() -> None:
    state, _ = position(
        None, grid("M lepe"), grid("apst M"), phases=AFTER, actions=(1,), fresh=("apki",), discards="apki"
    )
    cells = {(move.cell.row, move.cell.column) for move in legal(state, 0, AddBlock)}
    assert cells == {(0, -1), (-1, 0), (1, 0), (-1, 1), (1, 1), (0, 2)}
    with pytest.raises(IllegalMove, match="Nothing can be placed"):
        do(state, 0, AddBlock(Cell(0, 1)))
    state, events = do(state, 0, AddBlock(Cell(0, 2)))
    assert events[0] == BlockAdded(1, tile("apki"), Cell(0, 2))
    assert shown(state, 1) == {(0, 0): "M", (0, 1): "lepe", (0, 2): "[apki]"}
    assert tile("apki") not in state.discards


@pytest.mark.rule("JU-B2")
def test_the_left_neighbor_of_the_last_seat_is_the_first() -> None:
    state, _ = position(None, None, None, phases=AFTER, actions=(0, 0, 1), fresh=("", "", "apki"), discards="apki")
    state, _ = do(state, 2, AddBlock(Cell(0, 1)))
    assert shown(state, 0) == {(0, 0): "M", (0, 1): "[apki]"}


@pytest.mark.rule("JU-B2")
def test_the_lowest_tile_just_discarded_is_added_while_one_is_left() -> None:
    state, _ = position(None, None, phases=AFTER, actions=(2,), fresh=("baki lepe apst",), discards="lepe baki apba")
    state, events = do(state, 0, AddBlock(Cell(0, 1)))
    assert only(events, BlockAdded).tile == tile("baki")
    state, events = do(state, 0, AddBlock(Cell(0, -1)))
    assert only(events, BlockAdded).tile == tile("lepe")
    assert tile("apba") in (*state.discards, *state.pile)


@pytest.mark.rule("JU-B2")
def test_no_block_is_added_without_such_a_tile_or_to_a_complete_grid() -> None:
    mine = grid("M [lepe]")
    for left, discards in ((None, "kist"), (FULL, "baki")):
        state, _ = position(mine, left, phases=AFTER, actions=(1,), fresh=("baki",), discards=discards)
        assert legal(state, 0, AddBlock) == []
        assert legal(state, 0, RemoveBlock) == [RemoveBlock(Cell(0, 1))]
        with pytest.raises(IllegalMove):
            do(state, 0, AddBlock(Cell(0, 1)))


@pytest.mark.rule("JU-B2")
def test_tiles_of_the_whole_scoring_can_become_blocks() -> None:
    """These are the tiles of the apples, and of the kiwis that a moved part completed."""
    rows = ("M . apgr apst", "kile apba apor kiwa", "kist . . .")
    state, _ = position(grid(*rows), None, hands=("", ""))
    state, _ = juice(state, APPLE, (0, 2))
    assert state.seats[0].fresh == bytes(sorted(tiles("apst apba apor")))
    state, _ = juice(state, KIWI, (1, 0))
    assert state.seats[0].fresh == bytes(sorted(tiles("apst apba apor kiwa kist")))


@pytest.mark.rule("JU-B2")
def test_tiles_discarded_in_the_previous_round_cannot_become_blocks() -> None:
    state, _ = position(None, None, phases=(Phase.DEAL,), fresh=("baki",), discards="baki")
    assert state.seats[0].fresh == b""


@pytest.mark.rule("JU-B3")
def test_a_block_of_the_own_grid_goes_to_the_discards() -> None:
    state, _ = position(grid("M [lepe] apki"), grid("M [apst]"), phases=AFTER, actions=(1,))
    assert legal(state, 0, RemoveBlock) == [RemoveBlock(Cell(0, 1))]
    for row, column in ((0, 2), (0, 0), (5, 5), (1, 0)):
        with pytest.raises(IllegalMove, match="No Block of yours"):
            do(state, 0, RemoveBlock(Cell(row, column)))
    state, events = do(state, 0, RemoveBlock(Cell(0, 1)))
    assert only(events, BlockRemoved) == BlockRemoved(0, tile("lepe"), Cell(0, 1))
    assert state.discards == tiles("lepe")


@pytest.mark.rule("JU-B3", "JU-I1")
def test_removing_a_block_can_cut_off_a_part_and_form_a_juice() -> None:
    mine = grid("M kiwa . .", ". kile [orpe] ki!", ". . . kist")
    state, _ = position(mine, None, phases=AFTER, actions=(1,))
    state, events = do(state, 0, RemoveBlock(Cell(1, 2)))
    assert only(events, PartMoved) == PartMoved(0, (Cell(1, 3), Cell(2, 3)), 0, -1)
    state, events = juice(state, KIWI, (2, 2))
    assert only(events, JuiceMade).actions == 1
    assert GAME.to_act(state) == (0,)
    assert state.asks[0] == Ask.BLOCK_ACTION
    assert state.seats[0].effects == bytes((CHILI,))
    state, events = do(state, 0, Pass())
    assert only(events, ChiliServed) == ChiliServed(0, (Allotted(1, min(tiles("kiwa kile ki! orpe"))),))


@pytest.mark.rule("JU-B3", "JU-I2")
def test_after_a_removal_the_seat_may_have_to_choose_how_a_part_moves() -> None:
    state, _ = position(grid("M [lepe]", ". apki"), None, phases=AFTER, actions=(2,))
    state, _ = do(state, 0, RemoveBlock(Cell(0, 1)))
    assert legal(state, 0, Shift) == [Shift((Cell(1, 1),), -1, 0), Shift((Cell(1, 1),), 0, -1)]
    state, events = do(state, 0, legal(state, 0, Shift)[0])
    assert only(events, ActionsLost) == ActionsLost(0, 1)


# --- Complements ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-X1")
def test_complements_follow_blocks_by_seat_and_juice_with_chili_first() -> None:
    state, events = position(
        None, None, None, phases=AFTER, discards="apki apba apst baki bale",
        effects=((COFFEE, CHILI), (), (CHILI,)), actions=(0, 0, 1), fresh=("", "", "apki"),
    )  # fmt: skip
    assert GAME.to_act(state) == (2,)
    state, events = do(state, 2, Pass())
    assert only(events, CoffeeServed).seat == 0
    state, events = do(state, 0, legal(state, 0, Place)[0])
    assert only(events, ChiliServed).seat == 0
    assert GAME.to_act(state) == (1, 2)
    state, _ = do(state, 2, legal(state, 2, PutBlock)[0])
    state, events = do(state, 1, legal(state, 1, PutBlock)[0])
    assert only(events, ChiliServed).seat == 2


@pytest.mark.rule("JU-X1")
def test_each_complement_counts_once_in_a_juice() -> None:
    state, _ = position(grid("M w1 ap!'", ". ap! ap*"), None, hands=("", "leor"))
    state, events = juice(state, APPLE)
    assert only(events, JuiceMade).complements == (CHILI, COFFEE)
    assert state.seats[0].effects == bytes((CHILI, COFFEE))


@pytest.mark.rule("JU-X1")
def test_a_complement_belongs_to_its_juice_only() -> None:
    state, _ = position(grid("M apki apba", "ba! . apst"), None, hands=("", "leor"))
    state, events = juice(state, APPLE)
    assert only(events, JuiceMade).complements == ()
    assert state.seats[0].effects == b""


@pytest.mark.rule("JU-X2")
def test_chili_lets_every_other_seat_choose_a_cell_for_a_block() -> None:
    state, events = position(
        None, grid("M lepe"), None, phases=EFFECTS, effects=((), (CHILI,)), discards="apki apba apst"
    )
    # Clockwise from the maker's left, the lowest number first; they leave the discards immediately.
    assert only(events, ChiliServed) == ChiliServed(1, (Allotted(2, tile("apba")), Allotted(0, tile("apki"))))
    assert state.discards == tiles("apst")
    assert GAME.to_act(state) == (0, 2)
    assert [seat.block for seat in GAME.view(state, None).seats] == [tile("apki"), None, tile("apba")]
    assert len(legal(state, 0, PutBlock)) == 4
    with pytest.raises(IllegalMove, match="Nothing can be placed"):
        do(state, 0, PutBlock(Cell(0, 0)))
    state, events = do(state, 2, PutBlock(Cell(1, 0)))
    assert events == (BlockAdded(2, tile("apba"), Cell(1, 0)),)
    assert GAME.to_act(state) == (0,)
    state, _ = do(state, 0, PutBlock(Cell(0, 1)))
    assert shown(state, 0) == {(0, 0): "M", (0, 1): "[apki]"}
    assert shown(state, 1) == {(0, 0): "M", (0, 1): "lepe"}


@pytest.mark.rule("JU-X2")
def test_chili_skips_seats_when_the_discards_are_empty() -> None:
    state, events = position(None, None, None, phases=EFFECTS, effects=((CHILI,),), discards="apki")
    assert only(events, ChiliServed).blocks == (Allotted(1, tile("apki")),)
    assert GAME.to_act(state) == (1,)
    state, events = position(None, None, None, phases=EFFECTS, effects=((CHILI,),))
    assert only(events, ChiliServed).blocks == ()
    assert state.round == 2


@pytest.mark.rule("JU-X2")
def test_chili_skips_seats_with_a_complete_grid() -> None:
    state, events = position(None, FULL, None, phases=EFFECTS, effects=((CHILI,),), discards="baor orst")
    assert only(events, ChiliServed).blocks == (Allotted(2, min(tiles("baor orst"))),)
    assert not state.last_round
    assert GAME.to_act(state) == (2,)


@pytest.mark.rule("JU-X2")
def test_a_block_with_one_possible_cell_needs_no_decision() -> None:
    state, events = position(None, ROOM_FOR_ONE, phases=EFFECTS, effects=((CHILI,),), discards="baor")
    assert only(events, BlockAdded) == BlockAdded(1, tile("baor"), Cell(3, 3))
    assert state.round == 2


@pytest.mark.rule("JU-X3")
def test_coffee_draws_a_tile_that_only_its_seat_sees_before_placing() -> None:
    state, events = position(None, None, phases=EFFECTS, effects=((COFFEE,),), pile="apki")
    assert all_of(events, Drawn) == [Drawn(0, 1, tuple(tiles("apki")))]
    assert GAME.to_act(state) == (0,)
    assert [GAME.view(state, viewer).seats[0].hand for viewer in (0, 1)] == [tuple(tiles("apki")), ()]
    state, events = place(state, "apki", 0, 1)
    assert isinstance(events[0], Placed)
    assert state.round == 2


@pytest.mark.rule("JU-X3")
def test_the_consequences_of_a_coffee_follow_immediately() -> None:
    """A coffee makes a juice with a Block action, a chili and a coffee. The waiting chili follows after them."""
    state, _ = position(
        grid("M ap! ap*", ". apki ."), None, phases=EFFECTS, effects=((COFFEE,), (CHILI,)), pile="apba lepe",
        discards="kist piwa",
    )  # fmt: skip
    assert GAME.to_act(state) == (0,)
    # ap!, ap* and apki are a juice already. It is made after the tile has been placed.
    state, _ = place(state, "apba", 1, 2)
    state, events = juice(state, APPLE, (0, 1))
    assert only(events, JuiceMade).actions == 1
    assert state.asks[0] == Ask.BLOCK_ACTION
    state, events = do(state, 0, legal(state, 0, AddBlock)[0])
    assert only(events, BlockAdded).tile == min(tiles("apki apba ap*"))
    assert only(events, ChiliServed).seat == 0
    state, events = do(state, 1, legal(state, 1, PutBlock)[0])
    assert [type(event) for event in events[1:]] == [CoffeeServed, Drawn]
    state, events = place(state, "lepe", 0, 1)
    assert only(events, ChiliServed).seat == 1


@pytest.mark.rule("JU-X3", "JU-B2")
def test_only_tiles_of_a_coffees_own_juice_become_its_blocks() -> None:
    state, _ = position(
        grid("M apki apst", ". apor ."), None, phases=EFFECTS, effects=((COFFEE,),), pile="apba",
        discards="kist", fresh=("kist",),
    )  # fmt: skip
    state, _ = place(state, "apba", 1, 2)
    state, _ = juice(state, APPLE, (0, 1))
    assert state.seats[0].fresh == bytes(sorted(tiles("apst apor apba")))


@pytest.mark.rule("JU-X3")
def test_coffee_does_nothing_with_a_complete_grid_or_nothing_to_draw() -> None:
    state, events = position(FULL, None, phases=EFFECTS, effects=((COFFEE,),))
    assert only(events, CoffeeServed) == CoffeeServed(0, False)
    assert (state.round, state.last_round) == (2, False)
    _, events = position(None, None, phases=EFFECTS, effects=((COFFEE,),), deep=False)
    assert only(events, CoffeeServed) == CoffeeServed(0, False)
    state, events = position(None, None, phases=EFFECTS, effects=((COFFEE,),), deep=False, discards="apki")
    assert only(events, CoffeeServed) == CoffeeServed(0, True)
    assert state.seats[0].hand == tiles("apki")
