"""Plays one whole game through a service and looks at it through the gateway: what `helm test` runs."""

import argparse
import json
import random
import signal
import sys
import time
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from types import FrameType

import sodafountain
from service.access import parse_api_keys
from service.verification import CannotVerify, VerificationFailed, verify_target
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions

SECONDS_TO_DELETE = 1.5
"""How long deleting the game may take after trouble. Time may be up by then; a game that is left expires."""


class Clock:
    """The time that all of it may take.

    Attributes:
        step: what it is spent on.
    """

    def __init__(self, seconds: int) -> None:
        self.step = "making a game"
        signal.signal(signal.SIGALRM, self._over)
        signal.alarm(seconds)

    def _over(self, _signum: int, _frame: FrameType | None) -> None:
        """Ends whatever is under way. No error: that would be taken there for a fault of its own, and lived with."""
        sys.exit(f"play: out of time while {self.step}")

    def stop(self) -> None:
        """Lets it run out unheard."""
        signal.alarm(0)


def play(game: sodafountain.Game) -> None:
    """Plays a game to its end; its history must hold the commitment that was given at the beginning."""
    awaited = list(game.state.awaiting_seats)
    moves = 0
    while awaited:
        if awaited[0] >= len(game.seats):
            raise ValueError(f"the service awaits seat {awaited[0]} of a game of {len(game.seats)}")
        seat = game.seats[awaited[0]]
        legal = seat.legal_moves().moves
        if not legal:
            raise ValueError(f"the service awaits seat {awaited[0]} and names no move for it")
        awaited = list(seat.apply(random.choice(legal)).state.awaiting_seats)
        moves += 1
    if game.host.history().seed_commitment != game.seed_commitment:
        raise ValueError("the seed is not the one that was committed to")
    print(f"Played {moves} moves.", flush=True)


def look(rest: str, game: sodafountain.Game) -> None:
    """Looks at the game over REST. The gateway may need seconds to hear of a service that has just started."""
    while True:
        try:
            with urllib.request.urlopen(f"{rest}/v1/games/{game.id}", timeout=5) as answer:  # noqa: S310 - our own
                awaited = json.load(answer)["state"].get("awaitingSeats")
        except OSError as error:
            print(f"Not yet over REST: {error}", flush=True)
            time.sleep(1)
        except (HTTPException, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"over REST the answer is no game: {error!r}") from None
        else:
            break
    if awaited:
        raise ValueError("over REST the game is not over")
    print("Seen over REST.", flush=True)


def run(arguments: argparse.Namespace, clock: Clock) -> None:
    """Plays, verifies, looks, and deletes the game. After trouble too, but then the trouble is what is told."""
    keys = parse_api_keys(arguments.api_keys_file.read_text()) if arguments.api_keys_file else {}
    with sodafountain.connect(arguments.target, api_key=next(iter(keys.values()), None)) as client:
        game = client.new_game(SodaJerkOptions(), seats=2)
        try:
            clock.step = "playing"
            play(game)
            clock.step = "verifying"
            print(verify_target(arguments.target, game.id), flush=True)
            if arguments.rest:
                clock.step = "looking over REST"
                look(arguments.rest, game)
        except BaseException:
            clock.stop()
            with suppress(sodafountain.SodaFountainError):
                game.host.delete(timeout=SECONDS_TO_DELETE)
            raise
        clock.step = "deleting the game"
        game.host.delete()


def main() -> str | None:
    """Plays as the command line says; returns what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="where the service is, host:port")
    parser.add_argument("--rest", help="where the gateway is, http://host:port; none without it")
    parser.add_argument("--api-keys-file", type=Path, help="the service's API keys, the first of which is used")
    parser.add_argument("--seconds", type=int, default=60, help="how long all of it may take (%(default)s)")
    arguments = parser.parse_args()
    clock = Clock(arguments.seconds)
    try:
        run(arguments, clock)
    except (sodafountain.SodaFountainError, CannotVerify, VerificationFailed, OSError, ValueError) as error:
        return f"play: {error}"
    finally:
        clock.stop()  # it would end the interpreter while that ends
    return None


if __name__ == "__main__":
    sys.exit(main())
