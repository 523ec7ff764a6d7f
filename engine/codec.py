"""States, moves, events and options as bytes.

The format is MessagePack, by msgspec. A snapshot is `[schema, state]`. Its size does not grow with the number of moves.
A release that changes the structure of a state raises the game's schema number and still reads the previous schema.
"""

from typing import Any

import msgspec

from engine.game import AnyGame


class UnknownSchema(ValueError):
    """A snapshot has a schema that this release cannot read."""


_encoder = msgspec.msgpack.Encoder()
encode = _encoder.encode
"""Encode a move, an event, options, or a tuple of these."""


class Codec:
    """Encodes and decodes the values of one game."""

    def __init__(self, game: AnyGame) -> None:
        self._schema = game.about.schema
        self._snapshot = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])
        self._state = msgspec.msgpack.Decoder(game.state_type)
        self._options = msgspec.msgpack.Decoder(game.options_type)
        self._move = msgspec.msgpack.Decoder(game.move_type)
        self._events = msgspec.msgpack.Decoder(tuple[game.event_type, ...])  # type: ignore[name-defined]  # a type form created at run time

    def encode_snapshot(self, state: Any, schema: int) -> bytes:
        """Encode a state with its schema number."""
        return encode((schema, state))

    def decode_snapshot(self, snapshot: bytes) -> Any:
        """Decode a state.

        Raises:
            UnknownSchema: the snapshot has a schema that this release cannot read.
            msgspec.DecodeError: the data is not a snapshot of this game.
        """
        schema, state = self._snapshot.decode(snapshot)
        if schema != self._schema:
            raise UnknownSchema(f"snapshot schema {schema}; this release reads {self._schema}")
        return self._state.decode(state)

    def encode_options(self, options: Any, schema: int) -> bytes:  # noqa: ARG002
        """Encode options."""
        return encode(options)

    def decode_options(self, data: bytes, schema: int) -> Any:  # noqa: ARG002
        """Decode options."""
        return self._options.decode(data)

    def encode_move(self, move: Any, schema: int) -> bytes:  # noqa: ARG002
        """Encode a move."""
        return encode(move)

    def decode_move(self, data: bytes, schema: int) -> Any:  # noqa: ARG002
        """Decode a move."""
        return self._move.decode(data)

    def encode_events(self, events: Any, schema: int) -> bytes:  # noqa: ARG002
        """Encode the events of one version."""
        return encode(events)

    def decode_events(self, data: bytes, schema: int) -> Any:  # noqa: ARG002
        """Decode the events of one version."""
        return self._events.decode(data)
