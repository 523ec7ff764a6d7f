"""What watchers cost: CPU of a call while a crowd watches, beside the same call where nobody does; CPU of a message."""

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
from tools.bench.server import CONNECTION, Served

GAMES: Final = 100
WATCHERS: Final = 10
"""How many watch each game."""
MOVES_A_SECOND: Final = 2.0
"""How many moves are made in each game, if not told otherwise."""
_CALLERS: Final = 4
_PER_CONNECTION: Final = 200
_SECONDS: Final = 120.0


class Watched(NamedTuple):
    """What a crowd of watchers costs.

    Attributes:
        watchers: how many there were.
        moves_per_second: how many moves were made, in all games together.
        messages_per_second: how many messages the watchers were sent.
        message: microseconds of CPU that the server took for a message, its share of the move included.
        call_alone: microseconds of CPU of a GetGame at a server that nobody watches.
        call_ratio: how many times as many it took beside the crowd.
        threads: how many threads the server had.
    """

    watchers: int
    moves_per_second: float
    messages_per_second: float
    message: float
    call_alone: float
    call_ratio: float
    threads: int


def watched(
    crowded: Served,
    alone: Served,
    variant: Variant,
    *,
    rounds: int,
    seconds: float,
    moves_a_second: float = MOVES_A_SECOND,
) -> Watched:
    """Measures a call at two servers in turn, of which one has a crowd of watchers.

    Where crowd and server together take all there is of the processors, the ratio says nothing: then the crowd is told
    less while calls are made, and what it is told costs another amount.
    """
    with (
        _Callers(crowded.target, variant) as here,
        _Callers(alone.target, variant) as there,
        _crowd(crowded, moves_a_second) as crowd,
    ):
        told, alones, ratios, moves, messages = [], [], [], [], []
        for _ in range(rounds):
            at_rest = _Window(crowded, crowd)
            time.sleep(seconds)
            at_rest.close()
            called = _Window(crowded, crowd)
            calls = here.call(seconds)
            called.close()
            by_itself = _Window(alone, None)
            calls_alone = there.call(seconds)
            by_itself.close()
            told.append(at_rest.cpu / at_rest.messages)
            alones.append(by_itself.cpu / calls_alone)
            # What the crowd takes is counted by what it was told: beside many calls that is a little less.
            ratios.append((called.cpu - told[-1] * called.messages) / calls / alones[-1])
            moves.append(at_rest.moves / at_rest.seconds)
            messages.append(at_rest.messages / at_rest.seconds)
        return Watched(
            GAMES * WATCHERS,
            median(moves),
            median(messages),
            median(told) * 1e6,
            median(alones) * 1e6,
            median(ratios),
            crowded.threads(),
        )


class _Window:
    """What happened between two moments.

    Attributes:
        cpu: seconds of CPU that the server used.
        seconds: how long it lasted.
        moves: how many moves the crowd made.
        messages: how many messages the crowd was sent.
    """

    def __init__(self, server: Served, crowd: "_Crowd | None") -> None:
        self._server = server
        self._crowd = crowd
        self.moves, self.messages = crowd.counts() if crowd else (0, 0)
        self.cpu, self.seconds = server.cpu(), time.monotonic()

    def close(self) -> None:
        """Ends it."""
        self.cpu, self.seconds = self._server.cpu() - self.cpu, time.monotonic() - self.seconds
        moves, messages = self._crowd.counts() if self._crowd else (0, 0)
        self.moves, self.messages = moves - self.moves, messages - self.messages


class _Callers:
    """Some who look at games of their own again and again, each over a connection of its own."""

    def __init__(self, target: str, variant: Variant) -> None:
        self._channels = [grpc.insecure_channel(target, CONNECTION) for _ in range(_CALLERS)]
        self._stubs = [GameServiceStub(channel) for channel in self._channels]
        made = script(variant, 0)
        request = pb.NewGameRequest(options=made.options, seat_count=made.seats, seed=made.seed)
        self._games = [stub.NewGame(request, timeout=_SECONDS).state.game_id for stub in self._stubs]

    def __enter__(self) -> "_Callers":
        return self

    def __exit__(self, *_: object) -> None:
        for channel in self._channels:
            channel.close()

    def call(self, seconds: float) -> int:
        """Calls for so long; returns how often."""
        made = [0] * _CALLERS
        until = time.monotonic() + seconds

        def call(number: int) -> None:
            request = pb.GetGameRequest(game_id=self._games[number])
            while time.monotonic() < until:
                self._stubs[number].GetGame(request, timeout=_SECONDS)
                made[number] += 1

        threads = [threading.Thread(target=call, args=(number,)) for number in range(_CALLERS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(made)


class _Crowd:
    """The watchers and players, in a process of their own."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def counts(self) -> tuple[int, int]:
        """Tells how many moves were made and messages received so far."""
        self._connection.send(None)
        moves, messages = self._connection.recv()
        return moves, messages


@contextmanager
def _crowd(server: Served, moves_a_second: float) -> Iterator[_Crowd]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    scripts = [script(next(variants()), number) for number in range(GAMES)]
    process = context.Process(
        target=_watch_and_play, args=(server.target, scripts, moves_a_second, theirs), daemon=True
    )
    process.start()
    try:
        ours.recv()  # all watch
        yield _Crowd(ours)
    finally:
        ours.close()
        process.join(10)
        if process.is_alive():
            process.kill()


def _watch_and_play(target: str, scripts: Sequence[Script], moves_a_second: float, parent: Connection) -> None:
    with suppress(EOFError, BrokenPipeError):
        asyncio.run(_Play(target, scripts, moves_a_second, parent).run())


class _Play:
    """Watches and plays until the parent closes its end of the pipe."""

    def __init__(self, target: str, scripts: Sequence[Script], moves_a_second: float, parent: Connection) -> None:
        self._target = target
        self._scripts = scripts
        self._pace = moves_a_second
        self._parent = parent
        self._moves = 0
        self._messages = 0

    async def run(self) -> None:
        """Watches and plays."""
        count = GAMES * WATCHERS // _PER_CONNECTION
        channels = [grpc.aio.insecure_channel(self._target, CONNECTION) for _ in range(count + 1)]
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
        await asyncio.sleep(number / GAMES / self._pace)
        started = time.monotonic()
        for step, (seat, move) in enumerate(self._scripts[number].moves):
            await asyncio.sleep(started + step / self._pace - time.monotonic())
            request = pb.ApplyMoveRequest(
                game_id=game.state.game_id, seat=seat, move=move, request_id=str(uuid.uuid4())
            )
            await stub.ApplyMove(request, metadata=(("authorization", f"Bearer {game.host_token}"),))
            self._moves += 1
