"""Plays one seat of a game by chance to the end of the game, while people or programs elsewhere play the others."""

import argparse
import random
import sys
import time

import sodafountain
from sodafountain.v1.game_pb2 import LegalMove


def play(seat: sodafountain.Seat, pause: float) -> None:
    """Waits for the seat's turns and takes them; looks at the game again after each pause while others are awaited."""
    while True:
        state = seat.state(legal_moves=True)
        if not state.awaiting_seats:
            return
        if state.legal_moves:
            take_turn(seat, random.choice(state.legal_moves))
        else:
            time.sleep(pause)


def take_turn(seat: sodafountain.Seat, move: LegalMove) -> None:
    """Makes a move, unless this seat has been played elsewhere meanwhile."""
    try:
        seat.apply(move)
    except (sodafountain.StaleEtag, sodafountain.NotYourTurn, sodafountain.GameFinished):
        return
    print(f"Seat {seat.number}: {move.label}")


def main() -> str | None:
    """Plays as the command line says; returns what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="localhost:50051", help="where the service is (%(default)s)")
    parser.add_argument("--game", required=True, help="the game's id")
    parser.add_argument("--token", required=True, help="the token of the seat to play")
    parser.add_argument("--pause", type=float, default=1.0, help="seconds between looks at the game (%(default)s)")
    arguments = parser.parse_args()
    try:
        with sodafountain.connect(arguments.target) as client:
            seat = client.seat(arguments.game, arguments.token)
            play(seat, arguments.pause)
            print(seat.score().note)
    except (sodafountain.SodaFountainError, ValueError) as error:
        return f"player: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
