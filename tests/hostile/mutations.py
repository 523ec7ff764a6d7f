"""Requests that nobody should send: valid ones changed by their structure or by their bytes, and no requests at all."""

import random
import string
from collections.abc import Callable
from typing import Any, Final, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_INTEGERS: Final = (0, 1, 2, 3, 5, 13, 14, 52, 53, 60, 127, 128, 255, 1000, 2**31 - 1)
_TEXTS: Final = (
    "",
    "a",
    "a" * 26,
    "\0",
    "\x7f\n\r",
    "🥤" * 9,
    "../" * 9,
    "%00%s{}",
    "v1",
    "v999999999",
    "7-0",
    "x" * 2000,
)
_LONGEST_LIST: Final = 40


def mutated(valid: Message, chance: random.Random) -> bytes:
    """Makes something out of a valid request: now and then the request itself."""
    kind = chance.random()
    if kind < 0.1:
        return valid.SerializeToString()
    if kind < 0.65:
        message = type(valid).FromString(valid.SerializeToString())
        for _ in range(chance.randint(1, 4)):
            _change(message, chance)
        return message.SerializeToString()
    if kind < 0.95:
        data = bytearray(valid.SerializeToString())
        for _ in range(chance.randint(1, 4)):
            chance.choice(_BYTES)(data, chance)
        return bytes(data)
    return chance.randbytes(chance.choice((0, 1, 7, 64, 500, 5000)))


def _change(message: Message, chance: random.Random) -> None:
    """Changes one field somewhere in a message."""
    field = cast("FieldDescriptor", chance.choice(message.DESCRIPTOR.fields))  # its stub knows no more than object
    if field.is_repeated:
        _change_list(getattr(message, field.name), field, chance)
    elif chance.random() < 0.15:
        message.ClearField(field.name)
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        if inner.DESCRIPTOR.fields and chance.random() < 0.9:
            _change(inner, chance)
    else:
        setattr(message, field.name, _value(field, chance))


def _change_list(items: Any, field: FieldDescriptor, chance: random.Random) -> None:
    if chance.random() < 0.3:
        del items[:]
        return
    for _ in range(chance.randint(1, _LONGEST_LIST)):
        if field.message_type is None:
            items.append(_value(field, chance))
        else:
            _change(items.add(), chance)


def _value(field: FieldDescriptor, chance: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return chance.randbytes(chance.choice((0, 1, 31, 32, 33, 1000)))
        case FieldDescriptor.CPPTYPE_STRING:
            words = "".join(chance.choices(string.ascii_lowercase + string.digits, k=26))
            return chance.choice((*_TEXTS, words))
        case FieldDescriptor.CPPTYPE_BOOL:
            return chance.random() < 0.5
        case _:  # whole numbers and enumerations
            return chance.choice(_INTEGERS) * chance.choice((1, 1, -1))


# --- Bytes ------------------------------------------------------------------------------------------------------------


def _flip(data: bytearray, chance: random.Random) -> None:
    if data:
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randint(0, len(data)) :]


def _insert(data: bytearray, chance: random.Random) -> None:
    at = chance.randint(0, len(data))
    data[at:at] = chance.randbytes(chance.randint(1, 12))


def _double(data: bytearray, chance: random.Random) -> None:
    start = chance.randint(0, len(data))
    end = chance.randint(start, len(data))
    data[end:end] = data[start:end] * chance.choice((1, 2, 30))


def _overlong(data: bytearray, chance: random.Random) -> None:
    at = chance.randint(0, len(data))
    data[at:at] = b"\xff" * chance.randint(1, 12) + b"\x01"


def _nest(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((3, 120))):
        if len(data) > 100:
            return
        data[:0] = bytes((0x1A, len(data)))


def _unknown(data: bytearray, chance: random.Random) -> None:
    data += bytes((chance.choice((0x78, 0x7A, 0x7D, 0x79, 0x7B, 0x7C)),)) + chance.randbytes(8)


_BYTES: Final[tuple[Callable[[bytearray, random.Random], None], ...]] = (
    _flip, _flip, _cut, _insert, _double, _overlong, _nest, _unknown,
)  # fmt: skip
