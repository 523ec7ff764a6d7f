"""Count the words to avoid in 10,000 words of prose and code, by folder: `python -m tools.prose [REVISION]`."""

import io
import re
import subprocess
import sys
import tarfile
import tomllib
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

_ROOT = Path(__file__).parents[2]
_SETTINGS = tomllib.loads((_ROOT / "pyproject.toml").read_text())["tool"]["codespell"]
_WORD = re.compile(_SETTINGS["regex"])
_IGNORED = re.compile(_SETTINGS["ignore-regex"], re.MULTILINE)
_SKIPPED = _SETTINGS["skip"].split(",")
_AVOIDED = {line.partition("->")[0] for line in (_ROOT / "tools/prose/words.txt").read_text().splitlines()}


def _count(revision: str) -> tuple[Counter[str], Counter[str]]:
    """Count all words, and those to avoid, of each top-level folder at `revision`."""
    archive = subprocess.run(["git", "archive", revision], cwd=_ROOT, capture_output=True, check=True).stdout  # noqa: S603, S607
    words: Counter[str] = Counter()
    avoided: Counter[str] = Counter()
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member)
            if content is None or any(fnmatch(member.name, pattern) for pattern in _SKIPPED):
                continue
            folder = member.name.partition("/")[0] if "/" in member.name else "."
            text = _IGNORED.sub("", content.read().decode(errors="replace"))
            found = [word.lower() for word in _WORD.findall(text)]
            words[folder] += len(found)
            avoided[folder] += sum(word in _AVOIDED for word in found)
    return words, avoided


def main() -> None:
    """Print a table of all folders and their sum."""
    words, avoided = _count(sys.argv[1] if len(sys.argv) > 1 else "HEAD")
    rows = [(folder, words[folder], avoided[folder]) for folder in sorted(words)]
    rows.append(("all", words.total(), avoided.total()))
    print(f"{'folder':14}{'words':>9}{'to avoid':>10}{'in 10,000':>11}")  # noqa: T201
    for folder, total, bad in rows:
        print(f"{folder:14}{total:9,}{bad:10,}{10_000 * bad / total:11.1f}")  # noqa: T201


if __name__ == "__main__":
    main()
