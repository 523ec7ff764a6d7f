"""Break the code of each rule in turn, and check that a test of the same rule fails.

`python -m tools.mutants [ID …]` works on copies of the tree. It fails if a mutant survives, if the engine does not
contain the code that a mutant replaces exactly once, or if a rule in docs/rules has no mutant.
"""

import argparse
import compileall
import os
import shutil
import subprocess
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from py_compile import PycInvalidationMode
from queue import SimpleQueue
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from tools.mutants.mutations import ROOT, Mutation, defined_rules, find_mutations

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
        # Compiled modules are checked by content: two mutants can have the same size and time.
        compileall.compile_dir(folder / "engine", quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
        self._tests = {path: path.read_text(encoding="utf-8") for path in folder.glob("tests/engine/**/test_*.py")}

    def test(self, rules: Collection[str]) -> tuple[int, str]:
        """Run the tests of some rules on the copy; return pytest's exit code and output."""
        quoted = [f'"{rule}"' for rule in rules]
        files = [path for path, text in self._tests.items() if any(rule in text for rule in quoted)]
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "pytest_timeout"]
        run = subprocess.run(  # noqa: S603 - our own command
            [*command, *(f"--rule={rule}" for rule in rules), *files],
            cwd=self._folder,
            # Plugins that these tests do not use take longer to load than most rules to test.
            env={**os.environ, "PYTHONPATH": str(self._folder), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        return run.returncode, run.stdout + run.stderr

    def test_with(self, file: Path, text: str, rules: Collection[str]) -> tuple[int, str]:
        """Run the tests of some rules while a file has another content."""
        path = self._folder / file
        before = path.read_text(encoding="utf-8")
        path.write_text(text, encoding="utf-8")
        try:
            return self.test(rules)
        finally:
            path.write_text(before, encoding="utf-8")

    def check(self, rules: Collection[str]) -> str:
        """Check that the tests pass without a mutant and import the copy; return the problem, or an empty text."""
        code, printed = self.test(rules)
        if code != 0:
            return f"The tests fail without a mutant.\n{printed}"
        code, printed = self.test_with(Path("engine/__init__.py"), 'raise ImportError("this is the copy")\n', rules)
        if code == 0 or "this is the copy" not in printed:
            return f"The tests do not import the engine of the copy.\n{printed}"
        return ""


def verdict(copy: Copy, mutation: Mutation, text: str) -> str:
    """Test a mutant; return "killed" or the problem."""
    code, printed = copy.test_with(mutation.file, text, [mutation.mutant.rule])
    if code == FAILED_TESTS:
        return "killed"
    return "SURVIVED" if code == 0 else f"the tests did not run: {printed.strip().splitlines()[-1]}"


def main() -> int:
    """Test the mutants and print the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rules", nargs="*", metavar="ID", help="test only the mutants of these rules")
    wanted = set(parser.parse_args().rules) or defined_rules()
    console = Console(highlight=False)
    mutations, problems = find_mutations(wanted)
    if problems:
        console.print(*problems, sep="\n\n", markup=False, soft_wrap=True)
        return 1

    with TemporaryDirectory() as folder, ThreadPoolExecutor(AT_ONCE) as threads:
        copies: SimpleQueue[Copy] = SimpleQueue()
        for number in range(AT_ONCE):
            copies.put(Copy(Path(folder) / str(number)))
        copy = copies.get()
        if problem := copy.check({mutation.mutant.rule for mutation in mutations}):
            console.print(problem, markup=False)
            return 1
        copies.put(copy)

        def attempt(mutation: Mutation, text: str) -> str:
            copy = copies.get()
            try:
                return verdict(copy, mutation, text)
            finally:
                copies.put(copy)

        verdicts = []
        results = threads.map(attempt, mutations, [mutation.text() for mutation in mutations])
        for mutation, result in zip(mutations, results, strict=True):
            verdicts.append(result)
            progress = f"{len(verdicts):3}/{len(mutations)}"
            console.print(f"{progress}  {result:9}  {mutation.mutant}", markup=False, soft_wrap=True)

    table = Table("rule", "mutants", "killed")
    for rule in sorted(wanted):
        of_rule = [result for mutation, result in zip(mutations, verdicts, strict=True) if mutation.mutant.rule == rule]
        table.add_row(rule, str(len(of_rule)) if of_rule else "NONE", str(of_rule.count("killed")))
    console.print(table)
    missing = wanted - {mutation.mutant.rule for mutation in mutations}
    killed = verdicts.count("killed")
    console.print(f"{killed} of {len(mutations)} mutants killed; {len(missing)} rules without a mutant.")
    return 0 if killed == len(mutations) and not missing else 1


if __name__ == "__main__":
    sys.exit(main())
