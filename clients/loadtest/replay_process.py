"""Has the games of a run replayed, by processes of their own: they share no interpreter with a load."""

import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def replayed(target: str, games: Sequence[str], *, secure: bool) -> Mapping[str, str]:
    """Replays games; gives what is wrong with those that do not hold, by id.

    Raises:
        RuntimeError: that could not be done.
    """
    command = [sys.executable, "-m", "clients.loadtest.replays", target, *(["--secure"] if secure else [])]
    done = subprocess.run(  # noqa: S603 (a command of our own making)
        command, input=json.dumps(list(games)), capture_output=True, text=True, check=False, cwd=ROOT
    )
    if done.returncode != 0:
        raise RuntimeError(f"the games could not be replayed:\n{done.stderr}")
    wrong: Mapping[str, str] = json.loads(done.stdout)
    return wrong
