"""Many watchers of one process: none needs its own thread, misses a message, or is counted after it has left."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from sodafountain.v1.soda_jerk_pb2 import FLAVOR_KIWI
from tests.support import forging
from tests.support.game_clients import Game, GameClient, new_game
from tests.support.long_cases import long_case
from tests.support.moves import flip
from tests.support.processes import resident_mib, threads
from tests.support.service import Service, channel_to, running, two_services
from tests.support.simultaneous_game_service import SimultaneousGameService
from tests.support.store_servers import Server, eventually
from tests.support.watching import check_complete, ends_of

GAMES = 100
ROUNDS = 4
MOVES_A_SECOND = 2.0
PER_CONNECTION = 200
STREAM_SECONDS = 120.0


@asynccontextmanager
async def connections(target: str, number: int) -> AsyncIterator[list[Any]]:
    """Open connections for watchers. A connection carries at most 256 streams."""
    options = (("grpc.use_local_subchannel_pool", 1),)
    channels = [grpc.aio.insecure_channel(target, options) for _ in range(number)]
    try:
        yield [GameServiceStub(channel) for channel in channels]
    finally:
        for channel in channels:
            await channel.close()


def watch(stub: Any, caller: GameClient) -> Any:
    """Start to watch."""
    return stub.WatchGame(pb.WatchGameRequest(game_id=caller.game_id), metadata=caller.metadata, timeout=STREAM_SECONDS)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[tuple[Service, Service]]:
    """Two processes with the simultaneous game, whose legal moves are known."""
    with (
        Server(tmp_path / "store") as store,
        two_services(tmp_path, store.url, f"--rounds={ROUNDS}", kind=SimultaneousGameService) as both,
    ):
        yield both


def play_all(services: Sequence[Service], games: Sequence[Game]) -> None:
    """Play all games concurrently at a steady pace, every second move through the other process."""
    with (
        channel_to(services[0].target) as one,
        channel_to(services[1].target) as two,
        ThreadPoolExecutor(4) as players,
    ):
        stubs = [GameServiceStub(one), GameServiceStub(two)]

        def move(game: Game, number: int) -> None:
            seat = game.seats[number % 2].at(stubs[(number + 1) % 2])
            seat.apply(flip(FLAVOR_KIWI, 1 + number % 9), timeout=STREAM_SECONDS)

        started = time.monotonic()
        for number in range(2 * ROUNDS):
            time.sleep(
                max(started + number / MOVES_A_SECOND - time.monotonic(), 0)
            )  # keeps the pace; waits for nothing
            list(players.map(lambda game, number=number: move(game, number), games))


@pytest.mark.parametrize("number", [40, long_case(100)])
def test_each_of_ten_watchers_a_game_misses_and_repeats_nothing(services: tuple[Service, Service], number: int) -> None:
    one, _ = services
    alone = threads(one.process.pid)

    async def watch_all(games: Sequence[Game]) -> tuple[list[list[pb.WatchGameResponse]], int]:
        """Watch every game with ten watchers while it is played; return the messages and the number of threads."""
        async with connections(one.target, number * 10 // PER_CONNECTION) as stubs:
            streams = []
            for at, game in enumerate(games):
                for watcher in range(10):
                    caller = (*game.seats, game.spectator)[watcher % 3]
                    streams.append(watch(stubs[(10 * at + watcher) // PER_CONNECTION], caller))
            firsts = [await stream.read() for stream in streams]
            watched = threads(one.process.pid)
            playing = asyncio.get_running_loop().run_in_executor(None, play_all, services, games)
            rests = await asyncio.gather(*[rest(stream) for stream in streams])
            await playing
        return [[first, *more] for first, more in zip(firsts, rests, strict=True)], watched

    async def rest(stream: Any) -> list[pb.WatchGameResponse]:
        messages = []
        while (message := await stream.read()) is not grpc.aio.EOF:
            messages.append(message)
        return messages

    with channel_to(one.target) as channel:
        games = [new_game(GameServiceStub(channel), 2) for _ in range(number)]
    received, watched = asyncio.run(watch_all(games))

    assert len(received) == 10 * number
    for messages in received:
        assert check_complete(messages) == 1 + 2 * ROUNDS
        assert ends_of(messages) == ["FINISHED"]
    assert watched < alone + 20  # one thread for each watcher would be more


@pytest.mark.parametrize("number", [200, long_case(1000)])
def test_watchers_that_leave_are_forgotten(number: int, tmp_path: Path) -> None:
    """The limit admits only one group of watchers at a time: a watcher that stayed would keep another out."""

    async def come_and_go(games: Sequence[Game], target: str) -> None:
        async with connections(target, number // PER_CONNECTION) as stubs:
            streams = [watch(stubs[at // PER_CONNECTION], games[at % GAMES].spectator) for at in range(number)]
            for stream in streams:
                assert (await stream.read()).HasField("snapshot")
            for stream in streams:
                stream.cancel()

    with (
        Server(tmp_path / "store") as store,
        store.client() as raw,
        running(tmp_path / "one", "--store-url", store.url, *admitting(number), env=KEYS) as service,
        channel_to(service.target) as channel,
    ):
        games = [new_game(GameServiceStub(channel), 2) for _ in range(GAMES)]
        pid = service.process.pid
        sizes: list[float] = []
        for _ in range(10):
            asyncio.run(come_and_go(games, service.target))
            eventually(lambda: not raw.execute_command("PUBSUB", "CHANNELS", "*"))
            eventually(lambda: closed(service) == number * (len(sizes) + 1))
            sizes.append(resident_mib(pid))

        eventually(lambda: threads(pid) < 50)
        # The memory goes up and down with the garbage collector: compare the lowest values of both halves.
        assert min(sizes[5:]) - min(sizes[:5]) < 5, f"it grew: {sizes}"


def admitting(number: int) -> tuple[str, ...]:
    """Return the flags that admit so many watchers, all of them spectators of one caller."""
    limits = ("watchers", "spectators", "spectators-per-game", "watchers-per-caller")
    return tuple(f"--max-{limit}={number}" for limit in limits)


KEYS = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}


def closed(service: Service) -> int:
    """Return the number of streams that have ended, by the service's log."""
    return service.log_file.read_text().count('"method":"WatchGame"')
