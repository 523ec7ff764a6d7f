"""Replays games from their histories: `python -m clients.loadtest.replays TARGET`, ids as JSON on standard input.

The answer is JSON too: by id what is wrong with the games that do not hold.
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


def wrong_with(client: sodafountain.Client, game_id: str) -> str | None:
    """What is wrong with a finished game; None when its history holds and gives the score that the service tells."""
    viewer = client.spectator(game_id)
    try:
        verify_history(viewer.history(), viewer.score())
    except (VerificationFailed, CannotVerify, sodafountain.SodaFountainError) as error:
        return str(error)
    return None


def wrong(games: Sequence[str], *, target: str, secure: bool) -> Mapping[str, str]:
    """What is wrong with games, by id."""
    with sodafountain.connect(target, tls=secure, timeout=30.0) as client:
        return {game: problem for game in games if (problem := wrong_with(client, game)) is not None}


def main() -> None:
    """Replays the games that standard input names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--secure", action="store_true")
    arguments = parser.parse_args()
    games = json.load(sys.stdin)
    batches = [games[start : start + BATCH] for start in range(0, len(games), BATCH)]
    found: dict[str, str] = {}
    replay_batch = partial(wrong, target=arguments.target, secure=arguments.secure)
    if len(batches) <= 1:
        found |= replay_batch(batches[0] if batches else ())
    else:
        # Spawned, not forked: gRPC does not outlive a fork.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(len(batches), os.cpu_count() or 1), context) as processes:
            for part in processes.map(replay_batch, batches):
                found |= part
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
