"""Plays a game of any kind by chance, for all its seats. It knows no game: the service tells what is legal."""

import argparse
import random
import sys

from google.protobuf import json_format

import sodafountain
from sodafountain.v1.game_pb2 import Options


def play(client: sodafountain.Client, arguments: argparse.Namespace) -> None:
    """Makes a game and plays it to its end.

    Raises:
        ValueError: the service does not offer such a game.
    """
    kinds = {str(kind.presets[0].WhichOneof("game")): kind for kind in client.game_kinds()}
    name = arguments.kind or next(iter(kinds))
    if name not in kinds:
        raise ValueError(f"--kind must be one of {', '.join(kinds)}, not {name}")
    options = json_format.Parse(f'{{"{name}": {arguments.options}}}', Options())
    game = client.new_game(options, arguments.seats or kinds[name].min_seats)

    chance = random.Random(arguments.seed)
    awaited = list(game.state.awaiting_seats)
    while awaited:
        seat = game.seats[chance.choice(awaited)]
        move = chance.choice(seat.legal_moves().moves)
        awaited = list(seat.apply(move).state.awaiting_seats)
        print(f"Seat {seat.number}: {move.label}")

    result = game.host.score()
    for player in result.seats:
        print(f"Seat {player.seat} has {player.total} points: place {player.rank}")
    print(result.note)


def main() -> str | None:
    """Plays as the command line says; returns what went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="localhost:50051", help="where the service is (%(default)s)")
    parser.add_argument("--kind", help="which game, soda_jerk for instance (the first that is offered)")
    parser.add_argument("--options", default="{}", help="its options as JSON, '{\"advanced\": true}' for instance")
    parser.add_argument("--seats", type=int, help="how many seats (as few as the game takes)")
    parser.add_argument("--seed", type=int, help="makes the bot choose alike among the same moves (by chance)")
    arguments = parser.parse_args()
    try:
        with sodafountain.connect(arguments.target) as client:
            play(client, arguments)
    except (sodafountain.SodaFountainError, json_format.ParseError, ValueError) as error:
        return f"bot: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
