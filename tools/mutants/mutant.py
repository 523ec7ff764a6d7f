"""What a mutant is."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """Breaks `rule` by putting `new` in the place of `old` in `file`, where it stands exactly once."""

    rule: str
    file: str
    old: str
    new: str
