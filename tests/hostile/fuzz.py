"""Sends requests that nobody should send, as many as wanted, and sees that the service takes no harm: `make fuzz`.

Every answer is checked: never INTERNAL or UNKNOWN, one ErrorInfo of ours and a sentence, and no secret in it. At the
end the service is the same process, answers, has as many threads as before, has not grown, and has logged neither an
error nor a secret; games whose tokens were never sent are as they were.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
import uuid
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

import grpc
from google.protobuf.message import DecodeError, Message
from google.rpc.error_details_pb2 import ErrorInfo
from google.rpc.status_pb2 import Status

from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile.mutations import mutated
from tests.support import forging, stores
from tests.support.players import Game, new_game, play
from tests.support.service import Service, channel_to, running

THREADS: Final = 4
IN_FLIGHT: Final = 32
"""How many requests each thread has under way."""
_SECONDS: Final = 60.0
_GROWTH: Final = 48 * 2**20
"""How much the service may grow after a tenth of the requests, in bytes: what it remembers is bounded."""
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]
_METHODS: Final = tuple(method for method in _SERVICE.methods if not method.server_streaming)
_FORBIDDEN: Final = (grpc.StatusCode.INTERNAL, grpc.StatusCode.UNKNOWN, grpc.StatusCode.DATA_LOSS)

Metadata = tuple[tuple[str, str | bytes], ...]


class Finding(NamedTuple):
    """Something that should not have happened, and the request that made it happen."""

    problem: str
    method: str
    request: bytes

    def __str__(self) -> str:
        return f"{self.problem}\n  {self.method} {self.request.hex()[:2000]}"


class World:
    """Games to be hostile to, and a game that must not change."""

    def __init__(self, stub: GameServiceStub, seed: int) -> None:
        chance = random.Random(seed)
        self.games = [new_game(stub, seats) for seats in (2, 3, 4, 2)]
        play(self.games[1], chance, moves=20)
        play(self.games[3], chance)
        self._stub = stub
        self._shadow = new_game(stub, 3, seed=chance.randbytes(32))
        play(self._shadow, chance, moves=12)
        self._before = self._shadow_states()
        made = self._shadow.made
        self.canaries = [token.encode() for token in (*made.seat_tokens, made.host_token)]

    def _shadow_states(self) -> list[bytes]:
        return [caller.state().SerializeToString() for caller in (*self._shadow.seats, self._shadow.spectator)]

    def shadow_changed(self) -> bool:
        """Tells whether the game whose tokens were never sent has changed."""
        return self._shadow_states() != self._before

    def valid(self, method: str, chance: random.Random) -> tuple[Message, Metadata]:
        """Makes a request that the service would take, with the metadata of somebody who might send it."""
        game = chance.choice(self.games)
        seat = chance.randrange(len(game.seats))
        request = getattr(pb, f"{method}Request")()
        fields = request.DESCRIPTOR.fields_by_name
        if "game_id" in fields:
            request.game_id = game.game_id
        if method == "NewGame":
            request.options.CopyFrom(game.made.state.options)
            request.seat_count = chance.choice((2, 3, 4))
        if method == "ApplyMove":
            move = request.move.soda_jerk
            move.flip.tap, move.flip.position = chance.randint(1, 5), chance.randint(1, 6)
            if chance.random() < 0.5:
                move.place.tap = chance.randint(1, 5)
                move.place.card.flavor, move.place.card.value = chance.randint(1, 5), chance.randint(1, 3)
        if "request_id" in fields and chance.random() < 0.7:
            request.request_id = str(uuid.UUID(int=chance.getrandbits(128), version=4))
        return request, self._metadata(game, seat, chance)

    def _metadata(self, game: Game, seat: int, chance: random.Random) -> Metadata:
        token = chance.choice((game.made.seat_tokens[seat], game.made.host_token))
        kind = chance.random()
        if kind < 0.6:
            return (("authorization", f"Bearer {token}"),)
        if kind < 0.75:
            return ()
        at = chance.randrange(len(token))
        return chance.choice(
            (
                (("authorization", f"Bearer {token[:at]}{chance.choice('aZ0._-')}{token[at + 1 :]}"),),
                (("authorization", f"Bearer {token[:at]}"),),
                (("authorization", token),),
                (("authorization", f"Basic {token}"), ("authorization", "Bearer x")),
                (("authorization", "Bearer " + "x" * 3000),),
                (("x-api-key", "k" * chance.choice((0, 1, 500))), ("trace-bin", chance.randbytes(60))),
                tuple((f"key-{number}", "v") for number in range(60)),
            )
        )


class Fuzzer:
    """Sends requests from several threads and collects findings."""

    def __init__(self, target: str, world: World, *, requests: int, seed: int) -> None:
        self._target = target
        self._world = world
        self._requests = requests
        self._seed = seed
        self.sent = 0
        self.codes: Counter[str] = Counter()
        self.findings: list[Finding] = []

    def run(self, *, progress: bool) -> None:
        """Sends everything; ten findings end it."""
        threads = [threading.Thread(target=self._send, args=(number,)) for number in range(THREADS)]
        for thread in threads:
            thread.start()
        started = time.monotonic()
        for thread in threads:
            while thread.is_alive():
                thread.join(1.0)
                if progress:
                    pace = self.sent / (time.monotonic() - started)
                    print(f"\r{self.sent:,} of {self._requests:,} requests, {pace:,.0f}/s ", end="", file=sys.stderr)
        if progress:
            print(file=sys.stderr)

    def _send(self, thread: int) -> None:
        with channel_to(self._target) as channel:
            calls: dict[str, Any] = {
                method.name: channel.unary_unary(f"/{_SERVICE.full_name}/{method.name}") for method in _METHODS
            }
            under_way: list[tuple[Any, str, bytes]] = []
            for number in range(thread, self._requests, THREADS):
                chance = random.Random(self._seed << 32 | number)
                method = chance.choice(_METHODS).name
                if method == "DeleteGame" and chance.random() < 0.9:
                    method = "ApplyMove"
                valid, metadata = self._world.valid(method, chance)
                data = mutated(valid, chance)
                if method == "DeleteGame" and data == valid.SerializeToString():
                    continue  # the games are wanted to the end
                future = calls[method].future(data, metadata=metadata, timeout=_SECONDS)
                under_way.append((future, method, data))
                if len(under_way) >= IN_FLIGHT:
                    self._check(*under_way.pop(0))
                if len(self.findings) >= 10:
                    break
            for waiting in under_way:
                self._check(*waiting)

    def _check(self, future: Any, method: str, data: bytes) -> None:
        self.sent += 1
        code = future.code()
        self.codes[code.name] += 1
        answer = future.result() if code is grpc.StatusCode.OK else b""
        trailing = [
            value if isinstance(value, bytes) else value.encode() for _, value in future.trailing_metadata() or ()
        ]
        if problem := _problem(method, code, future.details() or "", answer, trailing):
            self.findings.append(Finding(problem, method, data))
        if any(canary in said for canary in self._world.canaries for said in (answer, *trailing)):
            self.findings.append(Finding("a secret was told", method, data))


def _problem(method: str, code: grpc.StatusCode, details: str, answer: bytes, trailing: list[bytes]) -> str:
    """Tells what is wrong with an answer; empty where nothing is."""
    if code is grpc.StatusCode.OK:
        try:
            getattr(pb, f"{method}Response").FromString(answer)
        except DecodeError:
            return "the answer does not parse"
        return ""
    if code in _FORBIDDEN:
        return f"{code.name}: {details}"
    infos = 0
    for value in trailing:
        for packed in Status.FromString(value).details:
            info = ErrorInfo()
            infos += packed.Unpack(info) and info.domain == "sodafountain.v1"
    if infos != 1:
        return f"{code.name} with {infos} reasons: {details}"
    if len(details.split()) < 3:
        return f"{code.name} without a sentence: {details!r}"
    return ""


# --- The whole --------------------------------------------------------------------------------------------------------


def resident(service: Service) -> int:
    """Bytes of memory that the service holds."""
    return int(Path(f"/proc/{service.process.pid}/statm").read_text().split()[1]) * 4096


def threads_of(service: Service) -> int:
    """How many threads the service has."""
    return len(list(Path(f"/proc/{service.process.pid}/task").iterdir()))


@contextmanager
def attacked() -> Iterator[Service]:
    """A service with a store of its own that remembers few games, so that it should not grow."""
    flags = ("--allow-fixed-seed", "--cached-games=256", "--log-level=debug")
    with (
        stores.server("valkey") as url,
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"--store-url={url}", *flags, env={"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}) as service,
    ):
        yield service


def fuzz(requests: int, seed: int, *, progress: bool = False) -> tuple[list[str], dict[str, int]]:
    """Fuzzes a service of its own; returns what should not have happened, and how often each status came."""
    with attacked() as service, channel_to(service.target) as channel:
        world = World(GameServiceStub(channel), seed)
        threads = threads_of(service)
        warm = Fuzzer(service.target, world, requests=requests // 10, seed=seed + 1)
        warm.run(progress=progress)
        before = resident(service)
        main = Fuzzer(service.target, world, requests=requests - requests // 10, seed=seed)
        main.run(progress=progress)

        problems = [str(finding) for finding in (*warm.findings, *main.findings)]
        if service.process.poll() is not None:
            return [*problems, "the service died"], main.codes
        if (grown := resident(service) - before) > _GROWTH:
            problems.append(f"the service grew by {grown / 2**20:.0f} MiB")
        deadline = time.monotonic() + 20
        while threads_of(service) > threads + 2 and time.monotonic() < deadline:
            time.sleep(0.1)
        if threads_of(service) > threads + 2:
            problems.append(f"{threads_of(service)} threads are left of {threads}")
        if world.shadow_changed():
            problems.append("a game whose tokens were never sent has changed")
        log = service.log_file.read_bytes()
        problems += ["a secret was logged"] * any(canary in log for canary in world.canaries)
        problems += [f"logged: {line}" for line in service.logs() if line["level"] == "error"][:5]
        print(
            f"{warm.sent + main.sent:,} requests; memory {before / 2**20:.0f} MiB after a tenth, "
            f"{resident(service) / 2**20:.0f} MiB at the end; "
            + ", ".join(f"{n:,} {c}" for c, n in main.codes.most_common())
        )
        return problems, main.codes


def run_from_the_command_line() -> None:
    """Fuzzes as the flags say; the exit status tells whether anything was found."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--requests", type=int, default=1_000_000, help="how many requests to send (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which requests: the same seed makes the same ones")
    arguments = parser.parse_args()
    problems, _ = fuzz(arguments.requests, arguments.seed, progress=True)
    for problem in problems:
        print(problem)
    sys.exit(bool(problems))


if __name__ == "__main__":
    run_from_the_command_line()
