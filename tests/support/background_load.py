"""Many players at once, who keep services busy while a test does its worst."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from tests.support.game_clients import ADVANCED, BASIC, Game, GameClient, new_game
from tests.support.move_log import MoveLog, check_history, full_history
from tests.support.retrying_client import RETRY_SECONDS, RetryingClient


class BackgroundLoad:
    """Players of Soda Jerk. Each plays all seats of game after game until told that it is enough.

    Attributes:
        refusals: how often calls were UNAVAILABLE and why.
        games: how many games were played to their ends and proved.
        repeated: how many moves had been made when they were asked for again.
    """

    def __init__(self, targets: Sequence[str]) -> None:
        self._targets = targets
        self._move_logs: list[MoveLog] = []
        self._enough = threading.Event()
        self._players: list[Future[None]] = []
        self.errors: Counter[str] = Counter()
        self.games = 0
        self._counting = threading.Lock()

    @property
    def moves(self) -> int:
        """How many moves were acknowledged so far."""
        return sum(len(move_log.moves) for move_log in tuple(self._move_logs))

    @property
    def repeated(self) -> int:
        """How many acknowledgements said that the move had been made before."""
        return sum(move.repeated for move_log in self._move_logs for move in move_log.moves)

    def wait_for_moves(self, moves: int) -> None:
        """Waits for so many more acknowledged moves. Raises what a player ran into."""
        aim, deadline = self.moves + moves, time.monotonic() + RETRY_SECONDS
        while self.moves < aim:
            done, _ = wait(self._players, timeout=0.01, return_when=FIRST_EXCEPTION)
            for player in done:
                player.result()
            assert time.monotonic() < deadline, f"the play came to a halt: {self.errors}"

    def play(self, number: int) -> None:
        """Plays as one of the players; every second begins at the last service."""
        targets = self._targets if number % 2 else tuple(reversed(self._targets))
        chance = random.Random(number)
        with RetryingClient(targets) as client:
            try:
                while not self._enough.is_set():
                    self._play_one(client, chance)
            finally:
                with self._counting:
                    self.errors.update(client.errors)

    def _play_one(self, client: RetryingClient, chance: random.Random) -> None:
        game = self._seated(client, chance)
        move_log = MoveLog()
        self._move_logs.append(move_log)
        move_log.play(client, game, chance)
        check_history(full_history(client, game.spectator), move_log.moves)
        with self._counting:
            self.games += 1

    @staticmethod
    def _seated(client: RetryingClient, chance: random.Random) -> Game:
        seats, options = chance.randint(2, 4), chance.choice((BASIC, ADVANCED))
        request_id = str(uuid.uuid4())
        anybody = GameClient(client.stub, "")
        return client.call(lambda caller: new_game(caller.stub, seats, options, request_id=request_id), anybody)

    def start(self, threads: ThreadPoolExecutor, players: int) -> None:
        """Lets the players begin."""
        self._players = [threads.submit(self.play, number) for number in range(players)]

    def stop(self) -> None:
        """Lets every player end the game at hand, and raises what one of them ran into."""
        self._enough.set()
        for player in self._players:
            player.result()


@contextmanager
def background_load(*targets: str, players: int) -> Iterator[BackgroundLoad]:
    """Lets players play at services for the length of the block, and on until their games are over and proved."""
    load = BackgroundLoad(targets)
    with ThreadPoolExecutor(players) as threads:
        load.start(threads, players)
        try:
            yield load
        finally:
            load.stop()
