"""A well-behaved client that plays during an attack and measures its calls."""

import random
import threading
import time
from types import TracebackType
from typing import Any, Final, Self

import grpc

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import SECONDS, Game, new_game

MAX_LATENCY: Final = SECONDS / 4
"""The limit for the duration of its calls, in seconds. Their deadlines are `SECONDS`."""


MOVES: Final = 12
"""The number of moves that shows that a new game can be played."""


class _Timed:
    """A stub that measures its slowest call."""

    def __init__(self, stub: GameServiceStub, slowest: list[float]) -> None:
        self._stub = stub
        self._slowest = slowest

    def __getattr__(self, method: str) -> Any:
        call = getattr(self._stub, method)

        def timed(*arguments: Any, **named: Any) -> Any:
            started = time.monotonic()
            try:
                return call(*arguments, **named)
            finally:
                self._slowest[0] = max(self._slowest[0], time.monotonic() - started)

        return timed


class ProbeClient:
    """Play games on a connection of its own during the block. Stop at the first call that fails.

    Attributes:
        games: the number of games that were played to the end.
        moves: the number of moves.
    """

    def __init__(self, target: str) -> None:
        self.games = 0
        self.moves = 0
        self._target = target
        self._slowest = [0.0]
        self._fresh = False  # whether to abandon the current game for a new one
        self._failed: BaseException | None = None
        self._over = threading.Event()
        self._moved = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="probe")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    @property
    def slowest(self) -> float:
        """The duration of the slowest call, in seconds."""
        return self._slowest[0]

    def play_a_game(self) -> None:
        """Wait until a whole game has been played from now on, and check that no call was slow."""
        with self._moved:
            expected = self.games + 1
            self._fresh = True
            self._moved.wait_for(lambda: self.games >= expected or self._failed is not None, 60)
        self._check(self.games >= expected)

    def start_a_game(self) -> None:
        """Wait until a new game has been created and moves made in it, and check that no call was slow."""
        with self._moved:
            expected = self.moves + MOVES
            self._fresh = True
            self._moved.wait_for(lambda: self.moves >= expected or self._failed is not None, 60)
        self._check(self.moves >= expected)

    def _check(self, played: bool) -> None:
        if self._failed is not None:
            raise AssertionError("a call of the client failed") from self._failed
        assert played, f"only {self.games} games and {self.moves} moves were played"
        assert self.slowest < MAX_LATENCY, f"a call took {self.slowest:.1f} s"

    def _run(self) -> None:
        rng = random.Random(0)
        try:
            with grpc.insecure_channel(self._target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
                stub: Any = _Timed(GameServiceStub(channel), self._slowest)
                while not self._over.is_set():
                    self._play(new_game(stub, 2), rng)
        except BaseException as error:  # noqa: BLE001 - raised again by the test's next call
            with self._moved:
                self._failed = error
                self._moved.notify_all()

    def _play(self, game: Game, rng: random.Random) -> None:
        self._fresh = False
        awaiting = game.spectator.state().awaiting_seats
        while awaiting and not self._over.is_set():
            if self._fresh:
                return
            seat = game.seats[awaiting[0]]
            legal = seat.legal()
            awaiting = seat.apply(rng.choice(legal.moves).move, etag=legal.etag).state.awaiting_seats
            with self._moved:
                self.moves += 1
                self._moved.notify_all()
        with self._moved:
            if not self._fresh:
                self.games += 1
                self._moved.notify_all()
