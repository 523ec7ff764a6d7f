"""Replay games from their histories: `python -m clients.loadtest.replays TARGET`.

Standard input is a JSON object with the commitment of each game, in hexadecimal digits, by game id. Standard output is
a JSON object with the problems of the games that fail, by game id.
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


def replay_problem(client: sodafountain.Client, game_id: str, commitment: bytes) -> str | None:
    """Return the problem of a finished game; None if it is verified.

    It is verified if its seed is the one that was committed to when the game was created, and if shuffles, events and
    the score of the service follow from seed and moves.
    """
    viewer = client.spectator(game_id, commitment=commitment)
    try:
        verify_history(viewer.history(), viewer.score(), game_id, commitment)
    except (VerificationFailed, CannotVerify, sodafountain.SodaFountainError) as error:
        return str(error)
    return None


def replay_problems(
    games: Sequence[tuple[str, str]], *, target: str, secure: bool, allow_insecure: bool
) -> Mapping[str, str]:
    """Return the problems of games, given by id and commitment; the result is by game id."""
    found = {}
    with sodafountain.connect(target, tls=secure, allow_insecure=allow_insecure, timeout=30.0) as client:
        for game, commitment in games:
            if (problem := replay_problem(client, game, bytes.fromhex(commitment))) is not None:
                found[game] = problem
    return found


def main() -> None:
    """Replay the games listed on standard input."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("target")
    parser.add_argument("--secure", action="store_true")
    parser.add_argument("--allow-insecure", action="store_true")
    arguments = parser.parse_args()
    games = list(json.load(sys.stdin).items())
    batches = [games[start : start + BATCH] for start in range(0, len(games), BATCH)]
    found: dict[str, str] = {}
    replay_batch = partial(
        replay_problems,
        target=arguments.target,
        secure=arguments.secure,
        allow_insecure=arguments.allow_insecure,
    )
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
