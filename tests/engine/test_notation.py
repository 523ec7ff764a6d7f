"""The text notation of moves and positions, and the evaluable `repr`."""

import re
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine.juices.components
import engine.juices.events
import engine.juices.grid
import engine.juices.state
import engine.juices.view
import engine.soda_jerk.components
import engine.soda_jerk.events
import engine.soda_jerk.state
import engine.soda_jerk.view
import engine.soda_smugglers.components
import engine.soda_smugglers.events
import engine.soda_smugglers.state
import engine.soda_smugglers.view
from engine.catalogue import GAMES
from engine.errors import InvalidNotation
from engine.game import SPECTATOR
from engine.rng import Rng
from tests.engine.golden import Playthrough
from tests.engine.plays import plays

GENERATED: Final = st.data()
MODULES: Final[dict[str, tuple[ModuleType, ...]]] = {
    "soda_jerk": (
        engine.soda_jerk.components,
        engine.soda_jerk.state,
        engine.soda_jerk.events,
        engine.soda_jerk.view,
    ),
    "soda_smugglers": (
        engine.soda_smugglers.components,
        engine.soda_smugglers.state,
        engine.soda_smugglers.events,
        engine.soda_smugglers.view,
    ),
    "juices": (
        engine.juices.components,
        engine.juices.grid,
        engine.juices.state,
        engine.juices.events,
        engine.juices.view,
    ),
}
"""The modules whose names a `repr` uses."""
PAGE: Final = Path(__file__).parents[2] / "docs" / "notation.md"


def evaluated(kind: str, value: Any, secret: bytes) -> Any:
    names = {name: item for module in MODULES[kind] for name, item in vars(module).items()}
    return eval(repr(value), names | {"Rng": Rng, "SECRET": secret})


@pytest.mark.parametrize("kind", GAMES)
@given(GENERATED)
def test_moves_and_positions_survive_their_notation(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    apart = max(1, len(played.steps) // 10)
    for step in played.steps[::apart]:
        text = game.format_state(step.after)
        assert game.parse_state(text) == step.after, text
        for move in game.legal_moves(step.before, step.seat):
            assert "\n" not in str(move)
            assert game.parse_move(str(move)) == move, str(move)


@pytest.mark.parametrize("kind", GAMES)
@settings(max_examples=settings().max_examples // 3)
@given(GENERATED)
def test_a_printed_value_evaluates_to_itself(kind: str, data: st.DataObject) -> None:
    game, played = GAMES[kind], data.draw(plays(kind))
    secret = played.rng.seed
    assert evaluated(kind, played.options, secret) == played.options
    for step in played.steps[:: max(1, len(played.steps) // 6)]:
        for value in (step.before, step.move, *step.events, game.view(step.before, step.seat)):
            assert evaluated(kind, value, secret) == value


# --- Errors -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "text", "problem"),
    [
        ("soda_jerk", "", "must begin with place or flip"),
        ("soda_jerk", "place ki2", "must contain '@'"),
        ("soda_jerk", "place ki2@pear", "tap must be one of st, bl, ba, ki, or, not 'pear'"),
        ("soda_jerk", "place kiwi@or", "a card must be a flavor and a value"),
        ("soda_jerk", "flip or.x", "position must be an integer, not 'x'"),
        ("soda_jerk", "flip or.03", "position must be an integer"),
        ("soda_jerk", "flip or.", "position is missing"),
        ("soda_smugglers", "open", "slot is missing"),
        ("juices", "make_juice ap", "is not a move"),
        ("juices", "make_juice ap keep 0,0", "a cell must contain"),
        ("soda_smugglers", "accept_all 3", "is not a move"),
        ("soda_smugglers", "pack 2-3", "a pack must be luggage and a bribe"),
        ("soda_smugglers", "arrest 2 dog", "the token of an arrest must be tip_off or absent"),
        ("juices", "", "is not a move"),
        ("juices", "keep kiki", "a tile must have a form such as apki"),
        ("juices", "place apki@0", "a cell must contain ','"),
        ("juices", "pass 3", "is not a move"),
    ],
)
def test_a_text_that_is_not_a_move_is_an_error(kind: str, text: str, problem: str) -> None:
    with pytest.raises(InvalidNotation, match=re.escape(problem)):
        GAMES[kind].parse_move(text)


@pytest.mark.parametrize("kind", GAMES)
def test_a_position_with_a_missing_or_an_extra_line_is_an_error(kind: str) -> None:
    game = GAMES[kind]
    text = game.format_state(golden_state(kind))
    lines = text.splitlines()
    for omitted in range(3):
        with pytest.raises(InvalidNotation, match="the next line must begin with"):
            game.parse_state("\n".join(lines[:omitted] + lines[omitted + 1 :]))
    with pytest.raises(InvalidNotation, match="the text must end before"):
        game.parse_state(text + "pear 1\n")


@pytest.mark.parametrize("kind", GAMES)
def test_a_position_with_a_wrong_word_is_an_error(kind: str) -> None:
    game = GAMES[kind]
    lines = game.format_state(golden_state(kind)).splitlines()
    for number, line in enumerate(lines):
        for wrong in (line.replace("=", "=?"), f"{line} pear", f"{line} pear=1", f"{line} 300", f"{line} seat=-1"):
            if wrong != line:
                with pytest.raises(InvalidNotation):
                    game.parse_state("\n".join([*lines[:number], wrong, *lines[number + 1 :]]))


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        ("soda_jerk pear", "soda_jerk has no option pear"),
        ("soda_jerk first_seat=one", "first_seat must be an integer, not 'one'"),
        ("soda_jerk removed_flavor=pear", "removed_flavor must be one of strawberry, blueberry"),
        ("juices", "the next line must begin with 'soda_jerk', not with 'juices'"),
    ],
)
def test_wrong_options_of_a_position_are_an_error(head: str, problem: str) -> None:
    lines = GAMES["soda_jerk"].format_state(golden_state("soda_jerk")).splitlines()
    with pytest.raises(InvalidNotation, match=re.escape(problem)):
        GAMES["soda_jerk"].parse_state("\n".join([head, *lines[1:]]))


def golden_state(kind: str) -> Any:
    return Playthrough(kind).snapshot_state()


# --- The page ---------------------------------------------------------------------------------------------------------


def examples(kind: str, name: str) -> str:
    """Return a block of the page: the one after its marker."""
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"<!-- {kind} {name} -->\n+```text\n(.*?)```", page, flags=re.DOTALL)
    assert found, f"docs/notation.md has no block {kind} {name}"
    return found[1]


@pytest.mark.parametrize("kind", GAMES)
def test_the_documented_moves_can_be_parsed(kind: str) -> None:
    for line in examples(kind, "moves").splitlines():
        assert str(GAMES[kind].parse_move(line)) == line


@pytest.mark.parametrize("kind", GAMES)
def test_the_documented_position_can_be_parsed(kind: str) -> None:
    game, text = GAMES[kind], examples(kind, "position")
    state = game.parse_state(text)
    assert game.format_state(state) == text
    assert game.to_act(state)


@pytest.mark.parametrize("kind", GAMES)
def test_the_documented_view_is_the_spectators_view_of_its_position(kind: str) -> None:
    game = GAMES[kind]
    state = game.parse_state(examples(kind, "position"))
    assert game.format_view(game.view(state, SPECTATOR)) == examples(kind, "view")
