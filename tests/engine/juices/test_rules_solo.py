"""Solo and its modules: JU-O."""

from collections import Counter
from itertools import product

import msgspec
import pytest

from engine.errors import IllegalMove
from engine.game import SPECTATOR
from engine.juices.agenda import TURN, Phase
from engine.juices.components import COMPLEMENTED, PAIRS, WILDS, Complement, Fruit, Mode
from engine.juices.events import (
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    BlockAdded,
    ChiliServed,
    CoffeeServed,
    Discarded,
    Drawn,
    End,
    Event,
    GameEnded,
    JuiceMade,
    Placed,
    Reshuffled,
    RoundStarted,
    Why,
)
from engine.juices.grid import Cell, Grid
from engine.juices.rules import WITH_MASTER
from engine.juices.state import Ask, DiscardAutomaTile, MakeJuice, Options, Place, PutBlock, State
from tests.engine.juices.cases import JuicesCases
from tests.engine.juices.tables import (
    FULL,
    GAME,
    ROOM_FOR_ONE,
    all_of,
    do,
    finish,
    grid,
    juice,
    legal,
    new,
    only,
    place,
    shown,
    table,
    tile,
    tiles,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
CHILI, COFFEE = Complement
MODULES = [dict(zip(("cursed_wild", "juice_masters", "complements_everywhere"), on, strict=True))
           for on in product((False, True), repeat=3)]  # fmt: skip


def turn(
    pile: str, mine: Grid | None = None, automa: str = "", automas_fruit: Fruit | None = None, **known: object
) -> tuple[State, tuple[Event, ...]]:
    """A turn of Solo from its start."""
    return table(
        mine,
        mode=Mode.SOLO,
        phases=TURN,
        pile=pile,
        automa=automa,
        automas_fruit=automas_fruit,
        **known,  # type: ignore[arg-type]
    )


def may_be_placed(state: State) -> set[int]:
    return {move.tile for move in legal(state, 0, Place)}


def automa_of(state: State) -> bytes:
    assert state.automa is not None
    return state.automa.tiles


# --- Set-up and turns -------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O1")
def test_solo_is_played_with_the_tiles_of_two_fruits_and_plain_masters() -> None:
    state = new(1)
    assert JuicesCases().pieces(state) == Counter(PAIRS)
    assert state.seats[0].grid == WITH_MASTER
    seen = GAME.view(state, 0)
    assert seen.automa is not None
    assert (seen.seats[0].preferred_fruit, seen.automa.preferred_fruit) == (None, None)


@pytest.mark.rule("JU-O5", "JU-O6", "JU-O7", "JU-O8")
@pytest.mark.parametrize("modules", MODULES, ids=str)
def test_modules_add_their_tiles_and_fruits_in_any_combination(modules: dict[str, bool]) -> None:
    state = new(1, Options(mode=Mode.SOLO, **modules))
    expected = PAIRS + WILDS * modules["cursed_wild"] + COMPLEMENTED * modules["complements_everywhere"]
    assert JuicesCases().pieces(state) == Counter(expected)
    assert state.automa is not None
    assert (state.seats[0].preferred is not None) == (state.automa.preferred is not None) == modules["juice_masters"]


@pytest.mark.rule("JU-O7", "JU-O1")
def test_the_two_masters_are_random_and_different() -> None:
    dealt = [new(1, Options(juice_masters=True), number) for number in range(80)]
    pairs = {(state.seats[0].preferred, state.automa.preferred) for state in dealt if state.automa}
    assert all(mine != others for mine, others in pairs)
    assert len(pairs) > 40


@pytest.mark.rule("JU-O5")
@pytest.mark.parametrize("modules", MODULES, ids=str)
def test_every_combination_plays_to_its_end_without_losing_a_tile(modules: dict[str, bool]) -> None:
    for number in range(12):
        state = new(1, Options(mode=Mode.SOLO, **modules), number)
        pieces = JuicesCases().pieces(state)
        state, events = finish(state, pick=lambda moves: moves[len(moves) // 2])
        assert JuicesCases().pieces(state) == pieces
        assert only(events, GameEnded).why in (End.NO_CELL, End.TILES_RAN_OUT)


@pytest.mark.rule("JU-O2")
def test_the_seat_places_one_of_two_tiles_and_the_other_goes_to_the_automa() -> None:
    state, events = turn("apki bale")
    assert all_of(events, Drawn) == [Drawn(0, 2, tuple(sorted(tiles("apki bale"))))]
    assert may_be_placed(state) == set(tiles("apki bale"))
    assert len(legal(state, 0, Place)) == 8
    state, events = place(state, "bale", 0, 1)
    assert events[:2] == (Placed(0, tile("bale"), Cell(0, 1)), AutomaTook(tile("apki")))
    assert automa_of(state) == tiles("apki")
    assert only(events, RoundStarted).round == 3
    seen = GAME.view(state, SPECTATOR).automa
    assert seen is not None
    assert seen.tiles == tuple(tiles("apki"))


@pytest.mark.rule("JU-O2")
def test_the_drawn_tiles_are_the_seats_alone_until_it_places_one() -> None:
    state, events = turn("apki bale")
    assert [GAME.view(state, viewer).seats[0].hand for viewer in (0, SPECTATOR)] == [
        tuple(sorted(tiles("apki bale"))),
        (),
    ]
    assert GAME.view_event(only(events, Drawn), SPECTATOR) == Drawn(0, 2, ())


@pytest.mark.rule("JU-O2", "JU-S6")
def test_the_seat_scores_without_block_actions_and_before_the_automa() -> None:
    state, _ = turn("apgr lepe", grid("M apki apba apor"), automa="lewa leor")
    state, _ = place(state, "apgr", 1, 1)
    assert state.asks[0] == Ask.MAKE_JUICE
    state, events = juice(state, APPLE)
    assert only(events, JuiceMade).actions == 0
    assert (state.seats[0].juices, len(state.seats[0].stack)) == (1, 1)
    assert only(events, AutomaJuiceMade).fruit == LEMON
    assert events.index(only(events, AutomaJuiceMade)) > events.index(only(events, JuiceMade))


@pytest.mark.rule("JU-O3")
def test_the_automa_makes_juices_of_every_fruit_on_three_of_its_tiles() -> None:
    state, _ = turn("apki bagr", automa="apba apor bale baki")
    state, events = place(state, "bagr", 0, 1)
    made = all_of(events, AutomaJuiceMade)
    # apba serves both; apples keep it as their lowest, bananas the next.
    assert made == [
        AutomaJuiceMade(APPLE, tuple(tiles("apba apki apor")), tile("apba")),
        AutomaJuiceMade(BANANA, tuple(tiles("apba baki bale")), tile("baki")),
    ]
    assert only(events, AutomaTilesLeft).discarded == tuple(sorted(tiles("apki apor bale")))
    assert state.automa is not None
    assert (state.automa.tiles, state.automa.juices, state.automa.stack) == (b"", 2, tiles("apba baki"))


@pytest.mark.rule("JU-O3")
def test_two_of_a_fruit_are_no_juice_and_stay() -> None:
    state, _ = turn("apki bagr", automa="apor")
    state, events = place(state, "bagr", 0, 1)
    assert not all_of(events, AutomaJuiceMade)
    assert automa_of(state) == tiles("apki apor")


@pytest.mark.rule("JU-O3")
def test_a_juice_with_no_tile_left_to_keep_counts_without_one() -> None:
    """Each of the three lemons is kept for another fruit before lemon's turn comes."""
    mine = "aple apwa apst bale bawa bast grle grwa"
    state, _ = turn("grst kipe", automa=mine)
    state, events = place(state, "kipe", 0, 1)
    made = {event.fruit: event.kept for event in all_of(events, AutomaJuiceMade)}
    assert made[APPLE] == tile("aple")
    assert made[BANANA] == tile("bale")
    assert made[GRAPE] == tile("grle")
    assert made[LEMON] is None
    assert state.automa is not None
    assert state.automa.juices == len(made)


@pytest.mark.rule("JU-O3")
def test_for_each_of_its_juices_the_seat_adds_a_block_of_the_lowest_discards() -> None:
    state, _ = turn("apki bagr", automa="apba apor bale baki", discards="gror")
    state, _ = place(state, "bagr", 0, 1)
    assert (state.asks[0], state.seats[0].block) == (Ask.PUT_BLOCK, tile("apki"))
    state, events = do(state, 0, PutBlock(Cell(0, 2)))
    assert only(events, BlockAdded) == BlockAdded(0, tile("apki"), Cell(0, 2))
    assert state.seats[0].block == tile("apor")
    state, events = do(state, 0, legal(state, 0, PutBlock)[0])
    assert shown(state)[0, 2] == "[apki]"
    assert only(events, RoundStarted).round == 3


@pytest.mark.rule("JU-O3")
def test_there_is_no_block_without_discards_or_with_a_complete_grid() -> None:
    after = (Phase.AUTOMA_BLOCK, Phase.END)
    state, events = table(None, mode=Mode.SOLO, phases=after)
    assert not all_of(events, BlockAdded)
    assert state.asks[0] == Ask.PLACE_ONE
    state, events = table(FULL, mode=Mode.SOLO, phases=after, discards="baor")
    assert events[-1] == GameEnded(End.NO_CELL)
    assert state.discards == tiles("baor")
    state, events = table(ROOM_FOR_ONE, mode=Mode.SOLO, phases=after, discards="baor")
    assert only(events, BlockAdded) == BlockAdded(0, tile("baor"), Cell(3, 3))


@pytest.mark.rule("JU-O4")
def test_the_game_ends_at_once_when_the_drawn_tiles_have_no_cell() -> None:
    """The Automa, which has three oranges, does not score again."""
    state, events = turn("baki bale", FULL, automa="gror kior orst")
    assert all_of(events, Drawn)
    assert events[-1] == GameEnded(End.NO_CELL)
    assert not all_of(events, AutomaJuiceMade)
    assert GAME.to_act(state) == ()


@pytest.mark.rule("JU-O4", "JU-D3")
def test_the_game_ends_when_two_tiles_cannot_be_drawn_even_after_reshuffling() -> None:
    ending = {"mode": Mode.SOLO, "phases": (Phase.END,), "pile": "baor", "deep": False}
    state, events = table(None, **ending)  # type: ignore[arg-type]
    assert events == (GameEnded(End.TILES_RAN_OUT),)
    state, events = table(None, **ending, discards="orst")  # type: ignore[arg-type]
    assert all_of(events, Reshuffled) == [Reshuffled(1)]
    assert may_be_placed(state) == set(tiles("baor orst"))


@pytest.mark.rule("JU-O4")
@pytest.mark.parametrize(("mine", "winner"), [(4, 0), (3, 1), (2, 1)])
def test_the_seat_wins_only_with_more_juices_than_the_automa(mine: int, winner: int) -> None:
    state, _ = table(None, mode=Mode.SOLO, phases=(), juices=(mine,))
    assert state.automa is not None
    state = msgspec.structs.replace(state, automa=msgspec.structs.replace(state.automa, juices=3))
    score = GAME.score(state)
    assert score.winners == (winner,)
    assert [seat.seat for seat in score.seats] == [0, 1]
    assert score.seats[winner].rank == 1
    assert score.note == ("Seat 0 wins.", "The Automa wins.")[winner]


@pytest.mark.rule("JU-O4")
def test_the_catalogue_says_that_solo_is_hard() -> None:
    (mode,) = [option for option in GAME.about.options if option.field == "mode"]
    assert "it is hard" in mode.description


# --- Cursed Wild ------------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O6")
def test_a_drawn_wild_goes_to_the_automa() -> None:
    state, _ = turn("w1 bale")
    assert may_be_placed(state) == set(tiles("bale"))
    with pytest.raises(IllegalMove, match="must go to the Automa"):
        place(state, "w1", 0, 1)
    state, events = place(state, "bale", 0, 1)
    assert only(events, AutomaTook).tile == tile("w1")


@pytest.mark.rule("JU-O6")
def test_of_two_wilds_each_side_gets_one() -> None:
    state, _ = turn("w1 w3")
    assert may_be_placed(state) == set(tiles("w1 w3"))
    _, events = place(state, "w1", 0, 1)
    assert only(events, AutomaTook).tile == tile("w3")


@pytest.mark.rule("JU-O6")
def test_a_wild_makes_every_pair_of_the_automas_a_juice_and_is_discarded_before_the_blocks() -> None:
    state, _ = turn("w1 bagr", automa="apki apor orpe kile")
    state, events = place(state, "bagr", 0, 1)
    assert all_of(events, AutomaJuiceMade) == [
        AutomaJuiceMade(APPLE, (*tiles("apki apor"), tile("w1")), tile("apki")),
        AutomaJuiceMade(KIWI, (*tiles("apki kile"), tile("w1")), tile("kile")),
        AutomaJuiceMade(ORANGE, (*tiles("apor orpe"), tile("w1")), tile("apor")),
    ]
    assert only(events, AutomaTilesLeft).discarded == tuple(tiles("orpe w1"))
    assert state.seats[0].block == tile("orpe")
    state, _ = do(state, 0, legal(state, 0, PutBlock)[0])
    assert state.seats[0].block == tile("w1")


@pytest.mark.rule("JU-O6")
def test_a_wild_is_discarded_even_when_it_made_nothing() -> None:
    state, _ = turn("w1 bagr", automa="apki")
    state, events = place(state, "bagr", 0, 1)
    assert only(events, AutomaTilesLeft).discarded == tuple(tiles("w1"))
    assert (automa_of(state), state.discards) == (tiles("apki"), tiles("w1"))


# --- Juice Masters ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O7")
def test_a_tile_with_the_automas_fruit_must_go_to_it() -> None:
    state, _ = turn("apki bale", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("bale"))
    state, _ = turn("apki apba", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("apki apba"))
    state, _ = turn("apki bale", automas_fruit=GRAPE)
    assert may_be_placed(state) == set(tiles("apki bale"))


@pytest.mark.rule("JU-O7", "JU-O6")
def test_with_a_wild_and_the_automas_fruit_the_wild_goes() -> None:
    state, _ = turn("apki w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("apki"))
    state, _ = turn("bale w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("bale"))


@pytest.mark.rule("JU-O7", "JU-O3")
def test_the_automa_keeps_a_tile_with_its_fruit_and_makes_its_own_juice_last() -> None:
    state, _ = turn("baki grpe", automa="apba baor bale apwa apst", automas_fruit=BANANA)
    # baki carries the Automa's fruit and must go to it.
    state, events = place(state, "grpe", 0, 1)
    assert all_of(events, AutomaJuiceMade) == [
        AutomaJuiceMade(APPLE, tuple(tiles("apba apst apwa")), tile("apba")),
        AutomaJuiceMade(BANANA, tuple(tiles("apba baki bale baor")), tile("baki")),
    ]
    state, _ = turn("kile grpe", automa="apba apgr apor bapi bawa", automas_fruit=ORANGE)
    _, events = place(state, "grpe", 0, 1)
    assert all_of(events, AutomaJuiceMade)[0].kept == tile("apor")
    state, _ = turn("kile grpe", automa="apba apgr apki bagr baor", automas_fruit=APPLE)
    _, events = place(state, "grpe", 0, 1)
    assert [event.fruit for event in all_of(events, AutomaJuiceMade)] == [BANANA, APPLE]


@pytest.mark.rule("JU-O7")
def test_both_sides_gain_extra_juices_for_their_own_fruit() -> None:
    state, _ = table(None, mode=Mode.SOLO, phases=(), juices=(2,), stacks=("apki apba",), preferred=(APPLE,),
                     automas_fruit=KIWI)  # fmt: skip
    assert state.automa is not None
    automa = msgspec.structs.replace(state.automa, juices=3, stack=tiles("kile bale"))
    score = GAME.score(msgspec.structs.replace(state, automa=automa))
    assert [seat.total for seat in score.seats] == [4, 4]
    assert score.winners == (1,)


# --- Complements Everywhere -------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O8")
def test_a_drawn_complement_tile_must_be_kept() -> None:
    state, _ = turn("ap! bale")
    assert may_be_placed(state) == set(tiles("ap!"))
    state, events = place(state, "ap!", 0, 1)
    assert only(events, AutomaTook).tile == tile("bale")


@pytest.mark.rule("JU-O8", "JU-O7", "JU-O6")
def test_a_complement_tile_is_kept_also_against_the_other_modules() -> None:
    state, _ = turn("ap! bale", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("ap!"))
    state, _ = turn("ap! bale", automas_fruit=BANANA)
    assert may_be_placed(state) == set(tiles("ap!"))
    state, _ = turn("ap! w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("ap!"))


@pytest.mark.rule("JU-O8")
def test_of_two_complement_tiles_one_is_discarded_and_the_automa_gets_the_next_without() -> None:
    state, _ = turn("ap! ba* ki! le* bale orpe")
    assert may_be_placed(state) == set(tiles("ap! ba*"))
    state, events = place(state, "ba*", 0, 1)
    assert all_of(events, Discarded) == [
        Discarded(tile("ap!"), Why.SECOND_COMPLEMENT),
        Discarded(tile("ki!"), Why.PASSED_OVER),
        Discarded(tile("le*"), Why.PASSED_OVER),
    ]
    assert only(events, AutomaTook).tile == tile("bale")
    assert state.discards == bytes(sorted(tiles("ap! ki! le*")))


@pytest.mark.rule("JU-O8", "JU-O6", "JU-O7")
def test_what_the_automa_gets_instead_may_be_a_wild_or_any_fruit() -> None:
    """Only the two drawn tiles are bound."""
    state, _ = turn("ap! ba* w1", automas_fruit=GRAPE)
    _, events = place(state, "ba*", 0, 1)
    assert only(events, AutomaTook).tile == tile("w1")


@pytest.mark.rule("JU-O8", "JU-D3")
def test_the_next_tile_without_a_complement_may_come_out_of_the_discards_or_not_at_all() -> None:
    state, _ = turn("ap! ba* ki!", deep=False, discards="bale")
    state, events = place(state, "ba*", 0, 1)
    assert only(events, AutomaTook).tile == tile("bale")
    assert len(all_of(events, Reshuffled)) == 1
    state, _ = turn("ap! ba* ki!", deep=False, discards="le*")
    state, events = place(state, "ba*", 0, 1)
    assert not all_of(events, AutomaTook)
    assert all_of(events, Discarded)[0] == Discarded(tile("ap!"), Why.SECOND_COMPLEMENT)
    assert not [event for event in all_of(events, Discarded) if event.why == Why.PASSED_OVER]


# --- Complements in Solo ----------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O9")
def test_chili_takes_one_of_the_automas_tiles_away_before_it_scores() -> None:
    state, _ = turn("apor lepe", grid("M ap! apba"), automa="lewa leor")
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert only(events, ChiliServed) == ChiliServed(0, ())
    assert legal(state, 0, DiscardAutomaTile) == [DiscardAutomaTile(each) for each in sorted(tiles("lewa leor lepe"))]
    with pytest.raises(IllegalMove, match="The Automa has no"):
        do(state, 0, DiscardAutomaTile(tile("apor")))
    state, events = do(state, 0, DiscardAutomaTile(tile("leor")))
    assert events[0] == Discarded(tile("leor"), Why.CHILI)
    assert not all_of(events, AutomaJuiceMade)
    assert automa_of(state) == bytes(sorted(tiles("lewa lepe")))
    assert tile("leor") in state.discards


@pytest.mark.rule("JU-O9")
def test_chili_takes_the_only_tile_without_asking_and_does_nothing_where_there_is_none() -> None:
    state, _ = turn("apor lepe", grid("M ap! apba"))
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert only(events, Discarded) == Discarded(tile("lepe"), Why.CHILI)
    assert automa_of(state) == b""
    state, events = table(None, mode=Mode.SOLO, phases=(Phase.COMPLEMENTS, Phase.END), effects=((CHILI,),))
    assert only(events, ChiliServed).blocks == ()
    assert not all_of(events, Discarded)


@pytest.mark.rule("JU-O9")
def test_coffee_draws_and_places_one_more_and_scores_it_before_the_automa() -> None:
    state, _ = turn("apor lepe grki", grid("M ap* apba", "kile . .", "kiwa . ."), automa="leor lewa")
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert [type(event) for event in events[2:]] == [CoffeeServed, Drawn]
    assert state.asks[0] == Ask.PLACE
    state, events = place(state, "grki", 1, 1)
    assert not all_of(events, AutomaJuiceMade)
    state, events = juice(state, KIWI)
    assert state.seats[0].juices == 2
    assert only(events, AutomaJuiceMade).fruit == LEMON


@pytest.mark.rule("JU-O9", "JU-O6")
def test_a_wild_that_coffee_draws_is_discarded_and_the_next_tile_taken() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, events = table(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), pile="w1 w2 apki")
    assert all_of(events, Discarded) == [Discarded(tile("w1"), Why.CURSED), Discarded(tile("w2"), Why.CURSED)]
    assert state.seats[0].hand == tiles("apki")
    only_wilds = {"pile": "w1", "discards": "w2", "deep": False}
    state, events = table(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), **only_wilds)  # type: ignore[arg-type]
    assert only(events, CoffeeServed).draws is False
    assert not all_of(events, Discarded)


@pytest.mark.rule("JU-O9")
def test_complements_go_juice_by_juice_with_chili_first_and_a_coffees_own_directly() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, events = table(
        grid("M ap! apba"), mode=Mode.SOLO, phases=after, effects=((COFFEE, CHILI, COFFEE),), pile="apor kile",
        automa="lewa leor lepe",
    )  # fmt: skip
    assert [type(event) for event in events] == [CoffeeServed, Drawn]
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert all_of(events, ChiliServed)  # of the juice that the coffee made …
    state, events = do(state, 0, legal(state, 0, DiscardAutomaTile)[0])
    assert all_of(events, ChiliServed)  # … before the one that was waiting
    state, events = do(state, 0, legal(state, 0, DiscardAutomaTile)[0])
    assert all_of(events, CoffeeServed)


@pytest.mark.rule("JU-O8", "JU-O9")
def test_coffee_may_draw_what_the_start_of_a_turn_would_forbid() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, _ = table(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), pile="apki", automas_fruit=APPLE)
    assert {move.tile for move in legal(state, 0, Place)} == set(tiles("apki"))
    assert legal(state, 0, MakeJuice) == []
