"""Players that keep services busy while a test breaks something."""

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
    """Players of Soda Jerk. Each plays all seats of one game after another until it is stopped.

    Attributes:
        errors: how often calls were UNAVAILABLE, by reason.
        games: the number of games that were played to the end and checked.
        repeated: the number of moves that had already been committed when they were retried.
    """

    def __init__(self, targets: Sequence[str]) -> None:
        self._targets = targets
        self._move_logs: list[MoveLog] = []
        self._stopping = threading.Event()
        self._players: list[Future[None]] = []
        self.errors: Counter[str] = Counter()
        self.games = 0
        self._counting = threading.Lock()

    @property
    def moves(self) -> int:
        """Return the number of moves acknowledged so far."""
        return sum(len(move_log.moves) for move_log in tuple(self._move_logs))

    @property
    def repeated(self) -> int:
        """Return the number of acknowledgements with `repeated_request`."""
        return sum(move.repeated for move_log in self._move_logs for move in move_log.moves)

    def wait_for_moves(self, moves: int) -> None:
        """Wait until this many further moves are acknowledged. Raise the error of a player that failed."""
        aim, deadline = self.moves + moves, time.monotonic() + RETRY_SECONDS
        while self.moves < aim:
            done, _ = wait(self._players, timeout=0.01, return_when=FIRST_EXCEPTION)
            for player in done:
                player.result()
            assert time.monotonic() < deadline, f"no more moves are acknowledged: {self.errors}"

    def play(self, number: int) -> None:
        """Play as one of the players. Every second player starts with the last service."""
        targets = self._targets if number % 2 else tuple(reversed(self._targets))
        rng = random.Random(number)
        with RetryingClient(targets) as client:
            try:
                while not self._stopping.is_set():
                    self._play_one(client, rng)
            finally:
                with self._counting:
                    self.errors.update(client.errors)

    def _play_one(self, client: RetryingClient, rng: random.Random) -> None:
        game = self._new_game(client, rng)
        move_log = MoveLog()
        self._move_logs.append(move_log)
        move_log.play(client, game, rng)
        check_history(full_history(client, game.spectator), move_log.moves)
        with self._counting:
            self.games += 1

    @staticmethod
    def _new_game(client: RetryingClient, rng: random.Random) -> Game:
        seats, options = rng.randint(2, 4), rng.choice((BASIC, ADVANCED))
        request_id = str(uuid.uuid4())
        creator = GameClient(client.stub, "")
        return client.call(lambda caller: new_game(caller.stub, seats, options, request_id=request_id), creator)

    def start(self, threads: ThreadPoolExecutor, players: int) -> None:
        """Start the players."""
        self._players = [threads.submit(self.play, number) for number in range(players)]

    def stop(self) -> None:
        """Let every player finish its current game, and raise the error of a player that failed."""
        self._stopping.set()
        for player in self._players:
            player.result()


@contextmanager
def background_load(*targets: str, players: int) -> Iterator[BackgroundLoad]:
    """Play games during the block. At its end, finish and check the games that have started."""
    load = BackgroundLoad(targets)
    with ThreadPoolExecutor(players) as threads:
        load.start(threads, players)
        try:
            yield load
        finally:
            load.stop()
