"""The command `sodafountain`, run to its end."""

import json
import subprocess
import sys
from typing import NamedTuple

from tests.support.service import clean_environment

SECONDS = 30.0


class Done(NamedTuple):
    """A command that has ended."""

    code: int
    out: str
    err: str


def sodafountain(*arguments: str, env: dict[str, str] | None = None) -> Done:
    """Runs the command and waits for its end."""
    done = subprocess.run(
        [sys.executable, "-m", "service", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
        env=clean_environment() | (env or {}),
    )
    return Done(done.returncode, done.stdout, done.stderr)


def refused(*arguments: str, env: dict[str, str] | None = None, code: int = 2) -> str:
    """Runs a command that must be refused in one line, and returns the line. What was logged before does not count."""
    done = sodafountain(*arguments, env=env)
    assert done.code == code, done
    assert not done.out
    (line,) = (line for line in done.err.splitlines() if not _is_log(line))
    assert line.startswith("sodafountain: ")
    return line.removeprefix("sodafountain: ")


def _is_log(line: str) -> bool:
    try:
        return "event" in json.loads(line)
    except ValueError:
        return False
