"""Replay games from their histories: `python -m clients.loadtest.replays TARGET`.

Standard input is a JSON list of game ids. Standard output is a JSON object with the problems of the games that fail,
by game id.
"""

import argparse
import json
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import Final

import sodafountain
from service.verification import CannotVerify, VerificationFailed, verify_history

BATCH: Final = 100


def replay_problem(client: sodafountain.Client, game_id: str) -> str | None:
    """Return the problem of a finished game, or None if its history is valid and yields the score of the service."""
    viewer = client.spectator(game_id)
    try:
        verify_history(viewer.history(), viewer.score(), game_id)
    except (VerificationFailed, CannotVerify, sodafountain.SodaFountainError) as error:
        return str(error)
    return None


def replay_problems(games: Sequence[str], *, target: str, secure: bool) -> Mapping[str, str]:
    """Return the problems of games, by game id."""
    with sodafountain.connect(target, tls=secure, timeout=30.0) as client:
        return {game: problem for game in games if (problem := replay_problem(client, game)) is not None}


def main() -> None:
    """Replay the games listed on standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--secure", action="store_true")
    arguments = parser.parse_args()
    games = json.load(sys.stdin)
    batches = [games[start : start + BATCH] for start in range(0, len(games), BATCH)]
    found: dict[str, str] = {}
    replay_batch = partial(replay_problems, target=arguments.target, secure=arguments.secure)
    if len(batches) <= 1:
        found |= replay_batch(batches[0] if batches else ())
    else:
        # gRPC does not survive a fork.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(len(batches), os.cpu_count() or 1), context) as processes:
            for part in processes.map(replay_batch, batches):
                found |= part
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
