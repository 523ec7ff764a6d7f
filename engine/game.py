"""What a game is: the protocol that every game fulfils and everything else is written against.

Vocabulary. A *seat* is a place at the table, numbered from 0 clockwise. A *state* is everything there is to know
about a game, hidden things included; a *view* is what one *viewer* (a seat, or `SPECTATOR`) may know of it. A *move*
is one decision of one seat. An *event* is something that happened; like a state it may hold hidden things until
`view_event` has taken out what the viewer may not know.
"""

from typing import Any, Final, Generic, Literal, Protocol, TypeVar

import msgspec

from engine.errors import InvalidOptions
from engine.rng import SEED_BYTES, Rng

SPECTATOR: Final = None
"""The viewer who holds no seat and sees only what is public."""

Viewer = int | None
"""A seat, or `SPECTATOR`."""


Options = TypeVar("Options")


class ScoreLine(msgspec.Struct, frozen=True):
    """One line of a score: `points` for what `code` (for programs) and `label` (for people) name.

    `round` is the round that gave them, from 1; 0 where rounds do not matter.
    """

    code: str
    label: str
    points: int
    round: int = 0


class SeatScore(msgspec.Struct, frozen=True):
    """A player's points: `total` is the sum of `lines`; `rank` counts from 1 and is shared by equals.

    `tie_breakers` decide between equal totals, most important first, greater is better.
    """

    seat: int
    total: int
    rank: int
    lines: tuple[ScoreLine, ...] = ()
    tie_breakers: tuple[int, ...] = ()


class Score(msgspec.Struct, frozen=True):
    """The standings by public facts. `winners` is empty until `final`; `note` is one sentence."""

    final: bool
    seats: tuple[SeatScore, ...]
    winners: tuple[int, ...]
    note: str


class OptionSpec(msgspec.Struct, frozen=True):
    """An option as a form would show it; `default` is what leaving it out means, None a random draw."""

    field: str
    title: str
    description: str
    type: Literal["boolean", "integer", "choice", "integers"]
    minimum: int | None = None
    maximum: int | None = None
    choices: tuple[str, ...] = ()
    default: bool | int | str | tuple[int, ...] | None = None


class Preset(msgspec.Struct, Generic[Options], frozen=True):
    """Options that deserve a button, and what to write on it."""

    title: str
    options: Options


class About(msgspec.Struct, frozen=True):
    """What a game tells of itself.

    Attributes:
        kind: its name in programs: lower case, words joined by `_`.
        title: its name for people.
        description: a sentence or two.
        seats: the numbers of seats that can play it.
        options: every option.
        rules_version: raised whenever the same seed and moves would give another game.
        schema: raised whenever the encoded state changes its form.
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
View = TypeVar("View", covariant=True)


class Game(Protocol[Options, State, Move, Event, View]):
    """The rules of one game. All values are immutable msgspec structs; all functions are pure."""

    @property
    def about(self) -> About:
        """What the game tells of itself."""

    @property
    def presets(self) -> tuple[Preset[Options], ...]:
        """Options that deserve a button, the default first. Each is for one range of numbers of seats."""

    @property
    def state_type(self) -> type[State]:
        """The type of a state, by which a snapshot is decoded."""

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
        """Sets a game up and deals it.

        Raises:
            InvalidOptions: the options or the number of seats do not make a game.
        """

    def to_act(self, state: State) -> tuple[int, ...]:
        """Names the awaited seats in ascending order; none when the game is over.

        While a seat is awaited, no other seat's move changes its legal moves.
        """

    def legal_moves(self, state: State, seat: int) -> tuple[Move, ...]:
        """Lists every legal move of the seat once; none when it is not awaited.

        Their order tells nothing that the seat's view does not.
        """

    def apply(self, state: State, seat: int, move: Move) -> tuple[State, tuple[Event, ...]]:
        """Makes a move and everything that the rules force to follow. Leaves its arguments as they are.

        Raises:
            GameOver: the game is over.
            NotYourTurn: the seat is not awaited.
            IllegalMove: the rules forbid this move now.
        """

    def score(self, state: State) -> Score:
        """Tells the standings by public facts."""

    def view(self, state: State, viewer: Viewer) -> View:
        """Tells what the viewer may know of the state."""

    def view_event(self, event: Event, viewer: Viewer) -> Event:
        """Tells what the viewer may know of an event, at the time when it happened."""

    def prompt(self, state: State, seat: int) -> str:
        """Says in a sentence what the seat is asked; empty when it is not awaited."""

    def label(self, move: Move) -> str:
        """Names a move for people, in a few words."""

    def describe(self, event: Event) -> str:
        """Tells an event in one English sentence, saying nothing of what `view_event` took out of it."""


AnyGame = Game[Any, Any, Any, Any, Any]
"""A game of a kind that is known only at run time."""


def seats_for(game: AnyGame, options: Any) -> tuple[int, ...]:
    """Lists the numbers of seats that can play with these options, out of those that can play the game."""
    return tuple(seat_count for seat_count in game.about.seats if _makes_a_game(game, options, seat_count))


def _makes_a_game(game: AnyGame, options: Any, seat_count: int) -> bool:
    try:
        game.new_game(options, seat_count, Rng(bytes(SEED_BYTES)))
    except InvalidOptions:
        return False
    return True
