"""Protobuf encoding: times, and encoded messages assembled from encoded parts.

In protobuf's wire format a message is the concatenation of its fields in any order, and a submessage is a field whose
value is the encoded submessage. Parts that recur (a legal move, part of a view) are therefore encoded once and copied,
which makes long lists of legal moves cheap.
"""

from functools import cache
from typing import Final

from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp

MAX_FIELD_NUMBER: Final = 2**29 - 1
"""The largest field number that protobuf allows."""
_LENGTH_DELIMITED: Final = 2


def encode(message: Message | bytes) -> bytes:
    """Encode a message, unless it is encoded already."""
    return message if isinstance(message, bytes) else message.SerializeToString()


def timestamp(ms: int) -> Timestamp:
    """Return the message for Unix milliseconds."""
    return Timestamp(seconds=ms // 1000, nanos=ms % 1000 * 1_000_000)


def field(number: int, encoded: bytes) -> bytes:
    """Encode a submessage as a field of its parent.

    Args:
        number: the number of the field, 1 to `MAX_FIELD_NUMBER`.
        encoded: the encoded submessage.

    Raises:
        ValueError: the number is out of range.
    """
    length = len(encoded)
    if length < 0x80:
        return _tag(number) + _BYTES[length] + encoded
    if length < 0x4000:
        return _tag(number) + bytes((length & 0x7F | 0x80, length >> 7)) + encoded
    return _tag(number) + _varint(length) + encoded


@cache
def _tag(number: int) -> bytes:
    if not 1 <= number <= MAX_FIELD_NUMBER:
        raise ValueError(f"the field number must be from 1 to {MAX_FIELD_NUMBER}, but is {number}")
    return _varint(number << 3 | _LENGTH_DELIMITED)


def _varint(number: int) -> bytes:
    parts = bytearray()
    while number > 0x7F:
        parts.append(number & 0x7F | 0x80)
        number >>= 7
    parts.append(number)
    return bytes(parts)


_BYTES: Final = tuple(bytes((number,)) for number in range(0x80))
