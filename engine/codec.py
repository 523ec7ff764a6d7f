"""States, moves, events and options as bytes.

MessagePack by msgspec. A snapshot is `[schema, state]`: its size does not grow with the number of moves, and a release
that changes a state's form raises the game's schema number and goes on reading the schema before.
"""

from typing import Any

import msgspec

from engine.game import AnyGame


class UnknownSchema(ValueError):
    """A snapshot was written by a release whose form of state this one does not know."""


_encoder = msgspec.msgpack.Encoder()
encode = _encoder.encode
"""Encodes a move, an event, options, or a tuple of these."""


class Codec:
    """Encodes and decodes one game's values."""

    def __init__(self, game: AnyGame) -> None:
        self._schema = game.about.schema
        self._snapshot = msgspec.msgpack.Decoder(tuple[int, msgspec.Raw])
        self._state = msgspec.msgpack.Decoder(game.state_type)
        self._options = msgspec.msgpack.Decoder(game.options_type)
        self._move = msgspec.msgpack.Decoder(game.move_type)
        self._events = msgspec.msgpack.Decoder(tuple[game.event_type, ...])  # type: ignore[name-defined]  # a type form made at run time

    def encode_snapshot(self, state: Any) -> bytes:
        """Encodes a state with its schema number."""
        return encode((self._schema, state))

    def decode_snapshot(self, snapshot: bytes) -> Any:
        """Decodes a state.

        Raises:
            UnknownSchema: it has a schema that this release does not read.
            msgspec.DecodeError: it is not a snapshot of this game.
        """
        schema, state = self._snapshot.decode(snapshot)
        if schema != self._schema:
            raise UnknownSchema(f"snapshot schema {schema}; this release reads {self._schema}")
        return self._state.decode(state)

    def decode_options(self, data: bytes) -> Any:
        """Decodes options."""
        return self._options.decode(data)

    def decode_move(self, data: bytes) -> Any:
        """Decodes a move."""
        return self._move.decode(data)

    def decode_events(self, data: bytes) -> Any:
        """Decodes the events of one version."""
        return self._events.decode(data)
