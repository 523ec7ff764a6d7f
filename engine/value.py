"""What all values of games have in common."""

import msgspec


class Value(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """An immutable value of a game, encoded without field names. It is in no cycle: gc need not look."""
