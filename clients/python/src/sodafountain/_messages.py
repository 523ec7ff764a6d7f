"""Wrap a game kind's own messages into `Options` and `Move`, by descriptor and without knowing any kind."""

from typing import TypeVar

from google.protobuf.message import Message

from sodafountain.v1.game_pb2 import LegalMove, Move, Options

Envelope = TypeVar("Envelope", Options, Move)


def as_options(options: Message) -> Options:
    """Return `options`, an `Options` or a kind's options message, as `Options`.

    Raises:
        TypeError: `options` is neither.
    """
    return wrap(options, Options)


def as_move(move: Message) -> Move:
    """Return `move`, a `LegalMove`, a `Move` or a kind's move message, as `Move`.

    Raises:
        TypeError: `move` is another message.
    """
    return move.move if isinstance(move, LegalMove) else wrap(move, Move)


def wrap(message: Message, envelope: type[Envelope]) -> Envelope:
    """Copy a message into the field of its type in the envelope's `oneof game`. Return an envelope unchanged."""
    if isinstance(message, envelope):
        return message
    wrapped = envelope()
    accepted: list[str] = []
    for field in envelope.DESCRIPTOR.oneofs_by_name["game"].fields:
        value: Message = getattr(wrapped, field.name)
        if isinstance(message, type(value)):
            value.CopyFrom(message)
            return wrapped
        accepted.append(type(value).__name__)
    name = envelope.__name__
    raise TypeError(f"{name.lower()} must be {name} or one of {', '.join(accepted)}, not {type(message).__name__}")
