"""Plays one whole game through a service and looks at it through the gateway: what `helm test` runs."""

import argparse
import json
import random
import signal
import sys
import time
import urllib.request
from pathlib import Path
from types import FrameType
from typing import Any

import sodafountain
from service.tokens import parse_api_keys
from service.verify import CannotVerify, DoesNotHold, verify_target
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions


def play(game: sodafountain.Game) -> None:
    """Plays a game to its end; its history must hold the commitment that was given at the beginning."""
    awaited = list(game.state.awaiting_seats)
    moves = 0
    while awaited:
        seat = game.seats[awaited[0]]
        awaited = list(seat.apply(random.choice(seat.legal_moves().moves)).state.awaiting_seats)
        moves += 1
    if game.host.history().seed_commitment != game.seed_commitment:
        raise ValueError("the seed is not the one that was committed to")
    print(f"Played {moves} moves.", flush=True)


def look(rest: str, game: sodafountain.Game) -> None:
    """Looks at the game over REST. The gateway may need seconds to hear of a service that has just started."""
    while True:
        try:
            with urllib.request.urlopen(f"{rest}/v1/games/{game.id}", timeout=5) as answer:  # noqa: S310 - our own
                state: dict[str, Any] = json.load(answer)["state"]
        except OSError as error:
            print(f"Not yet over REST: {error}", flush=True)
            time.sleep(1)
        else:
            break
    if state.get("awaitingSeats"):
        raise ValueError("over REST the game is not over")
    print("Seen over REST.", flush=True)


def out_of_time(_signum: int, _frame: FrameType | None) -> None:
    """Ends whatever is under way. No error: what is under way would take that for a fault of its own, and go on."""
    sys.exit("play: out of time")


def main() -> str | None:
    """Plays as the command line says; returns what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="where the service is, host:port")
    parser.add_argument("--rest", help="where the gateway is, http://host:port; none without it")
    parser.add_argument("--api-keys-file", type=Path, help="the service's API keys, the first of which is used")
    parser.add_argument("--seconds", type=int, default=60, help="how long all of it may take (%(default)s)")
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, out_of_time)
    signal.alarm(arguments.seconds)
    try:
        keys = parse_api_keys(arguments.api_keys_file.read_text()) if arguments.api_keys_file else {}
        with sodafountain.connect(arguments.target, api_key=next(iter(keys.values()), None)) as client:
            game = client.new_game(SodaJerkOptions(), seats=2)
            try:
                play(game)
                print(verify_target(arguments.target, game.id), flush=True)
                if arguments.rest:
                    look(arguments.rest, game)
            finally:
                game.host.delete()
    except (sodafountain.SodaFountainError, CannotVerify, DoesNotHold, OSError, ValueError) as error:
        return f"play: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
