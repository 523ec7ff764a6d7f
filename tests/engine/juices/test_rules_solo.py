"""Solo: JU-O."""

from collections import Counter
from itertools import product

import msgspec
import pytest

from engine.game import SPECTATOR
from engine.juices.components import COMPLEMENTED, PAIRS, WILDS, Fruit, Mode
from engine.juices.events import (
    AutomaJuiceMade,
    AutomaTilesLeft,
    AutomaTook,
    BlockAdded,
    Drawn,
    End,
    GameEnded,
    JuiceMade,
    Placed,
    Reshuffled,
    RoundStarted,
)
from engine.juices.grid import Cell
from engine.juices.setup import WITH_MASTER
from engine.juices.state import Ask, Options, Phase, Place, PutBlock
from tests.engine.juices.cases import JuicesCases
from tests.engine.juices.positions import (
    FULL,
    GAME,
    ROOM_FOR_ONE,
    all_of,
    automas_tiles,
    do,
    finish,
    grid,
    juice,
    legal,
    may_be_placed,
    new,
    only,
    place,
    position,
    shown,
    tile,
    tiles,
    turn,
)

APPLE, BANANA, GRAPE, KIWI, LEMON, ORANGE, PEAR, PINEAPPLE, STRAWBERRY, WATERMELON = Fruit
MODULES = [dict(zip(("cursed_wild", "juice_masters", "complements_everywhere"), on, strict=True))
           for on in product((False, True), repeat=3)]  # fmt: skip


# --- Set-up and turns -------------------------------------------------------------------------------------------------


@pytest.mark.rule("JU-O1")
def test_solo_is_played_with_the_tiles_of_two_fruits_and_plain_masters() -> None:
    state = new(1)
    assert JuicesCases().pieces(state) == Counter(PAIRS)
    assert state.seats[0].grid == WITH_MASTER
    view = GAME.view(state, 0)
    assert view.automa is not None
    assert (view.seats[0].preferred_fruit, view.automa.preferred_fruit) == (None, None)


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
def test_the_seat_places_one_of_two_tiles_and_the_automa_gets_the_other() -> None:
    state, events = turn("apki bale")
    assert all_of(events, Drawn) == [Drawn(0, 2, tuple(sorted(tiles("apki bale"))))]
    assert may_be_placed(state) == set(tiles("apki bale"))
    assert len(legal(state, 0, Place)) == 8
    state, events = place(state, "bale", 0, 1)
    assert events[:2] == (Placed(0, tile("bale"), Cell(0, 1)), AutomaTook(tile("apki")))
    assert automas_tiles(state) == tiles("apki")
    assert only(events, RoundStarted).round == 3
    seen = GAME.view(state, SPECTATOR).automa
    assert seen is not None
    assert seen.tiles == tuple(tiles("apki"))


@pytest.mark.rule("JU-O2")
def test_only_the_seat_sees_the_drawn_tiles_before_it_places_one() -> None:
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
    juices = all_of(events, AutomaJuiceMade)
    # Both juices contain apba. The apple juice keeps it as its lowest tile; the banana juice keeps the next one.
    assert juices == [
        AutomaJuiceMade(APPLE, tuple(tiles("apba apki apor")), tile("apba")),
        AutomaJuiceMade(BANANA, tuple(tiles("apba baki bale")), tile("baki")),
    ]
    assert only(events, AutomaTilesLeft).discarded == tuple(sorted(tiles("apki apor bale")))
    assert state.automa is not None
    assert (state.automa.tiles, state.automa.juices, state.automa.stack) == (b"", 2, tiles("apba baki"))


@pytest.mark.rule("JU-O3")
def test_two_tiles_of_a_fruit_are_not_a_juice_and_stay() -> None:
    state, _ = turn("apki bagr", automa="apor")
    state, events = place(state, "bagr", 0, 1)
    assert not all_of(events, AutomaJuiceMade)
    assert automas_tiles(state) == tiles("apki apor")


@pytest.mark.rule("JU-O3")
def test_a_juice_without_a_tile_left_to_keep_counts() -> None:
    """Each of the three lemons is kept for a fruit that comes before lemon."""
    mine = "aple apwa apst bale bawa bast grle grwa"
    state, _ = turn("grst kipe", automa=mine)
    state, events = place(state, "kipe", 0, 1)
    kept = {event.fruit: event.kept for event in all_of(events, AutomaJuiceMade)}
    assert kept[APPLE] == tile("aple")
    assert kept[BANANA] == tile("bale")
    assert kept[GRAPE] == tile("grle")
    assert kept[LEMON] is None
    assert state.automa is not None
    assert state.automa.juices == len(kept)


@pytest.mark.rule("JU-O3")
def test_the_seat_adds_a_block_of_the_lowest_discards_for_each_juice() -> None:
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
def test_no_block_is_added_without_discards_or_to_a_complete_grid() -> None:
    after = (Phase.AUTOMA_BLOCK, Phase.END)
    state, events = position(None, mode=Mode.SOLO, phases=after)
    assert not all_of(events, BlockAdded)
    assert state.asks[0] == Ask.PLACE_ONE
    state, events = position(FULL, mode=Mode.SOLO, phases=after, discards="baor")
    assert events[-1] == GameEnded(End.NO_CELL)
    assert state.discards == tiles("baor")
    state, events = position(ROOM_FOR_ONE, mode=Mode.SOLO, phases=after, discards="baor")
    assert only(events, BlockAdded) == BlockAdded(0, tile("baor"), Cell(3, 3))


@pytest.mark.rule("JU-O4")
def test_the_game_ends_immediately_if_the_drawn_tiles_have_no_cell() -> None:
    """The Automa has three oranges but does not score again."""
    state, events = turn("baki bale", FULL, automa="gror kior orst")
    assert all_of(events, Drawn)
    assert events[-1] == GameEnded(End.NO_CELL)
    assert not all_of(events, AutomaJuiceMade)
    assert GAME.to_act(state) == ()


@pytest.mark.rule("JU-O4")
def test_the_tiles_drawn_last_stay_in_the_hand_hidden_from_spectators() -> None:
    state, events = turn("baki bale", FULL, discards="gror")
    drawn = tuple(sorted(tiles("baki bale")))
    assert tuple(state.seats[0].hand) == drawn
    assert state.discards == tiles("gror")
    for viewer, known in ((0, drawn), (SPECTATOR, ())):
        seen = GAME.view(state, viewer).seats[0]
        assert (seen.tiles_in_hand, seen.hand) == (2, known)
        assert GAME.view_event(only(events, Drawn), viewer) == Drawn(0, 2, known)


@pytest.mark.rule("JU-O4", "JU-D3")
def test_the_game_ends_if_two_tiles_cannot_be_drawn_after_a_reshuffle() -> None:
    ending = {"mode": Mode.SOLO, "phases": (Phase.END,), "pile": "baor", "deep": False}
    state, events = position(None, **ending)  # type: ignore[arg-type]
    assert events == (GameEnded(End.TILES_RAN_OUT),)
    state, events = position(None, **ending, discards="orst")  # type: ignore[arg-type]
    assert all_of(events, Reshuffled) == [Reshuffled(1)]
    assert may_be_placed(state) == set(tiles("baor orst"))


@pytest.mark.rule("JU-O4")
@pytest.mark.parametrize(("mine", "winner"), [(4, 0), (3, None), (2, None)])
def test_the_seat_wins_only_with_more_juices_than_the_automa(mine: int, winner: int | None) -> None:
    state, _ = position(None, mode=Mode.SOLO, phases=(), juices=(mine,))
    assert state.automa is not None
    state = msgspec.structs.replace(state, automa=msgspec.structs.replace(state.automa, juices=3))
    score = GAME.score(state)
    assert score.winners == (winner,)
    assert [player.seat for player in score.scores] == [0, None]
    assert [player.rank for player in score.scores] == ([1, 2] if winner == 0 else [2, 1])
    assert score.note == ("Seat 0 wins." if winner == 0 else "The Automa wins.")


@pytest.mark.rule("JU-O4")
def test_the_description_says_that_solo_is_hard() -> None:
    (mode,) = [option for option in GAME.about.options if option.field == "mode"]
    assert "it is hard" in mode.description
