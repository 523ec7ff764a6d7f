"""What is not a call: the engine's pace, snapshots, the store's memory, the service's memory, start-up."""

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

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tools.bench.games import Variant, playout, script
from tools.bench.server import CONNECTION

_SECONDS: Final = 30.0


class Pace(NamedTuple):
    """How fast the rules are: decisions per second of one core, and how long games are."""

    game: str
    seats: int
    decisions_per_second: float
    decisions_per_game: float
    largest_snapshot: int
    mean_snapshot: float


def pace(variant: Variant, seats: int, *, seconds: float) -> Pace:
    """Plays games by chance, asking for the legal moves before each: a decision is both."""
    game, codec = variant.kind.game, variant.kind.codec
    decisions = games = 0
    started = time.process_time()
    while time.process_time() - started < seconds:
        decisions += sum(1 for _ in playout(game, variant.options, seats, games))
        games += 1
    spent = time.process_time() - started
    sizes = [
        len(codec.encode_snapshot(state))
        for number in range(20)
        for state, _, _ in playout(game, variant.options, seats, number)
    ]
    return Pace(variant.name, seats, decisions / spent, decisions / games, max(sizes), sum(sizes) / len(sizes))


class Memory(NamedTuple):
    """What a game takes in the store, its log included, in bytes."""

    game: str
    new: float
    finished: float


def memory(target: str, store_url: str, variant: Variant, *, games: int) -> Memory:
    """Makes games and plays them out, and sees what the store's memory grows by."""
    with Redis.from_url(store_url) as store, grpc.insecure_channel(target, CONNECTION) as channel:
        stub = GameServiceStub(channel)

        def used() -> int:
            return int(store.info("memory")["used_memory"])

        scripts = [script(variant, number) for number in range(games)]
        before = used()
        made = [
            stub.NewGame(
                pb.NewGameRequest(options=s.options, seat_count=s.seats, seed=s.seed, request_id=str(uuid.uuid4())),
                timeout=_SECONDS,
            )
            for s in scripts
        ]
        new = used()
        for written, game in zip(scripts, made, strict=True):
            metadata = (("authorization", f"Bearer {game.host_token}"),)
            for seat, move in written.moves:
                request = pb.ApplyMoveRequest(
                    game_id=game.state.game_id, seat=seat, move=move, request_id=str(uuid.uuid4())
                )
                stub.ApplyMove(request, metadata=metadata, timeout=_SECONDS)
        return Memory(variant.name, (new - before) / games, (used() - before) / games)


def start_up(times: int) -> float:
    """Seconds from the command to SERVING, with the embedded store; the median of several starts."""
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
