"""Replay the games of a run in processes of their own, which do not share an interpreter with the load generator."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def replay_games(target: str, games: Mapping[str, str], *, secure: bool, allow_insecure: bool) -> Mapping[str, str]:
    """Replay games; return the problems of those that fail, by game id.

    Args:
        target: the address of the service.
        games: the commitments of the games, in hexadecimal digits, by game id.
        secure: whether to use TLS.
        allow_insecure: whether the service may be on another host without TLS.

    Raises:
        RuntimeError: the replay itself failed.
    """
    command = [sys.executable, "-m", "clients.loadtest.replays", target]
    command += [flag for flag, given in (("--secure", secure), ("--allow-insecure", allow_insecure)) if given]
    result = subprocess.run(  # noqa: S603 (our own command)
        command, input=json.dumps(dict(games)), capture_output=True, text=True, check=False, cwd=ROOT
    )
    if result.returncode != 0:
        raise RuntimeError(f"the replay failed:\n{result.stderr}")
    problems: Mapping[str, str] = json.loads(result.stdout)
    return problems
