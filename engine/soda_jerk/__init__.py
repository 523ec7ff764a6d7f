"""Soda Jerk, for 2 to 4 seats: place cards face down at soda taps and speculate on the value of each flavor."""

from typing import Any, Final

from engine.game import About, Game, OptionSpec, Preset
from engine.soda_jerk import notation, rules, scoring, setup, texts
from engine.soda_jerk import view as projection
from engine.soda_jerk.components import KIND, SEATS, Flavor
from engine.soda_jerk.events import Event
from engine.soda_jerk.state import Move, Options, State
from engine.soda_jerk.view import View

__all__ = ["SODA_JERK"]

_OPTIONS: Final = (
    OptionSpec(
        field="advanced",
        title="Advanced play",
        description=(
            "Taps turn to their B side, where an effect applies: one in round 1, two more in round 2, all from "
            "round 3. The printed effects are not published; these are house effects."
        ),
        type="boolean",
        default=False,
    ),
    OptionSpec(
        field="first_seat",
        title="First seat",
        description="The seat that starts round 1, numbered from 0. Drawn at random when left out.",
        type="integer",
        minimum=0,
        maximum=SEATS[-1] - 1,
    ),
    OptionSpec(
        field="removed_flavor",
        title="Removed flavor",
        description=(
            "With two seats: the flavor whose tap and cards leave the game. Drawn at random when left out; refused "
            "with three or four seats."
        ),
        type="choice",
        choices=tuple(f"FLAVOR_{flavor.name}" for flavor in Flavor),
    ),
    OptionSpec(
        field="copies_per_value",
        title="Copies per value",
        description=(
            "How many cards of each flavor print 1, 2 and 3: three counts that add up to 9. The distribution in the "
            "box is not published; three of each is a house choice."
        ),
        type="integers",
        minimum=0,
        maximum=9,
        default=Options().copies_per_value,
    ),
)


class _SodaJerk:
    """Implements `engine.game.Game`."""

    about: Final = About(
        kind=KIND,
        title="Soda Jerk",
        description=(
            "Place cards face down at soda taps to raise and lower what flavors are worth, and keep the cards that "
            "will be worth most. Three rounds. Advanced play uses house effects."
        ),
        seats=SEATS,
        options=_OPTIONS,
        rules_version=1,
        schema=1,
    )
    presets: Final = (Preset("Basic", Options()), Preset("Advanced", Options(advanced=True)))
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


SODA_JERK: Final[Game[Options, State, Move, Event, View]] = _SodaJerk()
"""The game."""
