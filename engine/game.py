"""The `Game` protocol, which every game implements and all other code depends on.

Vocabulary:

- A *seat* is a place at the table, numbered from 0, clockwise.
- A *state* is the complete information about a game, hidden information included.
- A *view* is the part of a state that one *viewer* (a seat, or `SPECTATOR`) may know.
- A *move* is one decision of one seat.
- An *event* is something that happened. Like a state it may contain hidden information; `view_event` removes what the
  viewer may not know.
- An *awaited* seat has a decision to make now. Several seats can be awaited concurrently.
"""

from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from engine.errors import InvalidOptions
from engine.rng import SEED_BYTES, Rng

SPECTATOR: Final = None
"""The viewer without a seat, who sees only public information."""

Viewer = int | None
"""A seat, or `SPECTATOR`."""


Options = TypeVar("Options")


class ScoreLine(msgspec.Struct, frozen=True):
    """One line of a score: points and their cause.

    Attributes:
        code: the cause, for programs.
        label: the cause, for people.
        points: positive or negative.
        round: the round of these points, from 1; 0 where the line belongs to no round.
    """

    code: str
    label: str
    points: int
    round: int = 0


class PlayerScore(msgspec.Struct, frozen=True):
    """The score of one player.

    Attributes:
        seat: the player's seat; None for an automaton.
        total: the sum of `lines`.
        rank: from 1; equal players share a rank.
        lines: where the points come from.
        tie_breakers: decide between equal totals, most important first, greater is better.
    """

    seat: int | None
    total: int
    rank: int
    lines: tuple[ScoreLine, ...] = ()
    tie_breakers: tuple[int, ...] = ()


class Score(msgspec.Struct, frozen=True):
    """The standings, from public information only.

    Attributes:
        finished: whether the game is over.
        scores: by player: the seats, ascending, and then the automaton, if the game has one.
        winners: in the same order: seats, and None for the automaton; empty until the game is over.
        note: one sentence about the standings or the victory.
    """

    finished: bool
    scores: tuple[PlayerScore, ...]
    winners: tuple[int | None, ...]
    note: str


class OptionSpec(msgspec.Struct, frozen=True):
    """The description of an option, from which a form can be built.

    `default` applies when the option is omitted; None means a random draw.
    """

    field: str
    title: str
    description: str
    type: Literal["boolean", "integer", "choice", "integers"]
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    default: bool | int | str | tuple[int, ...] | None = None


class Preset(msgspec.Struct, Generic[Options], frozen=True):
    """Options that a user interface can offer as a button, with the button's title."""

    title: str
    options: Options


class About(msgspec.Struct, frozen=True):
    """The description of a game.

    Attributes:
        kind: the name in programs: lower case, words joined by `_`.
        title: the name for people.
        description: one or two sentences.
        seats: the numbers of seats that can play.
        options: every option.
        rules_version: raised with every change after which the same seed and moves give a different game.
        schema: raised with every change of the structure of an encoded state.
    """

    kind: str
    title: str
    description: str
    seats: range
    options: tuple[OptionSpec, ...]
    rules_version: int
    schema: int


State = TypeVar("State")
Move = TypeVar("Move")
Event = TypeVar("Event")
View = TypeVar("View")


class Game(Protocol[Options, State, Move, Event, View]):
    """The rules of one game. All values are immutable msgspec structs; all functions are pure.

    Options, moves, events, views and states have an evaluable `repr`. A state's `repr` names its seed `SECRET`.
    """

    @property
    def about(self) -> About:
        """The description of the game."""

    @property
    def presets(self) -> tuple[Preset[Options], ...]:
        """Named options, the default first. Each is valid for one range of numbers of seats."""

    @property
    def state_type(self) -> type[State]:
        """The type of a state."""

    @property
    def options_type(self) -> type[Options]:
        """The type of the options."""

    @property
    def move_type(self) -> Any:
        """The type of a move: a union of tagged structs."""

    @property
    def event_type(self) -> Any:
        """The type of an event: a union of tagged structs."""

    def new_game(self, options: Options, seat_count: int, rng: Rng) -> tuple[State, tuple[Event, ...]]:
        """Set up a game and deal.

        Raises:
            InvalidOptions: no game can be set up with these options and this number of seats.
        """

    def to_act(self, state: State) -> tuple[int, ...]:
        """Return the awaited seats in ascending order; empty when the game is over.

        While a seat is awaited, moves of other seats do not change its legal moves.
        """

    def legal_moves(self, state: State, seat: int) -> tuple[Move, ...]:
        """Return every legal move of the seat, once each; empty when the seat is not awaited.

        The order reveals nothing that the seat's view does not show.
        """

    def apply(self, state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
        """Return the state after a move and everything that the rules then force, and the events.

        Raises:
            GameOver: the game is over.
            NotYourTurn: the seat is not awaited.
            IllegalMove: the rules forbid this move now.
        """

    def score(self, state: State) -> Score:
        """Return the standings, from public information only."""

    def view(self, state: State, viewer: Viewer) -> View:
        """Return what the viewer may know of the state."""

    def view_event(self, event: Event, viewer: Viewer) -> Event:
        """Return what the viewer may know of an event when it happens."""

    def prompt(self, state: State, seat: int) -> str:
        """Return a sentence about the decision that the seat must make; empty when it is not awaited."""

    def label(self, move: Move) -> str:
        """Return a short name of a move, for people."""

    def describe(self, event: Event) -> str:
        """Return one English sentence about an event. It reveals nothing that `view_event` removed."""

    def parse_move(self, text: str) -> Move:
        """Return the move that `str(move)` wrote.

        Raises:
            InvalidNotation: the text is not a move of this game.
        """

    def format_state(self, state: State) -> str:
        """Return the notation of a state. It contains hidden information and the seed."""

    def parse_state(self, text: str) -> State:
        """Return the state that `format_state` wrote.

        Raises:
            InvalidNotation: the text is not a position of this game.
        """

    def format_view(self, view: View) -> str:
        """Return the notation of a view, for people. It contains nothing that the view does not."""


AnyGame = Game[Any, Any, Any, Any, Any]
"""A game whose kind is known only at run time."""


def seats_for(game: AnyGame, options: Any) -> tuple[int, ...]:
    """Return the numbers of seats that can play the game with these options."""
    return tuple(seat_count for seat_count in game.about.seats if _can_be_set_up(game, options, seat_count))


def _can_be_set_up(game: AnyGame, options: Any, seat_count: int) -> bool:
    try:
        game.new_game(options, seat_count, Rng(bytes(SEED_BYTES)))
    except InvalidOptions:
        return False
    return True
