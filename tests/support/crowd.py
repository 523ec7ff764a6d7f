"""Many players at once, who keep services busy while a test does its worst."""

import random
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager

from tests.support.ledger import Ledger, prove, whole_history
from tests.support.players import ADVANCED, BASIC, Caller, Game, new_game
from tests.support.steadfast import PATIENCE, Steadfast


class Crowd:
    """Players of Soda Jerk. Each plays all seats of game after game until told that it is enough.

    Attributes:
        refusals: how often calls were UNAVAILABLE and why.
        games: how many games were played to their ends and proved.
        repeated: how many moves had been made when they were asked for again.
    """

    def __init__(self, targets: Sequence[str]) -> None:
        self._targets = targets
        self._ledgers: list[Ledger] = []
        self._enough = threading.Event()
        self._players: list[Future[None]] = []
        self.refusals: Counter[str] = Counter()
        self.games = 0
        self._counting = threading.Lock()

    @property
    def moves(self) -> int:
        """How many moves were acknowledged so far."""
        return sum(len(ledger.moves) for ledger in tuple(self._ledgers))

    @property
    def repeated(self) -> int:
        """How many acknowledgements said that the move had been made before."""
        return sum(move.repeated for ledger in self._ledgers for move in ledger.moves)

    def play_on(self, moves: int) -> None:
        """Waits for so many more acknowledged moves. Raises what a player ran into."""
        aim, deadline = self.moves + moves, time.monotonic() + PATIENCE
        while self.moves < aim:
            done, _ = wait(self._players, timeout=0.01, return_when=FIRST_EXCEPTION)
            for player in done:
                player.result()
            assert time.monotonic() < deadline, f"the play came to a halt: {self.refusals}"

    def play(self, number: int) -> None:
        """Plays as one of the players; every second begins at the last service."""
        targets = self._targets if number % 2 else tuple(reversed(self._targets))
        chance = random.Random(number)
        with Steadfast(targets) as steadfast:
            try:
                while not self._enough.is_set():
                    self._play_one(steadfast, chance)
            finally:
                with self._counting:
                    self.refusals.update(steadfast.refusals)

    def _play_one(self, steadfast: Steadfast, chance: random.Random) -> None:
        game = self._seated(steadfast, chance)
        ledger = Ledger()
        self._ledgers.append(ledger)
        ledger.play(steadfast, game, chance)
        prove(whole_history(steadfast, game.spectator), ledger.moves)
        with self._counting:
            self.games += 1

    @staticmethod
    def _seated(steadfast: Steadfast, chance: random.Random) -> Game:
        seats, options = chance.randint(2, 4), chance.choice((BASIC, ADVANCED))
        request_id = str(uuid.uuid4())
        anybody = Caller(steadfast.stub, "")
        return steadfast.make(lambda caller: new_game(caller.stub, seats, options, request_id=request_id), anybody)

    def gather(self, threads: ThreadPoolExecutor, players: int) -> None:
        """Lets the players begin."""
        self._players = [threads.submit(self.play, number) for number in range(players)]

    def disperse(self) -> None:
        """Lets every player end the game at hand, and raises what one of them ran into."""
        self._enough.set()
        for player in self._players:
            player.result()


@contextmanager
def playing(*targets: str, players: int) -> Iterator[Crowd]:
    """Lets players play at services for the length of the block, and on until their games are over and proved."""
    crowd = Crowd(targets)
    with ThreadPoolExecutor(players) as threads:
        crowd.gather(threads, players)
        try:
            yield crowd
        finally:
            crowd.disperse()
