"""The translation of each kind of game, wrapped in the messages that all games share."""

from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from typing import Any, Final, cast

from engine.game import OptionSpec, Preset, seats_for
from service.contract import game_pb2 as pb
from service.games.errors import InvalidField
from service.games.game import RequestedMove
from service.games.kinds import Kind
from service.translation.encoding import encode, field, timestamp
from service.translation.translator import MalformedMove, Translator

_OPTION_TYPES: Final = {
    "boolean": pb.OPTION_TYPE_BOOLEAN,
    "integer": pb.OPTION_TYPE_INTEGER,
    "choice": pb.OPTION_TYPE_CHOICE,
    "integers": pb.OPTION_TYPE_INTEGERS,
}
_EVENT_DETAIL: Final = pb.Event.DETAIL_FIELD_NUMBER
_CACHED_LEGAL_MOVES: Final = 16_384
"""How many encoded legal moves are cached per kind. The same moves occur in many positions."""


class Translation:
    """The translation of one kind of game.

    Attributes:
        name: the kind's name, which is also its field in every `oneof game`.
        number: its GameKind.
    """

    def __init__(self, kind: Kind, translator: Translator) -> None:
        self.name = kind.name
        self.number = pb.GameKind.Value(f"GAME_KIND_{self.name.upper()}")
        self._game = kind.game
        self._translator = translator
        self.legal_move = lru_cache(maxsize=_CACHED_LEGAL_MOVES)(self._legal_move)

    def options_value(self, options: pb.Options) -> Any:
        """Return the engine's options."""
        return self._translator.options_value(getattr(options, self.name))

    def options_message(self, options: Any) -> pb.Options:
        """Return the message for options."""
        return pb.Options(**{self.name: self._translator.options_message(options)})

    def move_value(self, move: pb.Move) -> Any:
        """Return the engine's move.

        Raises:
            InvalidField: the message is not a move of this kind.
        """
        if move.WhichOneof("game") != self.name:
            raise InvalidField("move.game", f"must be {self.name}: that is the game being played")
        try:
            return self._translator.move_value(getattr(move, self.name))
        except MalformedMove as error:
            raise InvalidField(f"move.{self.name}.{error.field}", str(error)) from None

    def requested_move(self, move: pb.Move) -> RequestedMove:
        """Return the move of a request.

        Raises:
            InvalidField: the message is not a move of this kind.
        """
        return RequestedMove(self.name, self.move_value(move))

    def move_message(self, move: Any) -> pb.Move:
        """Return the message for a move."""
        return pb.Move(**{self.name: self._translator.move_message(move)})

    def view(self, view: Any) -> bytes:
        """Return the View for a view, encoded."""
        return field(self.number, encode(self._translator.view_message(view)))

    def event(self, version: int, committed_at: int, seat: int | None, event: Any) -> bytes:
        """Return the Event for an event, encoded. `committed_at` is in Unix milliseconds."""
        time, text = timestamp(committed_at), self._game.describe(event)
        message = pb.Event(version=version, commit_time=time, seat=seat, text=text)
        detail = field(self.number, encode(self._translator.event_message(event)))
        return message.SerializeToString() + field(_EVENT_DETAIL, detail)

    def info(self) -> pb.GameKindInfo:
        """Return the description of the kind."""
        about = self._game.about
        return pb.GameKindInfo(
            kind=self.number,
            title=about.title,
            description=about.description,
            min_seats=about.seats[0],
            max_seats=about.seats[-1],
            presets=[self.options_message(preset.options) for preset in self._game.presets],
            options=[_option_info(option) for option in about.options],
            preset_infos=[self._preset_info(preset) for preset in self._game.presets],
        )

    def _preset_info(self, preset: Preset[Any]) -> pb.PresetInfo:
        seats = seats_for(self._game, preset.options)
        return pb.PresetInfo(title=preset.title, min_seats=seats[0], max_seats=seats[-1])

    def _legal_move(self, number: int, move: Any) -> bytes:
        """Return a LegalMove, encoded as a field with that number of the message that lists it."""
        message = pb.LegalMove(move=self.move_message(move), label=self._game.label(move))
        return field(number, message.SerializeToString())


def _option_info(option: OptionSpec) -> pb.OptionInfo:
    return pb.OptionInfo(
        field=option.field,
        title=option.title,
        description=option.description,
        value_type=_OPTION_TYPES[option.type],
        minimum=option.minimum,
        maximum=option.maximum,
        choices=option.choices,
        default_value=_option_value(option),
    )


def _option_value(option: OptionSpec) -> pb.OptionValue | None:
    """Return the message for the default of an option; None without a default."""
    match option.default:
        case None:
            return None
        case bool(boolean):
            return pb.OptionValue(boolean=boolean)
        case int(integer):
            return pb.OptionValue(integer=integer)
        case str(choice):
            return pb.OptionValue(choice=choice)
        case items:
            return pb.OptionValue(integers=pb.OptionValue.Integers(items=items))


def all_translations(kinds: Mapping[str, Kind]) -> Mapping[str, Translation]:
    """Return the translation of each kind: its module in this package has the kind's name."""
    return {name: Translation(kind, _translator(name)) for name, kind in kinds.items()}


def _translator(kind: str) -> Translator:
    return cast("Translator", import_module(f"service.translation.{kind}").TRANSLATOR)
