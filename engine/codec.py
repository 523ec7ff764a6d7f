"""States, moves, events and options as bytes.

The format is MessagePack, by msgspec. A snapshot is `[schema, state]`. Its size does not grow with the number of moves.
Moves, events and options do not name their schema; their keeper stores its number beside them.

A release that changes the type of any of these raises the game's schema number, and declares the previous schema
(`engine.catalogue.PREVIOUS`). It reads both and writes both. All other code knows the newest types only.
"""

from collections.abc import Callable
from typing import Any, Final

import msgspec

from engine.game import AnyGame


class UnknownSchema(ValueError):
    """This release cannot read or write this schema."""


_encoder: Final = msgspec.msgpack.Encoder()
encode: Final = _encoder.encode
"""Encode a value, or a tuple of values."""


class Form(msgspec.Struct, frozen=True):
    """The previous form of a value.

    Attributes:
        type: its type.
        upgrade: returns the value in the newest form.
        downgrade: returns a value of the newest form in this form.
    """

    type: Any
    upgrade: Callable[[Any], Any]
    downgrade: Callable[[Any], Any]


class PreviousSchema(msgspec.Struct, frozen=True):
    """The schema before the newest one: the previous form of what changed; None for what did not.

    Attributes:
        number: its number, one below the newest.
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
    """Encodes and decodes the values of one type in one schema."""

    def __init__(self, newest: Any, previous: Form | None) -> None:
        decode = msgspec.msgpack.Decoder(newest if previous is None else previous.type).decode
        self.encode: Callable[[Any], bytes] = encode
        self.decode: Callable[[bytes | msgspec.Raw], Any] = decode
        if previous is not None:
            upgrade, downgrade = previous.upgrade, previous.downgrade
            self.encode = lambda value: encode(downgrade(value))
            self.decode = lambda data: upgrade(decode(data))


class _Schema:
    """Encodes and decodes the values of a game in one schema."""

    def __init__(self, game: AnyGame, previous: PreviousSchema | None = None) -> None:
        old = previous or PreviousSchema(game.about.schema)
        events: Any = tuple[game.event_type, ...]  # type: ignore[name-defined]  # a type form created at run time
        self.state = _Coder(game.state_type, old.state)
        self.options = _Coder(game.options_type, old.options)
        self.move = _Coder(game.move_type, old.move)
        self.events = _Coder(events, old.events)


class Codec:
    """Encodes and decodes the values of one game, in its newest schema and in the previous one if there is one.

    Every method raises `UnknownSchema` for another schema, and those that decode raise `msgspec.DecodeError` for data
    that is no such value of the game.
    """

    def __init__(self, game: AnyGame, previous: PreviousSchema | None = None) -> None:
        newest = game.about.schema
        self._schemas = {newest: _Schema(game)}
        if previous is not None:
            if previous.number != newest - 1:
                raise ValueError(f"The schema before {newest} is {newest - 1}, not {previous.number}.")
            self._schemas[previous.number] = _Schema(game, previous)
        self._snapshot = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])

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
            known = " and ".join(map(str, sorted(self._schemas)))
            raise UnknownSchema(f"schema {schema} is not one of this release, which knows {known}")
        return found
