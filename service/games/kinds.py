"""Everything the service needs of each kind of game, bound together once at start."""

import json
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from engine.catalogue import GAMES
from engine.codec import Codec
from engine.game import AnyGame, OptionSpec, Preset, seats_for
from service.translation import encoding as wire
from service.translation.translators import MalformedMove, Translator, translator
from service.transport.errors import malformed
from sodafountain.v1 import game_pb2 as pb

_OPTION_TYPES: Final = {
    "boolean": pb.OPTION_TYPE_BOOLEAN,
    "integer": pb.OPTION_TYPE_INTEGER,
    "choice": pb.OPTION_TYPE_CHOICE,
    "integers": pb.OPTION_TYPE_INTEGERS,
}
_EVENT_DETAIL: Final = pb.Event.DETAIL_FIELD_NUMBER
_INTERNED: Final = 16_384
"""How many legal moves of a kind are kept ready as messages; games use the same few again and again."""


class Kind:
    """A kind of game: its rules, its codec and its translator, and the shared messages filled with its own.

    Attributes:
        name: the kind's name, which is also its field in every `oneof game`.
        game: the rules.
        codec: values as bytes.
        number: the GameKind.
    """

    def __init__(self, game: AnyGame, translator: Translator) -> None:
        self.name = game.about.kind
        self.game = game
        self.codec = Codec(game)
        self.number = pb.GameKind.Value(f"GAME_KIND_{self.name.upper()}")
        self._translator = translator
        self.legal_move = lru_cache(maxsize=_INTERNED)(self._legal_move)

    def options_value(self, options: pb.Options) -> Any:
        """Reads options."""
        return self._translator.options_value(getattr(options, self.name))

    def options(self, options: Any) -> pb.Options:
        """Writes options."""
        return pb.Options(**{self.name: self._translator.options_message(options)})

    def move_value(self, move: pb.Move) -> Any:
        """Reads a move.

        Raises:
            Refusal: MALFORMED.
        """
        if move.WhichOneof("game") != self.name:
            raise malformed("move.game", f"must be {self.name}: that is the game being played")
        try:
            return self._translator.move_value(getattr(move, self.name))
        except MalformedMove as error:
            raise malformed(f"move.{self.name}.{error.field}", str(error)) from None

    def move(self, move: Any) -> pb.Move:
        """Writes a move."""
        return pb.Move(**{self.name: self._translator.move_message(move)})

    def view(self, view: Any) -> bytes:
        """Writes a view, encoded."""
        return wire.field(self.number, wire.encoded(self._translator.view_message(view)))

    def event(self, version: int, seat: int | None, event: Any) -> bytes:
        """Writes an event, encoded."""
        told = pb.Event(version=version, seat=seat, text=self.game.describe(event))
        detail = wire.field(self.number, wire.encoded(self._translator.event_message(event)))
        return told.SerializeToString() + wire.field(_EVENT_DETAIL, detail)

    def info(self) -> pb.GameKindInfo:
        """Tells what the kind offers."""
        about = self.game.about
        return pb.GameKindInfo(
            kind=self.number,
            title=about.title,
            description=about.description,
            min_seats=about.seats[0],
            max_seats=about.seats[-1],
            presets=[self.options(preset.options) for preset in self.game.presets],
            options=[_option_info(option) for option in about.options],
            preset_infos=[self._preset_info(preset) for preset in self.game.presets],
        )

    def _preset_info(self, preset: Preset[Any]) -> pb.PresetInfo:
        seats = seats_for(self.game, preset.options)
        return pb.PresetInfo(title=preset.title, min_seats=seats[0], max_seats=seats[-1])

    def _legal_move(self, number: int, move: Any) -> bytes:
        """Writes a legal move, encoded as a field with that number of the message that lists it."""
        return wire.field(number, pb.LegalMove(move=self.move(move), label=self.game.label(move)).SerializeToString())


def _option_info(option: OptionSpec) -> pb.OptionInfo:
    return pb.OptionInfo(
        field=option.field,
        title=option.title,
        description=option.description,
        type=_OPTION_TYPES[option.type],
        minimum=option.minimum,
        maximum=option.maximum,
        choices=option.choices,
        default_json="" if option.default is None else json.dumps(msgspec.to_builtins(option.default)),
    )


def all_kinds() -> Mapping[str, Kind]:
    """Binds every game of the catalogue."""
    return {name: Kind(game, translator(name)) for name, game in GAMES.items()}
