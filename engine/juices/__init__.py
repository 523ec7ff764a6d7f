"""Juices, for 1 to 14 seats: lay fruit tiles side by side on a small grid and make juices of equal fruits."""

from typing import Any, Final

from engine.game import About, Game, OptionSpec, Preset
from engine.juices import notation, rules, scoring, setup, texts
from engine.juices import view as projection
from engine.juices.components import COPIES, KIND, SEATS, Mode
from engine.juices.events import Event
from engine.juices.state import Move, Options, State
from engine.juices.view import View

__all__ = ["JUICES"]

_OPTIONS: Final = (
    OptionSpec(
        field="mode",
        title="Mode",
        description=(
            "Basic: six juices end the game, the most juices win. Advanced: each kept tile with the seat's preferred "
            "fruit is worth a juice more. Orders to Go-Go: only juices of the active order's fruit score. Solo: one "
            "seat against the Automa; it is hard. Left out: Solo for one seat, Basic for more."
        ),
        type="choice",
        choices=tuple(f"JUICES_MODE_{mode.name}" for mode in Mode),
    ),
    OptionSpec(
        field="copies",
        title="Copies",
        description=(
            "How many copies of the game are used. Left out: one for up to ten seats, two for more. From five seats on "
            "two play better: with one, the tiles run out before the grids fill. Solo uses one."
        ),
        type="integer",
        minimum=COPIES[0],
        maximum=COPIES[-1],
    ),
    OptionSpec(
        field="cursed_wild",
        title="Cursed Wild",
        description="A module of Solo: the four wilds join the pile, and the Automa gets them.",
        type="boolean",
        default=False,
    ),
    OptionSpec(
        field="juice_masters",
        title="Juice Masters",
        description=(
            "A module of Solo: both sides have a preferred fruit. Tiles with the Automa's fruit must go to the Automa. "
            "For each side, kept tiles with its own fruit count as one more juice each."
        ),
        type="boolean",
        default=False,
    ),
    OptionSpec(
        field="complements_everywhere",
        title="Complements Everywhere",
        description="A module of Solo: the 20 tiles with chili or coffee join the pile; the seat must keep them.",
        type="boolean",
        default=False,
    ),
)


class _Juices:
    """Implements `engine.game.Game`."""

    about: Final = About(
        kind=KIND,
        title="Juices",
        description=(
            "Lay fruit tiles side by side on a grid of four by four and make juices of three or more with the same "
            "fruit. All seats draft and place at the same time; Blocks, chili and coffee spice it up. Four modes, "
            "one of them against an Automa, which is hard to beat. Two copies play better from five seats on."
        ),
        seats=SEATS,
        options=_OPTIONS,
        rules_version=2,
        schema=1,
    )
    presets: Final = (
        Preset("Basic", Options()),
        Preset("Advanced", Options(mode=Mode.ADVANCED)),
        Preset("Orders to Go-Go", Options(mode=Mode.ORDERS_TO_GO_GO)),
        Preset("Solo", Options(mode=Mode.SOLO)),
        Preset(
            "Solo with all modules",
            Options(mode=Mode.SOLO, cursed_wild=True, juice_masters=True, complements_everywhere=True),
        ),
    )
    state_type: Final = State
    options_type: Final = Options
    move_type: Final[Any] = Move
    event_type: Final[Any] = Event

    new_game = staticmethod(setup.new_game)
    to_act = staticmethod(rules.to_act)
    legal_moves = staticmethod(rules.legal_moves)
    apply = staticmethod(rules.apply)
    score = staticmethod(scoring.score)
    view = staticmethod(projection.view)
    view_event = staticmethod(projection.view_event)
    prompt = staticmethod(texts.prompt)
    label = staticmethod(texts.label)
    describe = staticmethod(texts.describe)
    parse_move = staticmethod(notation.parse_move)
    format_state = staticmethod(notation.format_state)
    parse_state = staticmethod(notation.parse_state)
    format_view = staticmethod(notation.format_view)


JUICES: Final[Game[Options, State, Move, Event, View]] = _Juices()
"""The game."""
