"""Mutate requests: change their fields or bytes, or replace them by random bytes."""

import random
import string
from collections.abc import Callable
from typing import Any, Final, cast

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

_INTEGERS: Final = (0, 1, 2, 3, 5, 13, 14, 52, 53, 60, 127, 128, 255, 1000, 2**31 - 1, 2**31)
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
    "v0",
    "v999999999",
    "v٣",
    "7-0",
    "x" * 65,
    "x" * 2000,
    "00000000-0000-4000-8000-000000000000",
)
_LISTS: Final = (1, 2, 3, 9, 40, 400)
_TIMES: Final = (1, 1, 1, 2, 4)
_LONG: Final = 70_000
"""More bytes than a request may have."""
_SIGNED_32: Final = (FieldDescriptor.CPPTYPE_INT32, FieldDescriptor.CPPTYPE_ENUM)
_UNSIGNED: Final = (FieldDescriptor.CPPTYPE_UINT32, FieldDescriptor.CPPTYPE_UINT64)


def mutated(valid: Message, other: bytes, rng: random.Random) -> bytes:
    """Return a mutation of a valid request, which may contain bytes of another. One in five is unchanged."""
    kind = rng.random()
    if kind < 0.2:
        return valid.SerializeToString()
    if kind < 0.65:
        message = type(valid)() if kind < 0.23 else type(valid).FromString(valid.SerializeToString())
        for _ in range(rng.choice(_TIMES)):
            _change(message, rng)
        return message.SerializeToString()
    if kind < 0.95:
        data = bytearray(valid.SerializeToString())
        for _ in range(rng.choice(_TIMES)):
            rng.choice(_BYTES)(data, other, rng)
        return bytes(data)
    if kind < 0.999:
        return rng.randbytes(rng.choice((0, 1, 2, 7, 64, 500, 5000)))
    return valid.SerializeToString() + b"\x7a" + _varint(_LONG) + bytes(_LONG)


def _change(message: Message, rng: random.Random) -> None:
    """Change one field anywhere in a message: set it, clear it, extend it, or choose another field of a oneof."""
    fields = cast("list[FieldDescriptor]", message.DESCRIPTOR.fields)  # the type stubs declare objects
    if not fields:
        return
    field = rng.choice(fields)
    if field.is_repeated:
        _change_list(getattr(message, field.name), field, rng)
    elif rng.random() < 0.15:
        message.ClearField(field.name)
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        if rng.random() < 0.9:
            _change(inner, rng)
    else:
        setattr(message, field.name, _value(field, rng))


def _change_list(items: Any, field: FieldDescriptor, rng: random.Random) -> None:
    kind = rng.random()
    if kind < 0.2:
        del items[:]
    elif kind < 0.4 and len(items) > 1:
        values = list(items)
        rng.shuffle(values)
        del items[:]
        items.extend(values)
    elif kind < 0.5 and items:
        items.extend(list(items))
    else:
        for _ in range(rng.choice(_LISTS)):
            if field.message_type is None:
                items.append(_value(field, rng))
            else:
                _change(items.add(), rng)


def _value(field: FieldDescriptor, rng: random.Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(rng.choice((0, 1, 31, 32, 33, 1000)))
        case FieldDescriptor.CPPTYPE_STRING:
            words = "".join(rng.choices(string.ascii_lowercase + string.digits, k=26))
            return rng.choice((*_TEXTS, words))
        case FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case FieldDescriptor.CPPTYPE_DOUBLE | FieldDescriptor.CPPTYPE_FLOAT:
            return rng.choice((0.0, -0.0, 1e300, float("inf"), float("nan")))
    value = rng.choice(_INTEGERS) * rng.choice((1, 1, -1))
    if field.cpp_type in _SIGNED_32:
        return min(value, 2**31 - 1)
    if field.cpp_type in _UNSIGNED:
        return abs(value)
    return value * rng.choice((1, 2**31))


# --- Bytes ------------------------------------------------------------------------------------------------------------


def _flip(data: bytearray, _: bytes, rng: random.Random) -> None:
    if data:
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _cut(data: bytearray, _: bytes, rng: random.Random) -> None:
    del data[rng.randint(0, len(data)) :]


def _insert(data: bytearray, _: bytes, rng: random.Random) -> None:
    at = rng.randint(0, len(data))
    data[at:at] = rng.randbytes(rng.randint(1, 12))


def _splice(data: bytearray, other: bytes, rng: random.Random) -> None:
    data[rng.randint(0, len(data)) :] = other[rng.randint(0, len(other)) :]


def _double(data: bytearray, _: bytes, rng: random.Random) -> None:
    start = rng.randint(0, len(data))
    end = rng.randint(start, len(data))
    data[end:end] = data[start:end] * rng.choice((1, 2, 30))


def _overlong(data: bytearray, _: bytes, rng: random.Random) -> None:
    at = rng.randint(0, len(data))
    data[at:at] = b"\xff" * rng.randint(1, 12) + b"\x01"


def _nest(data: bytearray, _: bytes, rng: random.Random) -> None:
    tag = bytes((rng.randint(1, 15) << 3 | 2,))
    for _depth in range(rng.choice((1, 3, 101, 300))):
        data[:0] = tag + _varint(len(data))


def _group(data: bytearray, _: bytes, rng: random.Random) -> None:
    depth = rng.choice((1, 99, 101, 5000))
    data += b"\x7b" * depth + b"\x7c" * rng.choice((0, depth))


def _unknown(data: bytearray, _: bytes, rng: random.Random) -> None:
    data += bytes((rng.choice((0x78, 0x7A, 0x7D, 0x79, 0x7B, 0x7C)),)) + rng.randbytes(8)


def _lie(data: bytearray, _: bytes, rng: random.Random) -> None:
    """Start a field whose length is more than the remaining bytes."""
    data += b"\x0a" + _varint(rng.choice((2**7, 2**16, 2**31 - 1, 2**32, 2**63)))


_BYTES: Final[tuple[Callable[[bytearray, bytes, random.Random], None], ...]] = (
    _flip, _flip, _flip, _cut, _insert, _splice, _double, _overlong, _nest, _group, _unknown, _lie,
)  # fmt: skip


def _varint(value: int) -> bytes:
    written = bytearray()
    while value > 0x7F:
        written.append(value & 0x7F | 0x80)
        value >>= 7
    written.append(value)
    return bytes(written)
