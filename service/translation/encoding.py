"""Encoded messages put together without decoding them.

In protobuf's wire format a message is the concatenation of its fields in any order, and a submessage is a field that
holds its encoded bytes. What is the same again and again (a legal move, a part of a view) is therefore encoded once
and copied from then on, which is what makes long move lists cheap.
"""

from typing import Final

from google.protobuf.message import Message

_LENGTH_DELIMITED: Final = 2


def encoded(message: Message | bytes) -> bytes:
    """Encodes a message, unless it is encoded already."""
    return message if isinstance(message, bytes) else message.SerializeToString()


def field(number: int, encoded: bytes) -> bytes:
    """Encodes a submessage as a field of its parent.

    Args:
        number: the field's number, 1 to 15.
        encoded: the submessage, encoded.
    """
    head = bytearray((number << 3 | _LENGTH_DELIMITED,))
    length = len(encoded)
    while length > 0x7F:
        head.append(length & 0x7F | 0x80)
        length >>= 7
    head.append(length)
    return bytes(head) + encoded
