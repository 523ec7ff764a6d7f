"""The end, and Orders to Go-Go: JU-E, JU-M3."""

import pytest

from engine.game import SPECTATOR
from engine.juices.components import Complement, Fruit, Mode
from engine.juices.events import (
    End,
    GameEnded,
    JuiceMade,
    OrderRevealed,
    RoundStarted,
)
from engine.juices.grid import Cell
from engine.juices.state import MakeJuice, Pass, Phase, PutBlock
from tests.engine.juices.positions import (
    FULL,
    GAME,
    all_of,
    do,
    grid,
    juice,
    legal,
    only,
    place,
    position,
    shown,
    tiles,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
CHILI, COFFEE = Complement


# --- The end ----------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-E1")
@pytest.mark.parametrize("mode", [Mode.BASIC, Mode.ADVANCED])
@pytest.mark.parametrize(("most", "over"), [(5, False), (6, True), (7, True)])
def test_six_juices_end_the_game_with_the_round(mode: Mode, most: int, over: bool) -> None:
    preferred = (APPLE, KIWI) if mode == Mode.ADVANCED else ()
    state, events = position(None, None, mode=mode, preferred=preferred, phases=(Phase.END,), juices=(most, 2),
                          stacks=("apki apba apst", ""))  # fmt: skip
    assert (GAME.to_act(state) == ()) == over
    if over:
        assert events == (GameEnded(End.SIX_JUICES),)
        assert GAME.score(state).winners == (0,)


@pytest.mark.rule("JU-E1")
def test_other_seats_finish_the_round_and_can_win() -> None:
    state, _ = position(grid("M apki apba apor"), grid("M kile kist kiwa", ". ki! . ."), hands=("", ""), juices=(5, 5))
    state, _ = juice(state, APPLE)
    assert GAME.to_act(state) == (1,)
    state, _ = juice(state, KIWI, seat=1)
    state, _ = do(state, 1, Pass())
    state, events = do(state, 0, legal(state, 0, PutBlock)[0])
    assert only(events, GameEnded).why == End.SIX_JUICES
    assert GAME.score(state).winners == (1,)


@pytest.mark.rule("JU-E3")
def test_the_most_juices_win_even_if_that_is_zero() -> None:
    state, _ = position(None, None, None, phases=(), juices=(2, 4, 1))
    score = GAME.score(state)
    assert (score.finished, score.winners, [seat.rank for seat in score.scores]) == (True, (1,), [2, 1, 3])
    state, _ = position(None, None, phases=())
    assert GAME.score(state).winners == (0, 1)


@pytest.mark.rule("JU-E3")
def test_the_fewest_blocks_decide_a_tie() -> None:
    state, _ = position(grid("M [lepe] [kist]"), grid("M [apki]"), grid("M"), phases=(), juices=(3, 3, 2))
    score = GAME.score(state)
    assert score.winners == (1,)
    assert [seat.tie_breakers for seat in score.scores] == [(-2,), (-1,), (0,)]
    assert [seat.rank for seat in score.scores] == [2, 1, 3]


@pytest.mark.rule("JU-E3")
def test_a_tie_in_juices_and_blocks_is_a_shared_victory() -> None:
    state, _ = position(grid("M [lepe]"), grid("M [apki]"), grid("M"), phases=(), juices=(3, 3, 2))
    score = GAME.score(state)
    assert score.winners == (0, 1)
    assert score.note == "Seats 0 and 1 share the victory; the rulebook asks for another game."


# --- Orders to Go-Go --------------------------------------------------------------------------------------------------

ORDERS = (APPLE, KIWI, BANANA)


@pytest.mark.rule("JU-M3")
def test_only_juices_of_the_active_order_score_and_keep_a_tile() -> None:
    mine = grid("apki apba apor", "kile . .", "kist . .")
    state, _ = position(mine, grid("M"), hands=("", "leor"), mode=Mode.ORDERS_TO_GO_GO, orders=ORDERS)
    assert {move.kept is None for move in legal(state, 0, MakeJuice) if move.fruit == KIWI} == {True}
    assert len(legal(state, 0, MakeJuice)) == 4
    state, events = juice(state, KIWI)
    assert only(events, JuiceMade).scores is False
    assert (state.seats[0].juices, state.order_met) == (0, False)
    state, events = juice(state, APPLE, (0, 1))
    assert only(events, JuiceMade).scores is True
    assert (state.seats[0].juices, state.seats[0].stack, state.order_met) == (1, tiles("apba"), True)
    assert shown(state) == {}
    assert set(state.discards) == set(tiles("apki apor kile kist"))


@pytest.mark.rule("JU-M3")
def test_juices_that_do_not_score_still_earn_actions_and_complements() -> None:
    mine = grid("ki! kile kiwa", "kist . .")
    state, events = position(mine, grid("M"), hands=("", "leor"), mode=Mode.ORDERS_TO_GO_GO, orders=ORDERS)
    assert only(events, JuiceMade) == JuiceMade(
        0, KIWI, (Cell(0, 0), Cell(0, 1), Cell(0, 2), Cell(1, 0)), None, False, 1, (CHILI,)
    )
    assert (state.seats[0].juices, state.seats[0].actions, state.seats[0].effects) == (0, 1, bytes((CHILI,)))


@pytest.mark.rule("JU-M3")
def test_a_round_that_met_the_active_order_reveals_the_next() -> None:
    known = {"mode": Mode.ORDERS_TO_GO_GO, "orders": ORDERS}
    state, _ = position(grid("apki apba apor"), grid("M"), hands=("", "leor"), **known)  # type: ignore[arg-type]
    state, events = juice(state, APPLE)
    assert not all_of(events, OrderRevealed)
    state, events = place(state, "leor", 0, 1, seat=1)
    assert only(events, OrderRevealed) == OrderRevealed(KIWI, 1)
    assert (state.orders, state.order_met) == (bytes(ORDERS[1:]), False)
    state, events = position(grid("kile kist kiwa"), grid("M"), hands=("", ""), **known)  # type: ignore[arg-type]
    assert not all_of(events, OrderRevealed)
    assert state.orders == bytes(ORDERS)


@pytest.mark.rule("JU-M3")
def test_the_game_ends_when_the_last_order_is_fulfilled() -> None:
    state, _ = position(grid("kile kist kiwa"), grid("M"), hands=("", ""), mode=Mode.ORDERS_TO_GO_GO, orders=(KIWI,))
    state, events = juice(state, KIWI)
    assert events[-1] == GameEnded(End.ORDERS_FULFILLED)
    assert not all_of(events, OrderRevealed)
    assert GAME.score(state).winners == (0,)


@pytest.mark.rule("JU-M3", "JU-D3")
def test_no_order_is_revealed_without_tiles_for_another_round() -> None:
    """The order below the one that the last round met stays hidden."""
    state, _ = position(
        grid("kile kist kiwa"), grid("M"), hands=("", ""), mode=Mode.ORDERS_TO_GO_GO, orders=(KIWI, APPLE),
        deep=False, pile="baor",
    )  # fmt: skip
    state, events = juice(state, KIWI)
    assert events[-1] == GameEnded(End.TILES_RAN_OUT)
    assert not all_of(events, OrderRevealed)
    assert GAME.view(state, SPECTATOR).active_order == KIWI


@pytest.mark.rule("JU-M3")
def test_no_order_is_revealed_when_the_game_ends_otherwise() -> None:
    state, _ = position(
        grid("kile kist kiwa"), FULL, hands=("", "baor"), mode=Mode.ORDERS_TO_GO_GO, orders=(KIWI, APPLE)
    )
    _, events = juice(state, KIWI)
    assert events[-1] == GameEnded(End.NO_CELL)
    assert not all_of(events, OrderRevealed)


@pytest.mark.rule("JU-M3", "JU-E1")
def test_six_juices_do_not_end_a_game_with_orders() -> None:
    state, events = position(grid("M"), grid("M"), phases=(Phase.END,), juices=(8, 2), mode=Mode.ORDERS_TO_GO_GO,
                          orders=ORDERS)  # fmt: skip
    assert only(events, RoundStarted).round == 2
    assert GAME.to_act(state) == (0, 1)
