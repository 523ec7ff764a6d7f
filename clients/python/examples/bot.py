"""Play random legal moves for all seats of a new game. Works with every kind of game."""

import argparse
import random
import sys

from google.protobuf import json_format

import sodafountain
from sodafountain.v1.game_pb2 import Options


def play(client: sodafountain.Client, arguments: argparse.Namespace) -> None:
    """Create a game and play it to its end.

    Raises:
        ValueError: the service does not offer this kind of game.
    """
    kinds = {str(kind.presets[0].WhichOneof("game")): kind for kind in client.game_kinds()}
    name = arguments.kind or next(iter(kinds))
    if name not in kinds:
        raise ValueError(f"--kind must be one of {', '.join(kinds)}, not {name}")
    options = json_format.Parse(f'{{"{name}": {arguments.options}}}', Options())
    game = client.new_game(options, arguments.seats or kinds[name].min_seats)

    rng = random.Random(arguments.seed)
    awaiting = list(game.state.awaiting_seats)
    while awaiting:
        seat = game.seats[rng.choice(awaiting)]
        move = rng.choice(seat.legal_moves().moves)
        awaiting = list(seat.apply(move).state.awaiting_seats)
        print(f"Seat {seat.number}: {move.label}")

    result = game.host.score()
    for score in result.scores:
        name = f"Seat {score.player.seat}" if score.player.HasField("seat") else "The automaton"
        print(f"{name} has {score.total} points: place {score.rank}")
    print(result.note)


def main() -> str | None:
    """Run the program; return an error message, or None."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--target", default="localhost:50051", help="address of the service (default: %(default)s)")
    parser.add_argument("--tls", action="store_true", help="use TLS, which a service on another host needs")
    parser.add_argument("--allow-insecure", action="store_true", help="allow a service on another host without TLS")
    parser.add_argument("--kind", help="kind of game, such as soda_jerk (default: the first one of the service)")
    parser.add_argument("--options", default="{}", help="game options in JSON, such as '{\"advanced\": true}'")
    parser.add_argument("--seats", type=int, help="number of seats (default: the minimum of the game)")
    parser.add_argument("--seed", type=int, help="seed of the random choices (default: random)")
    arguments = parser.parse_args()
    try:
        with sodafountain.connect(
            arguments.target, tls=arguments.tls, allow_insecure=arguments.allow_insecure
        ) as client:
            play(client, arguments)
    except (sodafountain.SodaFountainError, json_format.ParseError, ValueError) as error:
        return f"bot: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main())
