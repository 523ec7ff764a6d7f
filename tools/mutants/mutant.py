"""The definition of a mutant."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change that breaks `rule`: replace `old`, which occurs once in `file`, by `new`."""

    rule: str
    file: str
    old: str
    new: str
