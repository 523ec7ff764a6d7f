"""The definition of a mutant."""

from typing import NamedTuple


class Mutant(NamedTuple):
    """A change that breaks `rule`: replace the code `old`, which occurs once in the game, by `new`.

    `Code.replace` in `tools.mutants.syntax` describes `old`, `new` and `within`.
    """

    rule: str
    old: str
    new: str
    within: str = ""

    def __str__(self) -> str:
        within = f"in {self.within}: " if self.within else ""
        return f"{self.rule:6}  {within}{' '.join(self.old.split())}  →  {' '.join(self.new.split()) or 'nothing'}"
