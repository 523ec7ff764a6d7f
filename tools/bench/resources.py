"""Speed of the engine, size of snapshots, memory of the store, and start-up time of the service."""

import subprocess
import sys
import tempfile
import time
import uuid
from pathlib import Path
from statistics import median
from typing import Final, NamedTuple

import grpc
from redis import Redis

from engine.rng import Rng
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
    """The store memory of a game including its log, in bytes."""

    game: str
    new: float
    finished: float


def measure_memory(target: str, store_url: str, variant: Variant, *, games: int) -> Memory:
    """Create and finish games, and measure the growth of the store's memory."""
    with Redis.from_url(store_url) as store, grpc.insecure_channel(target, CHANNEL_OPTIONS) as channel:
        stub = GameServiceStub(channel)

        def used() -> int:
            return int(store.info("memory")["used_memory"])

        scripts = [script(variant, number) for number in range(games)]
        before = used()
        created = [
            stub.NewGame(
                pb.NewGameRequest(options=s.options, seat_count=s.seats, seed=s.seed, request_id=str(uuid.uuid4())),
                timeout=_SECONDS,
            )
            for s in scripts
        ]
        new = used()
        for planned, game in zip(scripts, created, strict=True):
            metadata = (("authorization", f"Bearer {game.host_token}"),)
            for seat, move in planned.moves:
                request = pb.ApplyMoveRequest(
                    game_id=game.state.game_id, seat=seat, move=move, request_id=str(uuid.uuid4())
                )
                stub.ApplyMove(request, metadata=metadata, timeout=_SECONDS)
        return Memory(variant.name, (new - before) / games, (used() - before) / games)


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
