"""The seeded random number generator of all games.

The generator is counter-based: draw number `position` is the keyed BLAKE2b hash (RFC 7693) of that number under the
game's seed, read as a 64-bit unsigned integer. The generator is a value in the game's state: a draw returns its result
and the generator for the next draw. The same seed and draws give the same game on every machine and in every release.
A change of results in this file therefore raises the rules version of every game.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

import msgspec

T = TypeVar("T")

SEED_BYTES = 32
_PERSON = b"sodafountain.rng"  # separates these hashes from any other use of the seed
_RANGE = 1 << 64


class Rng(msgspec.Struct, frozen=True, array_like=True):
    """A generator at a position.

    Attributes:
        seed: the key, 32 bytes. Secret until the game is over.
        position: how many numbers have been drawn.
    """

    seed: bytes
    position: int = 0

    def __repr__(self) -> str:
        return f"Rng(seed=SECRET, position={self.position})"


def below(rng: Rng, bound: int) -> tuple[int, Rng]:
    """Return an integer from 0 to `bound` - 1, each equally likely, and the next generator.

    The 64-bit range is divided into intervals of `bound` numbers. Numbers in an incomplete last interval are rejected
    and drawn again, so that the result has no bias.

    Raises:
        ValueError: `bound` is not from 1 to 2^64, or the seed is not 32 bytes long.
    """
    if not 1 <= bound <= _RANGE:
        raise ValueError(f"cannot draw a number below {bound}: bound must be from 1 to 2^64")
    number, position = _below(_keyed(rng), rng.position, bound)
    return number, Rng(rng.seed, position)


def _keyed(rng: Rng) -> blake2b:
    """Return a hash object with the key. Copying it is cheaper than creating another one."""
    if len(rng.seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(rng.seed)}")
    return blake2b(digest_size=8, key=rng.seed, person=_PERSON)


def _below(keyed: blake2b, position: int, bound: int) -> tuple[int, int]:
    """Return the number that `below` draws from a position on, and the position after it."""
    limit = _RANGE - _RANGE % bound
    while True:
        block = keyed.copy()
        block.update(position.to_bytes(8, "big"))
        position += 1
        number = int.from_bytes(block.digest(), "big")
        if number < limit:
            return number % bound, position


def choice(rng: Rng, items: Sequence[T]) -> tuple[T, Rng]:
    """Return one of the items, each equally likely, and the next generator.

    Raises:
        ValueError: `items` is empty.
    """
    index, rng = below(rng, len(items))
    return items[index], rng


def shuffle(rng: Rng, items: Sequence[T]) -> tuple[tuple[T, ...], Rng]:
    """Return the items in random order, each order equally likely, and the next generator.

    The algorithm is Fisher and Yates' shuffle, from the last item to the first.
    """
    order, rng = _shuffled_from_the_end(rng, items, len(items) - 1)
    return tuple(order), rng


def draw(rng: Rng, items: Sequence[T], count: int) -> tuple[tuple[T, ...], Rng]:
    """Return `count` of the items in random order, each selection and order equally likely, and the next generator.

    They are the last items of a shuffle with the same generator, the last one first. Drawing a few items costs less
    than a whole shuffle.

    Raises:
        ValueError: `count` is negative or greater than the number of items.
    """
    if not 0 <= count <= len(items):
        raise ValueError(f"cannot draw {count} of {len(items)} items")
    order, rng = _shuffled_from_the_end(rng, items, count)
    return tuple(order[len(items) - count :][::-1]), rng


def _shuffled_from_the_end(rng: Rng, items: Sequence[T], count: int) -> tuple[list[T], Rng]:
    """Shuffle only the last `count` items."""
    order, keyed, position = list(items), _keyed(rng), rng.position
    for last in range(len(order) - 1, max(0, len(order) - 1 - count), -1):
        index, position = _below(keyed, position, last + 1)
        order[last], order[index] = order[index], order[last]
    return order, Rng(rng.seed, position)
