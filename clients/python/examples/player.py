"""Plays one seat of a game by chance to the end of the game, while people or programs elsewhere play the others."""

import argparse
import random
import sys

import sodafountain
from sodafountain.v1.game_pb2 import LegalMove


def play(seat: sodafountain.Seat) -> None:
    """Watches the game and takes the seat's turns as they come."""
    for update in seat.watch(legal_moves=True):
        if update.state.legal_moves:
            take_turn(seat, random.choice(update.state.legal_moves))


def take_turn(seat: sodafountain.Seat, move: LegalMove) -> None:
    """Makes a move, unless the seat has moved already: elsewhere, or here while an update was on its way."""
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
    arguments = parser.parse_args()
    try:
        with sodafountain.connect(arguments.target) as client:
            seat = client.seat(arguments.game, arguments.token)
            play(seat)
            print(seat.score().note)
    except (sodafountain.SodaFountainError, ValueError) as error:
        return f"player: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
