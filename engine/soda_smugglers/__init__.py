"""Soda Smugglers, for 3 to 8 seats: smuggle bottles past the border guard, or have yourself arrested for nothing."""

from typing import Any, Final

from engine.game import About, Game, OptionSpec, Preset
from engine.soda_smugglers import notation, rules, scoring, setup, texts
from engine.soda_smugglers import view as projection
from engine.soda_smugglers.components import KIND, SEATS
from engine.soda_smugglers.events import Event
from engine.soda_smugglers.state import Move, Options, State
from engine.soda_smugglers.view import View

__all__ = ["SODA_SMUGGLERS"]

_OPTIONS: Final = (
    OptionSpec(
        field="events",
        title="Event cards",
        description="In each round one of eight event cards changes the rules.",
        type="boolean",
        default=False,
    ),
    OptionSpec(
        field="first_guard",
        title="First guard",
        description="The seat that is border guard in round 1, numbered from 0. Drawn at random when left out.",
        type="integer",
        minimum=0,
        maximum=SEATS[-1] - 1,
    ),
)


class _SodaSmugglers:
    """Implements `engine.game.Game`."""

    about: Final = About(
        kind=KIND,
        title="Soda Smugglers",
        description=(
            "Travelers pack bottles, offer bribes and hope to be waved through; the border guard takes bribes, opens "
            "suitcases and makes arrests. Each seat is guard in turn, and the most bottle caps win."
        ),
        seats=SEATS,
        options=_OPTIONS,
        rules_version=1,
        schema=1,
    )
    presets: Final = (Preset("Without event cards", Options()), Preset("With event cards", Options(events=True)))
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


SODA_SMUGGLERS: Final[Game[Options, State, Move, Event, View]] = _SodaSmugglers()
"""The game."""
