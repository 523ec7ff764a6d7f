"""Run the demo: start a service, play and verify the games of every kind, stop the service."""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from rich.console import Console
from rich.text import Text

import sodafountain
from clients.demo import juices, soda_jerk, soda_smugglers
from clients.demo.protocols import DemoGame, GameDemo
from clients.demo.scoreboard import scoreboard
from clients.demo.spectator import spectator
from clients.own_service import ServiceError, own_service, verify_game
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

# The kinds of games, in the order of the demo.
DEMOS: tuple[GameDemo, ...] = (soda_jerk, soda_smugglers, juices)
# The game that a spectator narrates live.
LIVE_DEMO: GameDemo = soda_smugglers
LIVE_GAME = DemoGame("Soda Smugglers: three seats, as a spectator sees it", SodaSmugglersOptions(), seats=3, deal=1)
PLAIN_WIDTH = 100


def main() -> int:
    """Run the demo; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m clients.demo", description="Play complete games, narrate them and verify them."
    )
    parser.add_argument("--moves", action="store_true", help="also print every move")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Console(markup=False, highlight=False)
    if not sys.stdout.isatty():
        console = Console(markup=False, highlight=False, color_system=None, width=PLAIN_WIDTH)
    try:
        run(console, moves=arguments.moves)
    except (ServiceError, sodafountain.SodaFountainError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def run(console: Console, *, moves: bool) -> None:
    """Play and verify all games on a service of their own."""
    console.print("Starting a service with its own store …")
    with own_service() as target:
        for demo in DEMOS:
            for planned in demo.GAMES:
                print_headline(console, planned)
                game = play_and_narrate(console, target, demo, planned, moves=moves)
                console.print(verify_game(target, game.id, game.commitment))
                console.print()
        print_headline(console, LIVE_GAME)
        game = narrate_live(console, target)
        console.print(verify_game(target, game.id, game.commitment))
        console.print()
        console.print("Stopping the service …")
    console.print("Done.")


def print_headline(console: Console, planned: DemoGame) -> None:
    """Print the title of a game."""
    console.print()
    console.rule(Text(planned.title, "bold"))
    console.print()


def play_and_narrate(
    console: Console, target: str, demo: GameDemo, planned: DemoGame, *, moves: bool
) -> sodafountain.Game:
    """Play and narrate a game; return it."""
    with sodafountain.connect(target) as host:
        game = host.new_game(planned.options, planned.seats, seed=planned.seed)
        narrator = demo.narrator()
        for part in narrator.introduce(game.state):
            console.print(part)
        console.print("The seed of all shuffles is drawn. The commitment to it, published before the first move:")
        console.print(game.commitment.hex())
        console.print()
        for answer in play(target, game, demo, planned):
            if moves:
                for event in answer.events:
                    console.print(Text(event.text, "dim"))
            for part in narrator.narrate(answer):
                console.print(part)
        console.print(scoreboard(game.host.score()))
        console.print()
        return game


def narrate_live(console: Console, target: str) -> sodafountain.Game:
    """Play a game while a spectator prints every event that it receives; return the game."""
    console.print(
        "A spectator watches this game over the network. It receives every move immediately, but no secrets: the "
        "contents of a suitcase stay hidden until they are revealed to all seats.\n"
    )
    with sodafountain.connect(target) as host:
        game = host.new_game(LIVE_GAME.options, LIVE_GAME.seats, seed=LIVE_GAME.seed)
        with spectator(console, target, game.id):
            for _ in play(target, game, LIVE_DEMO, LIVE_GAME):
                pass
        console.print()
        console.print(scoreboard(game.host.score()))
        console.print()
        return game


def play(target: str, game: sodafountain.Game, demo: GameDemo, planned: DemoGame) -> Iterator[ApplyMoveResponse]:
    """Play a game to its end, each seat with a client of its own; yield the answer to each move."""
    with ExitStack() as clients:
        seats = [clients.enter_context(sodafountain.connect(target)).seat(game.id, token) for token in game.seat_tokens]
        rngs = [planned.rng(number) for number in range(planned.seats)]
        state = game.state
        while state.awaiting_seats:
            number = state.awaiting_seats[0]
            seen = seats[number].state(legal_moves=True)
            answer = seats[number].apply(demo.choose(seen, rngs[number]))
            yield answer
            state = answer.state


if __name__ == "__main__":
    sys.exit(main())
