"""Putting a kind's own message into the `oneof game` of what all games share, by descriptor: no game is known here."""

from typing import TypeVar

from google.protobuf.message import Message

from sodafountain.v1.game_pb2 import LegalMove, Move, Options

Envelope = TypeVar("Envelope", Options, Move)


def as_options(options: Message) -> Options:
    """Makes `Options` of an `Options` or of a kind's options message.

    Raises:
        TypeError: it is neither.
    """
    return wrapped(options, Options)


def as_move(move: Message) -> Move:
    """Makes a `Move` of a `LegalMove`, a `Move` or a kind's move message.

    Raises:
        TypeError: it is none of them.
    """
    return move.move if isinstance(move, LegalMove) else wrapped(move, Move)


def wrapped(message: Message, envelope: type[Envelope]) -> Envelope:
    """Puts a message into the field of the envelope's `oneof game` that takes it; an envelope stays as it is."""
    if isinstance(message, envelope):
        return message
    whole = envelope()
    kinds: list[str] = []
    for field in envelope.DESCRIPTOR.oneofs_by_name["game"].fields:
        own: Message = getattr(whole, field.name)
        if isinstance(message, type(own)):
            own.CopyFrom(message)
            return whole
        kinds.append(type(own).__name__)
    known = ", ".join(kinds)
    raise TypeError(f"{type(message).__name__} is no {envelope.__name__}: give one, or one of {known}")
