"""A small game in which up to fourteen seats act simultaneously and in secret.

In each round every seat picks a number, in any order. It is public that a seat has picked; the number is visible to
only that seat until all have picked. The game uses some messages of Soda Jerk:

    value                 message
    --------------------  ------------------------------------------------------------------------------------------
    move                  `flip.position`
    a seat's own pick     the view's `flips_in_a_row`; 0 before it has picked, and for other viewers
    who has picked        the view's `hands`, `size` 1
    the last reveal       the only item of the view's `finished_rounds`: `points` by seat
    event                 `flipped.card`: its `seat`, and the pick as its `position`, 0 while it is secret;
                          `round_ended.points` by seat
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from engine.errors import GameOver, IllegalMove, InvalidOptions, NotYourTurn
from engine.game import About, AnyGame, Game, PlayerScore, Preset, Score, ScoreLine, Viewer
from engine.rng import Rng
from service.games.kinds import Kind
from service.translation import MalformedMove, Translation
from sodafountain.v1 import soda_jerk_pb2 as pb

SEATS: Final = range(1, 15)
NUMBERS: Final = range(1, 10)
SECRET: Final = 0
"""Stands for a missing pick, or one that the viewer may not know."""


class Options(msgspec.Struct, frozen=True):
    """This game has no options."""


class State(msgspec.Struct, frozen=True):
    """The current round, the number of rounds, the picks of this round and of the last one, and the totals by seat."""

    round: int
    rounds: int
    picks: tuple[int, ...]
    revealed: tuple[int, ...]
    totals: tuple[int, ...]


class Pick(msgspec.Struct, frozen=True, tag="pick"):
    """Pick a number."""

    number: int


class Started(msgspec.Struct, frozen=True, tag="started"):
    """The game started."""


class Picked(msgspec.Struct, frozen=True, tag="picked"):
    """A seat picked a number."""

    seat: int
    number: int


class Revealed(msgspec.Struct, frozen=True, tag="revealed"):
    """All seats have picked, and the picks are public."""

    round: int
    numbers: tuple[int, ...]


class View(msgspec.Struct, frozen=True):
    """The view of a viewer: its own pick, who has picked, and the last reveal."""

    round: int
    own: int
    decided: tuple[bool, ...]
    revealed: tuple[int, ...]


Event = Started | Picked | Revealed


class _SimultaneousGame:
    """The rules, for a number of rounds."""

    presets: Final = (Preset("Double", Options()),)
    state_type: Final = State
    options_type: Final = Options
    move_type: Final[Any] = Pick
    event_type: Final[Any] = Event

    def __init__(self, rounds: int) -> None:
        self._rounds = rounds
        self.about: Final = About(
            kind="soda_jerk",
            title="Double",
            description="All seats pick a number simultaneously.",
            seats=SEATS,
            options=(),
            rules_version=1,
            schema=1,
        )

    def new_game(self, _options: Options, seat_count: int, _rng: Rng) -> tuple[State, tuple[Event, ...]]:
        if seat_count not in SEATS:
            raise InvalidOptions("seat_count", "is not a number of seats that can play")
        nothing = (SECRET,) * seat_count
        return State(1, self._rounds, nothing, nothing, nothing), (Started(),)

    def to_act(self, state: State) -> tuple[int, ...]:
        if state.round > state.rounds:
            return ()
        return tuple(seat for seat, pick in enumerate(state.picks) if pick == SECRET)

    def legal_moves(self, state: State, seat: int) -> tuple[Pick, ...]:
        return tuple(map(Pick, NUMBERS)) if seat in self.to_act(state) else ()

    def apply(self, state: State, seat: int, move: Pick) -> tuple[State, tuple[Event, ...]]:
        if state.round > state.rounds:
            raise GameOver("The game is over.")
        if state.picks[seat] != SECRET:
            raise NotYourTurn("You have picked already.")
        if move.number not in NUMBERS:
            raise IllegalMove("That is not one of the numbers.")
        picks = (*state.picks[:seat], move.number, *state.picks[seat + 1 :])
        picked = Picked(seat, move.number)
        if SECRET in picks:
            return msgspec.structs.replace(state, picks=picks), (picked,)
        totals = tuple(total + pick for total, pick in zip(state.totals, picks, strict=True))
        nothing = (SECRET,) * len(picks)
        return State(state.round + 1, state.rounds, nothing, picks, totals), (picked, Revealed(state.round, picks))

    def score(self, state: State) -> Score:
        finished = not self.to_act(state)
        scores = tuple(
            PlayerScore(
                seat, total, 1 + sum(other > total for other in state.totals), (ScoreLine("picks", "Picks", total),)
            )
            for seat, total in enumerate(state.totals)
        )
        winners = tuple(score.seat for score in scores if finished and score.rank == 1)
        return Score(finished, scores, winners, "Picks are points.")

    def view(self, state: State, viewer: Viewer) -> View:
        own = SECRET if viewer is None else state.picks[viewer]
        return View(state.round, own, tuple(pick != SECRET for pick in state.picks), state.revealed)

    def view_event(self, event: Event, viewer: Viewer) -> Event:
        return Picked(event.seat, SECRET) if isinstance(event, Picked) and event.seat != viewer else event

    def prompt(self, state: State, seat: int) -> str:
        return "Pick a number." if seat in self.to_act(state) else ""

    def label(self, move: Pick) -> str:
        return f"Pick {move.number}"

    def describe(self, event: Event) -> str:
        match event:
            case Started():
                return "The game started."
            case Picked(seat, number):
                return f"Seat {seat} picked{f' {number}' if number else ''}."
            case Revealed(number, numbers):
                return f"Round {number} was revealed: {', '.join(map(str, numbers))}."

    def parse_move(self, text: str) -> Pick:
        return Pick(int(text))

    def format_state(self, state: State) -> str:
        return msgspec.json.encode(state).decode()

    def parse_state(self, text: str) -> State:
        return msgspec.json.decode(text, type=State)

    def format_view(self, view: View) -> str:
        return msgspec.json.encode(view).decode()


class _Translator:
    """Translates the values to and from messages of Soda Jerk."""

    def options_value(self, _: pb.SodaJerkOptions) -> Options:
        return Options()

    def options_message(self, _: Options) -> pb.SodaJerkOptions:
        return pb.SodaJerkOptions()

    def move_value(self, message: pb.SodaJerkMove) -> Pick:
        if not message.HasField("flip"):
            raise MalformedMove("flip", "is required")
        return Pick(message.flip.position)

    def move_message(self, move: Pick) -> pb.SodaJerkMove:
        return pb.SodaJerkMove(flip=pb.SodaJerkMove.Flip(tap_flavor=pb.FLAVOR_KIWI, position=move.number))

    def view_message(self, view: View) -> pb.SodaJerkView:
        hands = [pb.SodaJerkView.Hand(seat=seat, size=int(decided)) for seat, decided in enumerate(view.decided)]
        result = pb.SodaJerkView.RoundResult(round=view.round - 1, points=view.revealed)
        return pb.SodaJerkView(round=view.round, flips_in_a_row=view.own, hands=hands, finished_rounds=[result])

    def event_message(self, event: Event) -> pb.SodaJerkEvent:
        match event:
            case Started():
                return pb.SodaJerkEvent(round_started=pb.SodaJerkEvent.RoundStarted(round=1))
            case Picked(seat, number):
                card = pb.SodaJerkView.PlacedCard(seat=seat, position=number)
                return pb.SodaJerkEvent(flipped=pb.SodaJerkEvent.CardAtTap(card=card))
            case Revealed(number, numbers):
                return pb.SodaJerkEvent(round_ended=pb.SodaJerkView.RoundResult(round=number, points=numbers))


def simultaneous_game(rounds: int, wrapped: Callable[[AnyGame], AnyGame] = lambda game: game) -> dict[str, Any]:
    """Return the arguments by which `bind` offers the game in place of Soda Jerk. `wrapped` may change it."""
    game: Game[Options, State, Pick, Event, View] = _SimultaneousGame(rounds)
    kind = Kind(wrapped(game))
    return {"kinds": {kind.name: kind}, "translations": {kind.name: Translation(kind, _Translator())}}
