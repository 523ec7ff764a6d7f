"""Runs the demo: starts a service, plays the programme of every kind of game, has each game verified, stops."""

import argparse
import signal
import sys
from collections.abc import Iterator
from contextlib import ExitStack

from rich.console import Console
from rich.text import Text

import sodafountain
from clients.demo import juices, soda_jerk, soda_smugglers
from clients.demo.scoreboard import scoreboard
from clients.demo.protocols import Programme, Show
from clients.demo.spectator import spectator
from clients.own_service import ServiceTrouble, own_service, verified
from sodafountain.v1.game_service_pb2 import ApplyMoveResponse
from sodafountain.v1.soda_smugglers_pb2 import SodaSmugglersOptions

# Every kind of game that is shown, in order.
SHOWS: tuple[Show, ...] = (soda_jerk, soda_smugglers, juices)
# What a spectator tells live.
LIVE_SHOW: Show = soda_smugglers
LIVE = Programme("Soda Smugglers: three seats, as a spectator sees it", SodaSmugglersOptions(), seats=3, deal=1)
PLAIN_WIDTH = 100


def main() -> int:
    """Runs the demo as the command line says; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m clients.demo", description="Play whole games and verify them.")
    parser.add_argument("--moves", action="store_true", help="tell every move too")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    console = Console(markup=False, highlight=False)
    if not sys.stdout.isatty():
        console = Console(markup=False, highlight=False, color_system=None, width=PLAIN_WIDTH)
    try:
        run(console, moves=arguments.moves)
    except (ServiceTrouble, sodafountain.SodaFountainError) as error:
        print(f"demo: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    return 0


def run(console: Console, *, moves: bool) -> None:
    """Plays every game of the programme on a service of its own, and has each verified."""
    console.print("Starting a service with its own store …")
    with own_service() as target:
        for show in SHOWS:
            for programme in show.PROGRAMME:
                headline(console, programme)
                game_id = tell(console, target, show, programme, moves=moves)
                console.print(verified(target, game_id))
                console.print()
        headline(console, LIVE)
        console.print(verified(target, tell_live(console, target)))
        console.print()
        console.print("Stopping the service …")
    console.print("Done.")


def headline(console: Console, programme: Programme) -> None:
    """Begins to show a game."""
    console.print()
    console.rule(Text(programme.title, "bold"))
    console.print()


def tell(console: Console, target: str, show: Show, programme: Programme, *, moves: bool) -> str:
    """Plays and tells a game; returns its id."""
    with sodafountain.connect(target) as host:
        game = host.new_game(programme.options, programme.seats, seed=programme.seed)
        story = show.story()
        for part in story.begin(game.state):
            console.print(part)
        commitment = game.seed_commitment.hex()
        console.print(f"The seed of all shuffles is drawn. Its SHA-256, published before the first move:\n{commitment}")
        console.print()
        for answer in play(target, game, show, programme):
            if moves:
                for event in answer.events:
                    console.print(Text(event.text, "dim"))
            for part in story.go_on(answer):
                console.print(part)
        console.print(scoreboard(game.host.score(), programme.seats))
        console.print()
        return game.id


def tell_live(console: Console, target: str) -> str:
    """Plays a game of which a spectator tells what it sees, as it happens; returns the game's id."""
    console.print(
        "A spectator watches over the network. It hears of every move as it is made, and of no secret: what a seat has "
        "packed shows to it when it shows to everybody.\n"
    )
    with sodafountain.connect(target) as host:
        game = host.new_game(LIVE.options, LIVE.seats, seed=LIVE.seed)
        with spectator(console, target, game.id):
            for _ in play(target, game, LIVE_SHOW, LIVE):
                pass
        console.print()
        console.print(scoreboard(game.host.score(), LIVE.seats))
        console.print()
        return game.id


def play(target: str, game: sodafountain.Game, show: Show, programme: Programme) -> Iterator[ApplyMoveResponse]:
    """Plays a game to its end, each seat over a client of its own; gives what each move brought."""
    with ExitStack() as clients:
        seats = [clients.enter_context(sodafountain.connect(target)).seat(game.id, token) for token in game.seat_tokens]
        chances = [programme.chance(number) for number in range(programme.seats)]
        state = game.state
        while state.awaiting_seats:
            number = state.awaiting_seats[0]
            seen = seats[number].state(legal_moves=True)
            answer = seats[number].apply(show.choose(seen, chances[number]))
            yield answer
            state = answer.state


if __name__ == "__main__":
    sys.exit(main())
