"""States, moves, events and options as bytes.

The format is MessagePack, by msgspec. A snapshot is `[schema, state]`. Its size does not grow with the number of moves.
Moves, events and options do not name their schema; their keeper stores its number beside them.

A release that changes the type of any of these raises the game's schema number, and declares the previous schema
(`engine.catalogue.PREVIOUS`), after those that are declared already. It reads and writes all of them. All other code
knows the newest types only.
"""

from collections.abc import Callable, Sequence
from typing import Any, Final

import msgspec

from engine.game import AnyGame


class UnknownSchema(ValueError):
    """This release cannot read or write this schema."""


_encoder: Final = msgspec.msgpack.Encoder()
encode: Final = _encoder.encode
"""Encode a value, or a tuple of values."""


class Form(msgspec.Struct, frozen=True):
    """A previous form of a value.

    Attributes:
        type: its type.
        upgrade: returns the value in the form of the next schema.
        downgrade: returns a value of the next schema in this form.
    """

    type: Any
    upgrade: Callable[[Any], Any]
    downgrade: Callable[[Any], Any]


class PreviousSchema(msgspec.Struct, frozen=True):
    """An earlier schema: the form of what the next schema changed; None for what it did not.

    Attributes:
        number: its number.
        state: the form of a state.
        options: the form of options.
        move: the form of a move.
        events: the form of the events of one version, a tuple.
    """

    number: int
    state: Form | None = None
    options: Form | None = None
    move: Form | None = None
    events: Form | None = None


class _Coder:
    """Encodes and decodes the values of one type in one schema.

    Args:
        newest: the newest type.
        forms: the forms from this schema on, oldest first.
    """

    def __init__(self, newest: Any, forms: Sequence[Form]) -> None:
        decode = msgspec.msgpack.Decoder(forms[0].type if forms else newest).decode
        self.encode: Callable[[Any], bytes] = encode
        self.decode: Callable[[bytes | msgspec.Raw], Any] = decode
        for form in forms:
            self.encode = _after(form.downgrade, self.encode)
            self.decode = _after(self.decode, form.upgrade)


def _after(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: second(first(value))


class _Schema:
    """Encodes and decodes the values of a game in one schema: the first of `previous`, or else the newest."""

    def __init__(self, game: AnyGame, previous: Sequence[PreviousSchema]) -> None:
        def coder(newest: Any, part: str) -> _Coder:
            return _Coder(newest, [form for schema in previous if (form := getattr(schema, part)) is not None])

        events: Any = tuple[game.event_type, ...]  # type: ignore[name-defined]  # a type form created at run time
        self.state = coder(game.state_type, "state")
        self.options = coder(game.options_type, "options")
        self.move = coder(game.move_type, "move")
        self.events = coder(events, "events")


class Codec:
    """Encodes and decodes the values of one game, in its newest schema and in earlier ones.

    Args:
        game: the game.
        previous: its earlier schemas, ascending, up to the one before the newest.

    Every method raises `UnknownSchema` for another schema, and those that decode raise `msgspec.DecodeError` for data
    that is no such value of the game.
    """

    def __init__(self, game: AnyGame, previous: Sequence[PreviousSchema] = ()) -> None:
        newest = game.about.schema
        numbers = [schema.number for schema in previous]
        if numbers != list(range(newest - len(numbers), newest)):
            raise ValueError(f"the schemas before {newest} are those up to {newest - 1}, ascending, not {numbers}")
        self._schemas = {number: _Schema(game, previous[index:]) for index, number in enumerate([*numbers, newest])}
        self._snapshot = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])

    def require(self, schema: int) -> None:
        """Do nothing if this codec knows the schema."""
        self._of(schema)

    def encode_snapshot(self, state: Any, schema: int) -> bytes:
        """Encode a state with the number of the schema."""
        return encode((schema, msgspec.Raw(self._of(schema).state.encode(state))))

    def decode_snapshot(self, snapshot: bytes) -> Any:
        """Decode a state, in the schema whose number the snapshot contains."""
        schema, state = self._snapshot.decode(snapshot)
        return self._of(schema).state.decode(state)

    def encode_options(self, options: Any, schema: int) -> bytes:
        """Encode options."""
        return self._of(schema).options.encode(options)

    def decode_options(self, data: bytes, schema: int) -> Any:
        """Decode options."""
        return self._of(schema).options.decode(data)

    def encode_move(self, move: Any, schema: int) -> bytes:
        """Encode a move."""
        return self._of(schema).move.encode(move)

    def decode_move(self, data: bytes, schema: int) -> Any:
        """Decode a move."""
        return self._of(schema).move.decode(data)

    def encode_events(self, events: tuple[Any, ...], schema: int) -> bytes:
        """Encode the events of one version."""
        return self._of(schema).events.encode(events)

    def decode_events(self, data: bytes, schema: int) -> Any:
        """Decode the events of one version."""
        return self._of(schema).events.decode(data)

    def _of(self, schema: int) -> _Schema:
        found = self._schemas.get(schema)
        if found is None:
            known = ", ".join(map(str, self._schemas))
            raise UnknownSchema(f"schema {schema} is not one of this release, which knows {known}")
        return found
