"""The base classes of all values of games."""

from enum import IntEnum

import msgspec


class Value(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An immutable value of a game, encoded as an array without field names.

    Values never form reference cycles, so the garbage collector does not track them.
    """


class Name(IntEnum):
    """A named value of a game, encoded as its number. The `repr` is an expression: `Flavor.KIWI`."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"
