"""Play a whole game through a service, verify its history, and read it through the gateway. Run by `helm test`."""

import argparse
import json
import random
import signal
import ssl
import sys
import time
import urllib.request
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path
from types import FrameType

import grpc

import sodafountain
from service.access import parse_api_keys
from service.verification import CannotVerify, Target, VerificationFailed, verify_target
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions

DELETE_TIMEOUT = 1.5
"""The timeout in seconds of deleting the game after a failure. If it fails too, the game expires."""


class Deadline:
    """The deadline of the whole test.

    Attributes:
        step: the current step, for the error.
    """

    def __init__(self, seconds: int) -> None:
        self.step = "creating a game"
        signal.signal(signal.SIGALRM, self._expire)
        signal.alarm(seconds)

    def _expire(self, _signum: int, _frame: FrameType | None) -> None:
        """Exit. SystemExit is not an Exception, so no library code handles it as a failed call and retries."""
        sys.exit(f"play: timeout while {self.step}")

    def cancel(self) -> None:
        """Cancel the deadline."""
        signal.alarm(0)


def play_game(game: sodafountain.Game) -> None:
    """Play a game to its end."""
    awaited = list(game.state.awaiting_seats)
    moves = 0
    while awaited:
        if awaited[0] >= len(game.seats):
            raise ValueError(f"the service awaits seat {awaited[0]}, but the game has {len(game.seats)} seats")
        seat = game.seats[awaited[0]]
        legal = seat.legal_moves().moves
        if not legal:
            raise ValueError(f"the service awaits seat {awaited[0]}, but lists no legal moves for it")
        awaited = list(seat.apply(random.choice(legal)).state.awaiting_seats)
        moves += 1
    print(f"Played {moves} moves.", flush=True)


def read_over_rest(rest: str, game: sodafountain.Game) -> None:
    """Read the finished game over REST. Retry, since the gateway can take seconds to discover a new service."""
    # The certificate is for the name that players use, and this reads what anyone may read.
    context = ssl._create_unverified_context()  # noqa: S323, SLF001 - urllib takes no other
    while True:
        try:
            with urllib.request.urlopen(f"{rest}/v1/games/{game.id}", timeout=5, context=context) as response:  # noqa: S310 - the chart's URL
                awaited = json.load(response)["state"].get("awaitingSeats")
        except OSError as error:
            print(f"REST is not available yet: {error}", flush=True)
            time.sleep(1)
        except (HTTPException, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"the response over REST is not a game: {error!r}") from None
        else:
            break
    if awaited:
        raise ValueError("the game is not finished over REST")
    print("Read over REST.", flush=True)


def run(arguments: argparse.Namespace, deadline: Deadline) -> None:
    """Create a game, play, verify and read it, and delete it. After a failure, report that and not the deletion."""
    keys = parse_api_keys(arguments.api_keys_file.read_text()) if arguments.api_keys_file else {}
    credentials = grpc.ssl_channel_credentials(arguments.tls_ca.read_bytes()) if arguments.tls_ca else None
    # Without TLS, tokens are in the clear; but the game exists only for this test.
    with sodafountain.connect(
        arguments.target,
        tls=credentials or False,
        allow_insecure=credentials is None,
        api_key=next(iter(keys.values()), None),
    ) as client:
        game = client.new_game(SodaJerkOptions(), seats=2)
        try:
            deadline.step = "playing"
            play_game(game)
            deadline.step = "verifying"
            print(verify_target(Target(arguments.target, credentials), game.id, game.state.seed_commitment), flush=True)
            if arguments.rest:
                deadline.step = "reading over REST"
                read_over_rest(arguments.rest, game)
        except BaseException:
            deadline.cancel()
            with suppress(sodafountain.SodaFountainError):
                game.host.delete(timeout=DELETE_TIMEOUT)
            raise
        deadline.step = "deleting the game"
        game.host.delete()


def main() -> str | None:
    """Run the test. Return an error message if it fails."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", required=True, help="address of the service, host:port")
    parser.add_argument("--rest", help="URL of the gateway (default: no gateway)")
    parser.add_argument("--tls-ca", type=Path, help="certificate of the authority of the service (default: no TLS)")
    parser.add_argument("--api-keys-file", type=Path, help="file with the API keys of the service; the first is used")
    parser.add_argument("--seconds", type=int, default=60, help="timeout of the whole test (default: %(default)s)")
    arguments = parser.parse_args()
    deadline = Deadline(arguments.seconds)
    try:
        run(arguments, deadline)
    except (sodafountain.SodaFountainError, CannotVerify, VerificationFailed, OSError, ValueError) as error:
        return f"play: {error}"
    finally:
        deadline.cancel()  # an alarm during interpreter shutdown would change the exit status
    return None


if __name__ == "__main__":
    sys.exit(main())
