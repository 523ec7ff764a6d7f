"""Play random legal moves for one seat until the game is over, while other players play the other seats."""

import argparse
import random
import sys

import sodafountain
from sodafountain.v1.game_pb2 import LegalMove


def play(seat: sodafountain.Seat) -> None:
    """Watch the game and move whenever it is the turn of the seat."""
    for update in seat.watch(legal_moves=True):
        if update.state.legal_moves:
            take_turn(seat, random.choice(update.state.legal_moves))


def take_turn(seat: sodafountain.Seat, move: LegalMove) -> None:
    """Apply a move, unless the seat has already moved: on another device, or here before the update arrived."""
    try:
        seat.apply(move)
    except (sodafountain.StaleEtag, sodafountain.NotYourTurn, sodafountain.GameFinished):
        return
    print(f"Seat {seat.number}: {move.label}")


def main() -> str | None:
    """Run the program; return an error message, or None."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="localhost:50051", help="address of the service (default: %(default)s)")
    parser.add_argument("--tls", action="store_true", help="use TLS, which a service on another host needs")
    parser.add_argument("--allow-insecure", action="store_true", help="allow a service on another host without TLS")
    parser.add_argument("--game", required=True, help="id of the game")
    parser.add_argument("--token", required=True, help="token of the seat to play")
    arguments = parser.parse_args()
    try:
        with sodafountain.connect(
            arguments.target, tls=arguments.tls, allow_insecure=arguments.allow_insecure
        ) as client:
            seat = client.seat(arguments.game, arguments.token)
            play(seat)
            print(seat.score().note)
    except (sodafountain.SodaFountainError, ValueError) as error:
        return f"player: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
