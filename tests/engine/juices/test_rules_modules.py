"""The modules of Solo, and complements in Solo: JU-O5 to JU-O9."""

import msgspec
import pytest

from engine.errors import IllegalMove
from engine.juices.components import Complement, Fruit, Mode
from engine.juices.events import (
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    ChiliServed,
    CoffeeServed,
    Discarded,
    Drawn,
    Reshuffled,
    Why,
)
from engine.juices.state import Ask, DiscardAutomaTile, MakeJuice, Phase, Place, PutBlock
from tests.engine.juices.positions import (
    GAME,
    all_of,
    automas_tiles,
    do,
    grid,
    juice,
    legal,
    may_be_placed,
    only,
    place,
    position,
    tile,
    tiles,
    turn,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
CHILI, COFFEE = Complement


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
def test_the_seat_and_the_automa_each_get_one_of_two_wilds() -> None:
    state, _ = turn("w1 w3")
    assert may_be_placed(state) == set(tiles("w1 w3"))
    _, events = place(state, "w1", 0, 1)
    assert only(events, AutomaTook).tile == tile("w3")


@pytest.mark.rule("JU-O6")
def test_a_wild_completes_every_pair_of_the_automa_and_is_then_discarded() -> None:
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
def test_a_wild_is_discarded_even_if_it_made_no_juice() -> None:
    state, _ = turn("w1 bagr", automa="apki")
    state, events = place(state, "bagr", 0, 1)
    assert only(events, AutomaTilesLeft).discarded == tuple(tiles("w1"))
    assert (automas_tiles(state), state.discards) == (tiles("apki"), tiles("w1"))


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
def test_a_wild_goes_to_the_automa_before_its_preferred_fruit() -> None:
    state, _ = turn("apki w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("apki"))
    state, _ = turn("bale w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("bale"))


@pytest.mark.rule("JU-O7", "JU-O3")
def test_the_automa_keeps_its_preferred_fruit_and_makes_that_juice_last() -> None:
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
    state, _ = position(None, mode=Mode.SOLO, phases=(), juices=(2,), stacks=("apki apba",), preferred=(APPLE,),
                     automas_fruit=KIWI)  # fmt: skip
    assert state.automa is not None
    automa = msgspec.structs.replace(state.automa, juices=3, stack=tiles("kile bale"))
    score = GAME.score(msgspec.structs.replace(state, automa=automa))
    assert [seat.total for seat in score.scores] == [4, 4]
    assert score.winners == (None,)


# --- Complements Everywhere -------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O8")
def test_the_seat_must_keep_a_drawn_complement_tile() -> None:
    state, _ = turn("ap! bale")
    assert may_be_placed(state) == set(tiles("ap!"))
    state, events = place(state, "ap!", 0, 1)
    assert only(events, AutomaTook).tile == tile("bale")


@pytest.mark.rule("JU-O8", "JU-O7", "JU-O6")
def test_the_seat_keeps_a_complement_tile_even_with_the_other_modules() -> None:
    state, _ = turn("ap! bale", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("ap!"))
    state, _ = turn("ap! bale", automas_fruit=BANANA)
    assert may_be_placed(state) == set(tiles("ap!"))
    state, _ = turn("ap! w1", automas_fruit=APPLE)
    assert may_be_placed(state) == set(tiles("ap!"))


@pytest.mark.rule("JU-O8")
def test_a_second_complement_tile_is_discarded_and_replaced_for_the_automa() -> None:
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
def test_the_replacement_for_the_automa_can_be_any_tile_without_complement() -> None:
    """The modules restrict only the choice between the two drawn tiles."""
    state, _ = turn("ap! ba* w1", automas_fruit=GRAPE)
    _, events = place(state, "ba*", 0, 1)
    assert only(events, AutomaTook).tile == tile("w1")


@pytest.mark.rule("JU-O8", "JU-D3")
def test_the_replacement_can_come_from_the_discards_or_be_missing() -> None:
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
def test_chili_removes_one_of_the_automas_tiles_before_it_scores() -> None:
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
    assert automas_tiles(state) == bytes(sorted(tiles("lewa lepe")))
    assert tile("leor") in state.discards


@pytest.mark.rule("JU-O9")
def test_chili_needs_no_decision_if_the_automa_has_at_most_one_tile() -> None:
    state, _ = turn("apor lepe", grid("M ap! apba"))
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert only(events, Discarded) == Discarded(tile("lepe"), Why.CHILI)
    assert automas_tiles(state) == b""
    state, events = position(None, mode=Mode.SOLO, phases=(Phase.COMPLEMENTS, Phase.END), effects=((CHILI,),))
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
def test_a_wild_that_coffee_draws_is_discarded_and_replaced() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, events = position(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), pile="w1 w2 apki")
    assert all_of(events, Discarded) == [Discarded(tile("w1"), Why.CURSED), Discarded(tile("w2"), Why.CURSED)]
    assert state.seats[0].hand == tiles("apki")
    only_wilds = {"pile": "w1", "discards": "w2", "deep": False}
    state, events = position(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), **only_wilds)  # type: ignore[arg-type]
    assert only(events, CoffeeServed).draws is False
    assert not all_of(events, Discarded)


@pytest.mark.rule("JU-O9")
def test_complements_of_a_juice_made_by_coffee_come_before_waiting_ones() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, events = position(
        grid("M ap! apba"), mode=Mode.SOLO, phases=after, effects=((COFFEE, CHILI, COFFEE),), pile="apor kile",
        automa="lewa leor lepe",
    )  # fmt: skip
    assert [type(event) for event in events] == [CoffeeServed, Drawn]
    state, _ = place(state, "apor", 0, 3)
    state, events = juice(state, APPLE)
    assert all_of(events, ChiliServed)  # the chili of the new juice is resolved first
    state, events = do(state, 0, legal(state, 0, DiscardAutomaTile)[0])
    assert all_of(events, ChiliServed)  # then the waiting chili
    state, events = do(state, 0, legal(state, 0, DiscardAutomaTile)[0])
    assert all_of(events, CoffeeServed)


@pytest.mark.rule("JU-O8", "JU-O9")
def test_the_limits_of_drawn_tiles_do_not_apply_to_coffee() -> None:
    after = (Phase.COMPLEMENTS, Phase.END)
    state, _ = position(None, mode=Mode.SOLO, phases=after, effects=((COFFEE,),), pile="apki", automas_fruit=APPLE)
    assert {move.tile for move in legal(state, 0, Place)} == set(tiles("apki"))
    assert legal(state, 0, MakeJuice) == []
