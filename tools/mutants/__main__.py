"""Break the code of each rule in turn, and check that a test of the same rule fails.

`python -m tools.mutants [ID …]` works on copies of the tree. It fails if a mutant survives, if the code does not
contain the text that a mutant replaces, or if a rule in docs/rules has no mutant.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from engine.catalogue import GAMES
from tools.mutants.mutant import Mutant

ROOT: Final = Path(__file__).parents[2]
COPIED: Final = (
    "engine",
    "docs/rules",
    "tests/__init__.py",
    "tests/conftest.py",
    "tests/support",
    "tests/engine",
    "pyproject.toml",
)
AT_ONCE: Final = 2
FAILED_TESTS: Final = 1
"""Pytest's exit code if some tests failed; any other code except 0 means that the tests did not run."""


MUTANTS: Final[tuple[Mutant, ...]] = tuple(
    mutant for kind in GAMES for mutant in import_module(f"tools.mutants.{kind}").MUTANTS
)
"""The mutants of all kinds of games."""


class Copy:
    """A copy of the tree for testing one mutant at a time."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in COPIED:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(ROOT / name, target)

    def test(self, *arguments: str) -> tuple[int, str]:
        """Run pytest on the copy; return its exit code and output."""
        # Without compiled files: Python would reuse one for a later mutant of the same length in the same second.
        environment = {**os.environ, "PYTHONPATH": str(self._folder), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *arguments, "tests/engine"]
        run = subprocess.run(  # noqa: S603 - our own command
            command, cwd=self._folder, env=environment, capture_output=True, text=True, check=False
        )
        return run.returncode, run.stdout + run.stderr

    def try_text(self, file: str, text: str, *arguments: str) -> tuple[int, str]:
        """Run pytest while a file has another content."""
        path = self._folder / file
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            return self.test(*arguments)
        finally:
            path.write_text(before, encoding="utf-8")

    def check(self, rules: Iterable[str]) -> str:
        """Check that the tests pass without a mutant and import the copy; return the problem, or an empty text."""
        code, printed = self.test(*(f"--rule={rule}" for rule in rules))
        if code != 0:
            return f"The tests fail without a mutant.\n{printed}"
        code, printed = self.try_text("engine/__init__.py", 'raise ImportError("this is the copy")\n')
        if code == 0 or "this is the copy" not in printed:
            return f"The tests do not import the engine of the copy.\n{printed}"
        return ""


def verdict(copy: Copy, mutant: Mutant) -> str:
    """Test a mutant; return "killed" or the problem."""
    text = (ROOT / mutant.file).read_text(encoding="utf-8")
    if text.count(mutant.old) != 1:
        return f"{mutant.file} must contain this text once, not {text.count(mutant.old)} times"
    code, printed = copy.try_text(mutant.file, text.replace(mutant.old, mutant.new), "--rule", mutant.rule)
    if code == FAILED_TESTS:
        return "killed"
    return "SURVIVED" if code == 0 else f"the tests did not run: {printed.strip().splitlines()[-1]}"


def defined_rules() -> set[str]:
    """Return the ids of all rules."""
    pages = "".join(page.read_text(encoding="utf-8") for page in (ROOT / "docs/rules").glob("*.md"))
    return set(re.findall(r"\*\*([A-Z]{2}-[A-Z]+\d+)\*\*", pages))


def main() -> int:
    """Test the mutants and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="ID", help="test only the mutants of these rules")
    wanted = set(parser.parse_args().rules) or defined_rules()
    mutants = [mutant for mutant in MUTANTS if mutant.rule in wanted]
    console = Console(highlight=False)

    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as threads:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(AT_ONCE):
            copies.put(Copy(Path(folder) / str(number)))
        copy = copies.get()
        if problem := copy.check({mutant.rule for mutant in mutants}):
            console.print(problem, markup=False)
            return 1
        copies.put(copy)

        def attempt(mutant: Mutant) -> str:
            copy = copies.get()
            try:
                return verdict(copy, mutant)
            finally:
                copies.put(copy)

        verdicts = []
        for done, (mutant, result) in enumerate(zip(mutants, threads.map(attempt, mutants), strict=True), start=1):
            verdicts.append(result)
            console.print(
                f"{done:3}/{len(mutants)}  {mutant.rule:6}  {result:9}  {mutant.old.strip()!r}",
                markup=False,
                soft_wrap=True,
            )

    table = Table("rule", "mutants", "killed")
    for rule in sorted(wanted):
        results = [result for mutant, result in zip(mutants, verdicts, strict=True) if mutant.rule == rule]
        table.add_row(rule, str(len(results)) if results else "NONE", str(results.count("killed")))
    console.print(table)
    missing = wanted - {mutant.rule for mutant in mutants}
    killed = verdicts.count("killed")
    console.print(f"{killed} of {len(mutants)} mutants killed; {len(missing)} rules without a mutant.")
    return 0 if killed == len(mutants) and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
