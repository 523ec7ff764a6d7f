"""The seeded generator behind every random draw of a game.

Counter-based: draw number `position` is the keyed BLAKE2b hash (RFC 7693) of that number under the game's seed, read
as a 64-bit whole number. The generator is a value in the game's state: a draw returns its result together with the
generator that goes on from there. The same seed and the same draws therefore give the same game on every machine and
for ever, which makes this file part of every game's rules version.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

T = TypeVar("T")

SEED_BYTES = 32
_PERSON = b"sodafountain.rng"  # sets these hashes apart from any other use of the seed
_RANGE = 1 << 64


class Rng(msgspec.Struct, frozen=True, array_like=True):
    """A generator at a position.

    Attributes:
        seed: the key, 32 bytes. Secret while the game goes on.
        position: how many numbers have been drawn from it.
    """

    seed: bytes
    position: int = 0

    def __repr__(self) -> str:
        return f"Rng(seed=<secret>, position={self.position})"


def below(rng: Rng, bound: int) -> tuple[int, Rng]:
    """Draws a whole number from 0 to `bound` - 1, each equally likely.

    Numbers of the incomplete last stretch of the 64-bit range are rejected and drawn again, so that no bias remains.

    Raises:
        ValueError: `bound` is not from 1 to 2^64, or the seed has not 32 bytes.
    """
    if not 1 <= bound <= _RANGE:
        raise ValueError(f"cannot draw a number below {bound}")
    number, position = _below(_keyed(rng), rng.position, bound)
    return number, Rng(rng.seed, position)


def _keyed(rng: Rng) -> blake2b:
    """Makes a hash with the key, of which copies are cheaper to come by than others like it."""
    if len(rng.seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(rng.seed)}")
    return blake2b(digest_size=8, key=rng.seed, person=_PERSON)


def _below(keyed: blake2b, position: int, bound: int) -> tuple[int, int]:
    """Draws like `below`, from a position on; returns the number and the position after it."""
    limit = _RANGE - _RANGE % bound
    while True:
        block = keyed.copy()
        block.update(position.to_bytes(8, "big"))
        position += 1
        number = int.from_bytes(block.digest(), "big")
        if number < limit:
            return number % bound, position


def choice(rng: Rng, items: Sequence[T]) -> tuple[T, Rng]:
    """Draws one of the items, each equally likely.

    Raises:
        ValueError: there are no items.
    """
    index, rng = below(rng, len(items))
    return items[index], rng


def shuffle(rng: Rng, items: Sequence[T]) -> tuple[tuple[T, ...], Rng]:
    """Draws an order of the items, each equally likely (Fisher and Yates, from the end)."""
    order, rng = _ordered_from_the_end(rng, items, len(items) - 1)
    return tuple(order), rng


def draw(rng: Rng, items: Sequence[T], count: int) -> tuple[tuple[T, ...], Rng]:
    """Draws some of the items in order, each selection and order equally likely.

    They are the last items of a shuffle with the same generator, the last one first; the others are not put in order.

    Raises:
        ValueError: there are not so many items.
    """
    if not 0 <= count <= len(items):
        raise ValueError(f"cannot draw {count} of {len(items)} items")
    order, rng = _ordered_from_the_end(rng, items, count)
    return tuple(order[len(items) - count :][::-1]), rng


def _ordered_from_the_end(rng: Rng, items: Sequence[T], count: int) -> tuple[list[T], Rng]:
    """Puts the last `count` items in order."""
    order, keyed, position = list(items), _keyed(rng), rng.position
    for last in range(len(order) - 1, max(0, len(order) - 1 - count), -1):
        index, position = _below(keyed, position, last + 1)
        order[last], order[index] = order[index], order[last]
    return order, Rng(rng.seed, position)
