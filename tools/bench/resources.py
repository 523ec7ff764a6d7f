"""Speed of the engine, size of snapshots, memory of the store, and start-up time of the service."""

import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple, cast

import grpc
from redis import Redis

from engine.rng import Rng
from service.store.keys import game_keys
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import Variant, playout, script, seed
from tools.bench.server import CHANNEL_OPTIONS

_SECONDS: Final = 30.0


class Pace(NamedTuple):
    """Speed of the rules in decisions per second on one core, length of games, and size of snapshots.

    `decisions_per_second` includes the set-up of games, `without_set_up` does not. `decisions_per_yardstick` is the
    number of decisions in the time of a fixed computation. A slow machine slows down both, so that this figure is
    comparable between machines.
    """

    game: str
    seats: int
    decisions_per_second: float
    without_set_up: float
    decisions_per_yardstick: float
    decisions_per_game: float
    largest_snapshot: int
    mean_snapshot: float


def measure_pace(variant: Variant, seats: int, *, seconds: float) -> Pace:
    """Play random games. A decision consists of listing the legal moves and making one of them."""
    game, codec = variant.kind.game, variant.kind.codec
    decisions = games = 0
    playing = setting_up = measuring = 0.0
    while playing < seconds:
        started = time.process_time()
        decisions += sum(1 for _ in playout(game, variant.options, seats, games))
        played = time.process_time()
        game.new_game(variant.options, seats, Rng(seed(games)))
        set_up = time.process_time()
        yardstick()
        games += 1
        playing += played - started
        setting_up += set_up - played
        measuring += time.process_time() - set_up
    sizes = [
        len(codec.encode_snapshot(state, game.about.schema))
        for number in range(20)
        for state, _, _ in playout(game, variant.options, seats, number)
    ]
    return Pace(
        game=variant.name,
        seats=seats,
        decisions_per_second=decisions / playing,
        without_set_up=decisions / (playing - setting_up),
        decisions_per_yardstick=(decisions / playing) * (measuring / games),
        decisions_per_game=decisions / games,
        largest_snapshot=max(sizes),
        mean_snapshot=sum(sizes) / len(sizes),
    )


def yardstick() -> int:
    """Run a fixed computation that resembles the rules: values, tuples, a dictionary, calls."""
    counts: dict[tuple[int, ...], int] = {}
    for number in range(400):
        rng = Rng(b"", number)
        key = tuple(sorted((rng.position % 7, number % 11, number % 3)))
        counts[key] = counts.get(key, 0) + len(rng.seed)
    return len(counts)


class Memory(NamedTuple):
    """The store memory of games, in bytes, each with its key and everything that the server needs for it.

    Attributes:
        game: the preset.
        seats: the number of seats.
        new: a new game; the largest of those measured.
        unfinished: a game before its last move; the largest.
        finished: a game after its end, with its log; the mean.
        largest: a game after its end; the largest.
    """

    game: str
    seats: int
    new: int
    unfinished: int
    finished: float
    largest: int


def measure_memory(target: str, store_url: str, variant: Variant, *, games: int) -> Memory:
    """Create and finish games, and let the server report the memory of their keys."""
    with Redis.from_url(store_url) as store, grpc.insecure_channel(target, CHANNEL_OPTIONS) as channel:
        stub = GameServiceStub(channel)
        sizes = [_sizes(stub, store, variant, number) for number in range(games)]
    new, unfinished, finished = zip(*sizes, strict=True)
    return Memory(variant.name, variant.seats, max(new), max(unfinished), sum(finished) / games, max(finished))


def _sizes(stub: GameServiceStub, store: Redis, variant: Variant, number: int) -> tuple[int, int, int]:
    """Play a game; return its memory when it is new, before its last move and after its end."""
    planned = script(variant, number)
    request = pb.NewGameRequest(
        options=planned.options, seat_count=planned.seats, seed=planned.seed, request_id=str(uuid.uuid4())
    )
    created = stub.NewGame(request, timeout=_SECONDS)
    game_id, host = created.state.game_id, (("authorization", f"Bearer {created.host_token}"),)
    sizes = [_used(store, game_id)]
    for step, (seat, move) in enumerate(planned.moves, start=1):
        if step == len(planned.moves):
            sizes.append(_used(store, game_id))
        stub.ApplyMove(
            pb.ApplyMoveRequest(game_id=game_id, seat=seat, move=move, request_id=str(uuid.uuid4())),
            metadata=host,
            timeout=_SECONDS,
        )
    return sizes[0], sizes[1], _used(store, game_id)


def _used(store: Redis, game_id: str) -> int:
    return int(cast("int", store.memory_usage(game_keys(game_id).game, samples=0)))


def measure_start_up(times: int) -> float:
    """Return the median time in seconds from the command to SERVING, with the embedded store."""
    seconds = []
    for _ in range(times):
        with tempfile.TemporaryDirectory(prefix="sf-") as folder:
            port_file = Path(folder, "port")
            flags = ("--port=0", f"--port-file={port_file}", f"--data-dir={folder}")
            command = [sys.executable, "-m", "service", "serve", *flags]
            started = time.perf_counter()
            process = subprocess.Popen(command, stderr=subprocess.DEVNULL)  # noqa: S603 - our own command
            try:
                while not port_file.exists() and process.poll() is None:
                    time.sleep(0.002)
                seconds.append(time.perf_counter() - started)
            finally:
                process.terminate()
                process.wait(30)
    return median(seconds)
