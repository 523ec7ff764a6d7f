"""The draft and placing: JU-D, JU-T."""

from collections import Counter

import pytest

from engine.errors import IllegalMove, NotYourTurn
from engine.game import SPECTATOR
from engine.juices.components import Fruit, Mode
from engine.juices.events import (
    Discarded,
    Drawn,
    End,
    GameEnded,
    Kept,
    PassedOn,
    Placed,
    Reshuffled,
    RoundStarted,
    Why,
)
from engine.juices.grid import Cell
from engine.juices.state import Keep, Options, Phase, Place
from tests.engine.juices import reference_grid
from tests.engine.juices.positions import (
    FULL,
    GAME,
    ROOM_FOR_ONE,
    ROUND,
    all_of,
    do,
    finish,
    grid,
    keep,
    legal,
    new,
    only,
    opening,
    place,
    position,
    shown,
    tile,
    tiles,
)

DRAFT = (Phase.DEAL, Phase.PASS, *ROUND)
AT_THE_END = (Phase.END,)


# --- The draft --------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-D1")
def test_every_seat_is_dealt_two_tiles_and_all_choose_concurrently() -> None:
    state = new(5)
    assert GAME.to_act(state) == (0, 1, 2, 3, 4)
    assert [len(seat.hand) for seat in state.seats] == [2] * 5
    for seat in range(5):
        assert legal(state, seat, Keep) == [Keep(each) for each in state.seats[seat].hand]
        assert len(GAME.legal_moves(state, seat)) == 2


@pytest.mark.rule("JU-D1")
def test_the_other_tile_goes_to_the_right_and_comes_from_the_left() -> None:
    state, _ = position(None, None, None, phases=DRAFT, pile="apki apba baki bale lepe orpe")
    assert [list(seat.hand) for seat in state.seats] == [
        sorted(tiles("apki apba")),
        sorted(tiles("baki bale")),
        sorted(tiles("lepe orpe")),
    ]
    state, _ = keep(state, 0, "apki")
    state, _ = keep(state, 1, "baki")
    state, events = keep(state, 2, "lepe")
    assert [set(seat.hand) for seat in state.seats] == [
        set(tiles("apki bale")),
        set(tiles("baki orpe")),
        set(tiles("lepe apba")),
    ]
    assert all_of(events, PassedOn) == [
        PassedOn(1, 0, tile("bale")),
        PassedOn(2, 1, tile("orpe")),
        PassedOn(0, 2, tile("apba")),
    ]


@pytest.mark.rule("JU-D1")
def test_no_tile_moves_before_the_last_seat_has_chosen() -> None:
    state = new(3)
    hands = [seat.hand for seat in state.seats]
    for seat in (2, 0):
        state, events = do(state, seat, Keep(state.seats[seat].hand[0]))
        assert [type(event) for event in events] == [Kept]
        assert [seat.hand for seat in state.seats] == hands
        assert [seat.tiles_in_hand for seat in GAME.view(state, SPECTATOR).seats] == [2, 2, 2]
    with pytest.raises(NotYourTurn):
        do(state, 0, Keep(state.seats[0].hand[1]))
    assert GAME.to_act(state) == (1,)


@pytest.mark.rule("JU-D1")
def test_a_seat_keeps_one_of_its_own_tiles() -> None:
    state = new(2)
    with pytest.raises(IllegalMove, match="do not hold"):
        do(state, 0, Keep(state.seats[1].hand[0]))


@pytest.mark.rule("JU-D1")
def test_a_hand_and_a_choice_are_hidden_from_other_viewers() -> None:
    state = new(3)
    first = state.seats[0].hand
    state, events = do(state, 0, Keep(first[1]))
    own, others, spectator = (GAME.view(state, viewer).seats[0] for viewer in (0, 1, SPECTATOR))
    assert (own.hand, own.keeps) == (tuple(first), first[1])
    assert (others.hand, others.keeps) == (spectator.hand, spectator.keeps) == ((), None)
    (event,) = events
    assert [GAME.view_event(event, viewer) for viewer in (0, 1, 2, SPECTATOR)] == [
        event,
        Kept(0, None),
        Kept(0, None),
        Kept(0, None),
    ]
    (drawn, *_) = all_of(opening(3), Drawn)
    assert [GAME.view_event(drawn, viewer) for viewer in (0, 1)] == [drawn, Drawn(0, 2, ())]


@pytest.mark.rule("JU-D1")
def test_a_passed_tile_is_known_to_its_former_seat_until_it_is_placed() -> None:
    state, _ = position(None, None, None, phases=DRAFT, pile="apki apba baki bale lepe orpe")
    for seat, name in enumerate(("apki", "baki", "lepe")):
        state, events = keep(state, seat, name)
    passed = all_of(events, PassedOn)[0]
    assert [GAME.view_event(passed, viewer) for viewer in (0, 1, 2, SPECTATOR)] == [
        passed,
        passed,
        PassedOn(1, 0, None),
        PassedOn(1, 0, None),
    ]
    # Seat 1 passed bale to its right neighbor, seat 0.
    assert [GAME.view(state, viewer).seats[0].hand for viewer in (0, 1, 2, SPECTATOR)] == [
        tuple(sorted(tiles("apki bale"))),
        (tile("bale"),),
        (),
        (),
    ]
    kept_placed, _ = place(state, "apki", 0, 1)
    assert [GAME.view(kept_placed, viewer).seats[0].hand for viewer in (1, 2)] == [(tile("bale"),), ()]
    passed_placed, _ = place(state, "bale", 0, 1)
    assert [GAME.view(passed_placed, viewer).seats[0].hand for viewer in (1, 2)] == [(), ()]
    assert GAME.view(passed_placed, 1).seats[0].tiles_in_hand == 1


@pytest.mark.rule("JU-D1")
def test_discards_grids_and_kept_tiles_are_public() -> None:
    state, _ = position(grid("M apki"), None, discards="orpe", stacks=("apba ki!",), hands=("lepe",))
    view = GAME.view(state, SPECTATOR)
    assert view.discards == (tile("orpe"),)
    assert view.seats[0].stack == tuple(tiles("apba ki!"))
    assert [shown.tile for shown in view.seats[0].grid] == [None, tile("apki")]


@pytest.mark.rule("JU-D3")
def test_the_discards_become_the_pile_in_the_middle_of_a_deal() -> None:
    state, events = position(None, None, phases=DRAFT, pile="apki apba baki", deep=False, discards="orpe lepe grwa")
    assert set(state.seats[0].hand) == set(tiles("apki apba"))
    assert tile("baki") in state.seats[1].hand
    assert only(events, Reshuffled) == Reshuffled(3)
    assert (len(state.pile), state.discards) == (2, b"")
    piles = {
        frozenset(position(None, None, phases=DRAFT, deep=False, discards="orpe lepe grwa apki", number=number)[0].pile)
        for number in range(20)
    }
    assert piles == {frozenset()}


@pytest.mark.rule("JU-D3")
def test_the_discards_are_shuffled_at_random() -> None:
    """They are shuffled when a tile must be drawn, not when the pile becomes empty."""
    hands = set()
    for number in range(40):
        state, events = position(None, None, phases=DRAFT, deep=False, discards="orpe lepe grwa apki", number=number)
        assert len(all_of(events, Reshuffled)) == 1
        hands.add(state.seats[0].hand)
    assert len(hands) == 6
    state, events = position(None, None, phases=DRAFT, pile="orpe lepe grwa apki", deep=False, discards="apba")
    assert not all_of(events, Reshuffled)
    assert (state.pile, state.discards) == (b"", tiles("apba"))


@pytest.mark.rule("JU-D3", "JU-E3")
@pytest.mark.parametrize(("pile", "discards"), [("apki apba baki", ""), ("", "apki apba baki"), ("apki", "apba baki")])
def test_the_game_ends_without_two_tiles_for_every_seat(pile: str, discards: str) -> None:
    state, events = position(None, None, phases=AT_THE_END, pile=pile, deep=False, discards=discards, juices=(1, 2))
    assert GAME.to_act(state) == ()
    assert events == (GameEnded(End.TILES_RAN_OUT),)
    assert GAME.score(state).winners == (1,)


@pytest.mark.rule("JU-D3")
def test_four_tiles_are_enough_for_two_seats_wherever_they_are() -> None:
    state, _ = position(None, None, phases=AT_THE_END, pile="apki apba", deep=False, discards="baki bale")
    assert GAME.to_act(state) == (0, 1)


@pytest.mark.rule("JU-D3")
def test_ten_seats_exhaust_the_pile() -> None:
    """Three rounds place 60 of 69 tiles. Without many juices, too few tiles are left for a fourth round."""
    state, events = finish(new(10, number=3), pick=lambda moves: moves[0])
    assert only(events, GameEnded).why == End.TILES_RAN_OUT
    assert len(state.pile) + len(state.discards) < 20


# --- Placing ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-D2")
def test_both_tiles_are_placed_in_either_order_concurrently_with_others() -> None:
    state, _ = position(None, None, hands=("apki bale", "orpe grwa"))
    assert GAME.to_act(state) == (0, 1)
    assert {move.tile for move in legal(state, 0, Place)} == set(tiles("apki bale"))
    state, _ = place(state, "bale", 0, 1)
    assert GAME.to_act(state) == (0, 1)
    assert {move.tile for move in legal(state, 0, Place)} == set(tiles("apki"))
    state, _ = place(state, "apki", 0, 2)
    assert GAME.to_act(state) == (1,)
    assert shown(state) == {(0, 0): "M", (0, 1): "bale", (0, 2): "apki"}
    state, events = place(state, "grwa", -1, 0, seat=1)
    assert events == (Placed(1, tile("grwa"), Cell(-1, 0)),)


@pytest.mark.rule("JU-D2")
def test_only_a_tile_of_the_hand_can_be_placed() -> None:
    state, _ = position(None, None, hands=("apki bale", "orpe grwa"))
    with pytest.raises(IllegalMove, match="do not hold"):
        place(state, "orpe", 0, 1)


@pytest.mark.rule("JU-T2")
def test_a_tile_touches_another_orthogonally() -> None:
    state, _ = position(None, None, hands=("apki bale", "orpe grwa"))
    assert {(move.cell.row, move.cell.column) for move in legal(state, 0, Place)} == {(0, 1), (1, 0), (0, -1), (-1, 0)}
    for row, column in ((1, 1), (0, 2), (0, 0)):
        with pytest.raises(IllegalMove, match="must be empty, touch an occupied cell"):
            place(state, "apki", row, column)


@pytest.mark.rule("JU-T1", "JU-T2")
def test_a_grid_may_extend_in_any_direction_up_to_four_by_four() -> None:
    state, _ = position(grid("M apba orpe lepe"), None, hands=("bagr kist", "orwa grwa"))
    places = {(move.cell.row, move.cell.column) for move in legal(state, 0, Place)}
    assert places == {(row, column) for row in (-1, 1) for column in range(4)}
    with pytest.raises(IllegalMove, match="within 4"):
        place(state, "bagr", 0, 4)
    state, _ = position(grid("apba M"), None, hands=("bagr kist", "orwa grwa"))
    assert (0, -2) in {(move.cell.row, move.cell.column) for move in legal(state, 0, Place)}
    state, _ = place(state, "bagr", 0, -2)
    assert shown(state) == {(0, -2): "bagr", (0, -1): "apba", (0, 0): "M"}


@pytest.mark.rule("JU-T1")
def test_tiles_keep_their_places_when_the_box_moves() -> None:
    state, _ = position(grid("apba M"), None, hands=("bagr kist", "orwa grwa"))
    for name, row, column in (("bagr", -1, 0), ("kist", -2, 0)):
        before = shown(state)
        state, _ = place(state, name, row, column)
        assert shown(state) == before | {(row, column): name}


@pytest.mark.rule("JU-T1", "JU-T2")
def test_the_first_tile_on_an_empty_grid_lies_at_the_origin() -> None:
    state, _ = position(None, None, mode=Mode.ORDERS_TO_GO_GO, orders=tuple(Fruit), hands=("apki bale", "orpe grwa"))
    assert legal(state, 0, Place) == [Place(each, Cell(0, 0)) for each in sorted(tiles("apki bale"))]
    state, _ = place(state, "bale", 0, 0)
    places = {(move.cell.row, move.cell.column) for move in legal(state, 0, Place)}
    assert places == {(0, 1), (1, 0), (0, -1), (-1, 0)}


@pytest.mark.rule("JU-T2")
def test_a_tile_can_be_placed_beside_a_block() -> None:
    state, _ = position(grid("M [apki]"), None, hands=("bagr kist", "orwa grwa"))
    assert (0, 2) in {(move.cell.row, move.cell.column) for move in legal(state, 0, Place)}


@pytest.mark.rule("JU-D4", "JU-E2")
def test_a_complete_grid_discards_both_tiles_and_ends_the_game_with_the_round() -> None:
    state, events = position(FULL, None, hands=("baor orst", "bagr grwa"), juices=(1, 0))
    assert all_of(events, Discarded) == [Discarded(each, Why.NO_CELL, 0) for each in sorted(tiles("baor orst"))]
    assert set(tiles("baor orst")) <= set(state.discards)
    assert GAME.view(state, SPECTATOR).last_round
    assert GAME.to_act(state) == (1,)
    state, _ = place(state, "bagr", 0, 1, seat=1)
    state, events = place(state, "grwa", 0, 2, seat=1)
    assert only(events, GameEnded).why == End.NO_CELL
    assert GAME.score(state).winners == (0,)


@pytest.mark.rule("JU-D4", "JU-E2")
def test_a_grid_complete_after_the_first_tile_discards_the_second() -> None:
    state, _ = position(ROOM_FOR_ONE, None, hands=("baor orst", "bagr grwa"))
    assert len(legal(state, 0, Place)) == 2
    state, events = place(state, "baor", 3, 3)
    assert only(events, Discarded) == Discarded(tile("orst"), Why.NO_CELL, 0)
    assert len(shown(state)) == 16
    state, _ = place(state, "bagr", 0, 1, seat=1)
    state, events = place(state, "grwa", 0, 2, seat=1)
    assert only(events, GameEnded).why == End.NO_CELL


@pytest.mark.rule("JU-D4")
def test_the_last_tile_on_the_last_cell_needs_no_decision() -> None:
    nearly = reference_grid.contents(ROOM_FOR_ONE)
    nearly.pop((3, 2))
    state, _ = position(reference_grid.grid_with(nearly), None, hands=("grst apst", "bagr grwa"))
    state, events = place(state, "grst", 3, 2)
    assert [event.cell for event in all_of(events, Placed)] == [Cell(3, 2), Cell(3, 3)]
    assert not state.last_round


@pytest.mark.rule("JU-D4", "JU-E2")
@pytest.mark.parametrize("mode", [Mode.ADVANCED, Mode.ORDERS_TO_GO_GO])
def test_a_complete_grid_also_ends_the_other_modes(mode: Mode) -> None:
    fruits = tuple(Fruit)[:2] if mode == Mode.ADVANCED else ()
    orders = () if fruits else tuple(Fruit)
    state, _ = position(FULL, grid("apki"), hands=("baor", "grwa"), mode=mode, preferred=fruits, orders=orders)
    _, events = place(state, "grwa", 0, 1, seat=1)
    assert only(events, GameEnded).why == End.NO_CELL


@pytest.mark.rule("JU-D1")
def test_rounds_follow_each_other() -> None:
    state, _ = position(None, None, hands=("apki bale", "orpe grwa"))
    for seat, names in enumerate(("apki bale", "orpe grwa")):
        for at, name in enumerate(names.split(), start=1):
            state, events = place(state, name, 0, at, seat)
    assert only(events, RoundStarted) == RoundStarted(2)
    assert [event.seat for event in all_of(events, Drawn)] == [0, 1]
    assert state.round == 2


@pytest.mark.rule("JU-D1", "JU-C3")
def test_fourteen_seats_draft_concurrently() -> None:
    state = new(14, Options())
    hands = [seat.hand for seat in state.seats]
    for seat in (7, 0, 13, 2, 12, 1, 3, 11, 4, 10, 5, 9, 6, 8):
        assert seat in GAME.to_act(state)
        state, _ = do(state, seat, Keep(hands[seat][0]))
    for seat in range(14):
        assert Counter(state.seats[seat].hand) == Counter((hands[seat][0], hands[(seat + 1) % 14][1]))
