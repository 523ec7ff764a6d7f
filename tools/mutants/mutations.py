"""The changed modules that the mutants of all games stand for."""

import re
from collections.abc import Callable, Collection, Sequence
from importlib import import_module
from pathlib import Path
from typing import Final, NamedTuple

from engine.catalogue import GAMES
from tools.mutants.mutant import Mutant
from tools.mutants.syntax import Code, CodeError

ROOT: Final = Path(__file__).parents[2]

MUTANTS: Final[dict[str, Sequence[Mutant]]] = {kind: import_module(f"tools.mutants.{kind}").MUTANTS for kind in GAMES}
"""The mutants of each kind of game."""


class Mutation(NamedTuple):
    """A mutant as the new content of a file, whose path is relative to the root of the tree."""

    mutant: Mutant
    file: Path
    text: Callable[[], str]


def find_mutations(rules: Collection[str]) -> tuple[list[Mutation], list[str]]:
    """Return the mutations of some rules, and a problem for each mutant whose code does not occur exactly once."""
    mutations, problems = [], []
    for kind, mutants in MUTANTS.items():
        code = Code([*(ROOT / "engine").glob("*.py"), *(ROOT / "engine" / kind).rglob("*.py")], ROOT)
        for mutant in mutants:
            if mutant.rule in rules:
                try:
                    mutations.append(Mutation(mutant, *code.find(mutant.old, mutant.new, mutant.within)))
                except CodeError as error:
                    problems.append(f"A mutant of {mutant.rule} must change. {error}")
    return mutations, problems


def defined_rules() -> set[str]:
    """Return the ids of all rules."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/rules").glob("*.md"))
    return set(re.findall(r"\*\*([A-Z]{2}-[A-Z]+\d+)\*\*", pages))
