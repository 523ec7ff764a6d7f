"""The cost of watchers: CPU time of a message, and of a call with many watchers in comparison with none."""

import asyncio
import multiprocessing
import threading
import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from statistics import median
from typing import Any, Final, NamedTuple

import grpc

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import Script, Variant, script, variants
from tools.bench.server import CHANNEL_OPTIONS, ServerProcess

GAMES: Final = 100
WATCHERS: Final = 10
"""The number of watchers per game."""
MOVES_PER_SECOND: Final = 2.0
"""The default number of moves per second in each game."""
_CALLERS: Final = 4
_PER_CONNECTION: Final = 200
_SECONDS: Final = 120.0


class WatcherCost(NamedTuple):
    """The cost of many watchers.

    Attributes:
        watchers: the number of watchers.
        moves_per_second: the number of moves per second in all games together.
        messages_per_second: the number of messages per second to all watchers.
        message: the server's CPU time per message including its share of the move, in microseconds.
        call_alone: the CPU time of a GetGame at a server without watchers, in microseconds.
        call_ratio: the ratio of the CPU time of a GetGame with watchers to that without.
        threads: the number of threads of the server.
    """

    watchers: int
    moves_per_second: float
    messages_per_second: float
    message: float
    call_alone: float
    call_ratio: float
    threads: int


def measure_watchers(
    crowded: ServerProcess,
    alone: ServerProcess,
    variant: Variant,
    *,
    rounds: int,
    seconds: float,
    moves_per_second: float = MOVES_PER_SECOND,
) -> WatcherCost:
    """Measure a call at two servers in turn, of which one has many watchers.

    The ratio is meaningless if crowd and server together use all cores: during the calls the crowd then receives fewer
    messages, and the cost of a message changes.
    """
    with (
        _Callers(crowded.target, variant) as crowded_callers,
        _Callers(alone.target, variant) as alone_callers,
        _crowd(crowded, moves_per_second) as crowd,
    ):
        message_costs, alone_costs, ratios, moves, messages = [], [], [], [], []
        for _ in range(rounds):
            idle = _Window(crowded, crowd)
            time.sleep(seconds)
            idle.close()
            busy = _Window(crowded, crowd)
            calls = crowded_callers.call(seconds)
            busy.close()
            alone_window = _Window(alone, None)
            calls_alone = alone_callers.call(seconds)
            alone_window.close()
            message_costs.append(idle.cpu / idle.messages)
            alone_costs.append(alone_window.cpu / calls_alone)
            # Subtract the cost of the messages actually sent: with many calls it is slightly lower.
            ratios.append((busy.cpu - message_costs[-1] * busy.messages) / calls / alone_costs[-1])
            moves.append(idle.moves / idle.seconds)
            messages.append(idle.messages / idle.seconds)
        return WatcherCost(
            GAMES * WATCHERS,
            median(moves),
            median(messages),
            median(message_costs) * 1e6,
            median(alone_costs) * 1e6,
            median(ratios),
            crowded.threads(),
        )


class _Window:
    """Measurements over a period of time.

    Attributes:
        cpu: the CPU time of the server in seconds.
        seconds: the length of the period.
        moves: the number of moves that the crowd made.
        messages: the number of messages that the crowd received.
    """

    def __init__(self, server: ServerProcess, crowd: "_Crowd | None") -> None:
        self._server = server
        self._crowd = crowd
        self.moves, self.messages = crowd.counts() if crowd else (0, 0)
        self.cpu, self.seconds = server.cpu(), time.monotonic()

    def close(self) -> None:
        """End the period."""
        self.cpu, self.seconds = self._server.cpu() - self.cpu, time.monotonic() - self.seconds
        moves, messages = self._crowd.counts() if self._crowd else (0, 0)
        self.moves, self.messages = moves - self.moves, messages - self.messages


class _Callers:
    """Callers that read their games repeatedly, each with its own connection."""

    def __init__(self, target: str, variant: Variant) -> None:
        self._channels = [grpc.insecure_channel(target, CHANNEL_OPTIONS) for _ in range(_CALLERS)]
        self._stubs = [GameServiceStub(channel) for channel in self._channels]
        planned = script(variant, 0)
        request = pb.NewGameRequest(options=planned.options, seat_count=planned.seats, seed=planned.seed)
        self._games = [stub.NewGame(request, timeout=_SECONDS).state.game_id for stub in self._stubs]

    def __enter__(self) -> "_Callers":
        return self

    def __exit__(self, *_: object) -> None:
        for channel in self._channels:
            channel.close()

    def call(self, seconds: float) -> int:
        """Make calls for this time; return their number."""
        counts = [0] * _CALLERS
        until = time.monotonic() + seconds

        def call(number: int) -> None:
            request = pb.GetGameRequest(game_id=self._games[number])
            while time.monotonic() < until:
                self._stubs[number].GetGame(request, timeout=_SECONDS)
                counts[number] += 1

        threads = [threading.Thread(target=call, args=(number,)) for number in range(_CALLERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(counts)


class _Crowd:
    """Watchers and players in a separate process."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def counts(self) -> tuple[int, int]:
        """Return the number of moves made and messages received so far."""
        self._connection.send(None)
        moves, messages = self._connection.recv()
        return moves, messages


@contextmanager
def _crowd(server: ServerProcess, moves_per_second: float) -> Iterator[_Crowd]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    scripts = [script(next(variants()), number) for number in range(GAMES)]
    process = context.Process(
        target=_watch_and_play, args=(server.target, scripts, moves_per_second, theirs), daemon=True
    )
    process.start()
    try:
        ours.recv()  # all watches are open
        yield _Crowd(ours)
    finally:
        ours.close()
        process.join(10)
        if process.is_alive():
            process.kill()


def _watch_and_play(target: str, scripts: Sequence[Script], moves_per_second: float, parent: Connection) -> None:
    with suppress(EOFError, BrokenPipeError):
        asyncio.run(_Play(target, scripts, moves_per_second, parent).run())


class _Play:
    """Watches and plays games until the parent closes its end of the pipe."""

    def __init__(self, target: str, scripts: Sequence[Script], moves_per_second: float, parent: Connection) -> None:
        self._target = target
        self._scripts = scripts
        self._moves_per_second = moves_per_second
        self._parent = parent
        self._moves = 0
        self._messages = 0

    async def run(self) -> None:
        """Open all watches, then play."""
        count = GAMES * WATCHERS // _PER_CONNECTION
        channels = [grpc.aio.insecure_channel(self._target, CHANNEL_OPTIONS) for _ in range(count + 1)]
        stubs: list[Any] = [GameServiceStub(channel) for channel in channels]
        games = [
            await stubs[-1].NewGame(pb.NewGameRequest(options=s.options, seat_count=s.seats, seed=s.seed))
            for s in self._scripts
        ]
        watches = [
            stubs[number % count].WatchGame(pb.WatchGameRequest(game_id=games[number % GAMES].state.game_id))
            for number in range(GAMES * WATCHERS)
        ]
        for watch in watches:
            await watch.read()
        self._parent.send("watching")
        tasks = [asyncio.create_task(self._read(watch)) for watch in watches]
        tasks += [asyncio.create_task(self._play(stubs[-1], game, number)) for number, game in enumerate(games)]
        await asyncio.get_running_loop().run_in_executor(None, self._answer)
        for task in tasks:
            task.cancel()
        for channel in channels:
            await channel.close(None)

    def _answer(self) -> None:
        while True:
            try:
                self._parent.recv()
            except EOFError:
                return
            self._parent.send((self._moves, self._messages))

    async def _read(self, watch: Any) -> None:
        while await watch.read() is not grpc.aio.EOF:
            self._messages += 1

    async def _play(self, stub: Any, game: pb.NewGameResponse, number: int) -> None:
        await asyncio.sleep(number / GAMES / self._moves_per_second)
        started = time.monotonic()
        for step, (seat, move) in enumerate(self._scripts[number].moves):
            await asyncio.sleep(started + step / self._moves_per_second - time.monotonic())
            request = pb.ApplyMoveRequest(
                game_id=game.state.game_id, seat=seat, move=move, request_id=str(uuid.uuid4())
            )
            await stub.ApplyMove(request, metadata=(("authorization", f"Bearer {game.host_token}"),))
            self._moves += 1
