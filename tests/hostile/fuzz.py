"""Send many invalid requests and check that they cause no errors, leaks or growth: `make fuzz`.

Every response is checked: never INTERNAL or UNKNOWN, exactly one ErrorInfo of this service and a sentence, no secret,
and no information about a game that the caller may not see. Each game has as many versions as moves were accepted, and
games that the requests cannot change are unchanged. Watches are cancelled after their first message. At the end the
process still runs and answers, has no more threads, has not grown, and has logged neither an error nor a secret.
"""

import argparse
import random
import sys
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast

import grpc
from google.protobuf.message import DecodeError, Message
from grpc_health.v1.health_pb2 import HealthCheckRequest

from sodafountain.v1 import game_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.hostile import checks
from tests.hostile.fuzz_model import API_KEY, Fixtures, FuzzModel, Planned, create_fixtures
from tests.hostile.malformed_calls import MalformedCaller
from tests.hostile.mutations import mutated
from tests.support import forging, stores
from tests.support.processes import resident_mib, threads
from tests.support.service import Service, channel_to, running

ROUND: Final = 5000
"""Requests until the active games are replaced."""
MAX_GROWTH: Final = 48.0
"""The limit for the growth of the service after a tenth of the requests, in MiB: its caches are bounded."""
_THREADS: Final = 4
_PENDING: Final = 16
"""Pending requests of each thread; fewer than there are between two scripted moves of a game."""
_MALFORMED: Final = 50
"""One request of this many breaks the protocol."""
_UNKNOWN: Final = 200
"""One request of this many goes to a method that does not exist."""
_SECONDS: Final = 60.0
_MAX_FINDINGS: Final = 10
_SERVICE: Final = pb.DESCRIPTOR.services_by_name["GameService"]
_PATHS: Final = {
    **{method: f"/{_SERVICE.full_name}/{method}" for method in _SERVICE.methods_by_name},
    "Scripted": "/sodafountain.v1.GameService/ApplyMove",
    "Check": "/grpc.health.v1.Health/Check",
    "UnknownMethod": "/sodafountain.v1.GameService/Cheat",
    "UnknownService": "/sodafountain.v2.GameService/GetGame",
}


class Finding(NamedTuple):
    """A problem, and the request that caused it."""

    number: int
    problem: str
    planned: Planned
    data: bytes

    def describe(self, seed: int) -> str:
        """Describe it, with the command that repeats its round. A round starts with new games."""
        first = self.number // ROUND * ROUND
        return (
            f"request {self.number}: {self.problem}\n  {self.planned.method} {self.data.hex()[:2000]}\n"
            f"  metadata: {self.planned.metadata!r}\n"
            f"  again: make fuzz ARGS='--seed {seed} --first {first} --requests {self.number - first + 100}'"
        )


class _Sent(NamedTuple):
    """A pending request."""

    number: int
    planned: Planned
    data: bytes
    future: Any


class _Watched:
    """A watch with the interface of a unary call's future: it is cancelled after its first message.

    A stream that ends by itself is read to its end.
    """

    def __init__(self, watch: Any) -> None:
        self._watch = watch
        self._first = b""

    def code(self) -> grpc.StatusCode:
        """Read the first message and return the status."""
        try:
            self._first = next(self._watch)
            if _is_over(self._first):
                for _ in self._watch:
                    pass
                return cast("grpc.StatusCode", self._watch.code())
        except StopIteration:
            return grpc.StatusCode.UNKNOWN  # it ended with OK and without a message
        except grpc.RpcError:
            return cast("grpc.StatusCode", self._watch.code())
        self._watch.cancel()
        return grpc.StatusCode.OK

    def result(self) -> bytes:
        """Return the first message."""
        return self._first

    def details(self) -> str:
        """Return the message of an error."""
        return str(self._watch.details() or "")

    def trailing_metadata(self) -> Any:
        """Return the metadata of an error."""
        return () if self._first else self._watch.trailing_metadata()


def _is_over(message: bytes) -> bool:
    response = pb.WatchGameResponse.FromString(message)
    state = response.snapshot if response.HasField("snapshot") else response.update.state
    return state.status == game_pb2.GAME_STATUS_FINISHED


class Campaign:
    """Requests and the checks of their responses, round by round.

    Attributes:
        sent: the number of requests that were answered.
        codes: the number of responses by status, and of other ends of malformed calls.
        accepted: the number of accepted moves.
        findings: wrong responses.
        problems: other problems.
    """

    def __init__(self, target: str, fixtures: Fixtures, seed: int) -> None:
        self._target = target
        self._fixtures = fixtures
        self._seed = seed
        self._lock = threading.Lock()
        self._changes: Counter[str] = Counter()
        self._deleted: set[str] = set()
        self._reported = 0
        self.sent = 0
        self.codes: Counter[str] = Counter()
        self.accepted = 0
        self.findings: list[Finding] = []
        self.problems: list[str] = []

    @property
    def has_enough_findings(self) -> bool:
        """Whether the campaign should stop early."""
        return len(self.findings) + len(self.problems) >= _MAX_FINDINGS

    def round(self, stub: GameServiceStub, first: int, last: int) -> None:
        """Send the requests with numbers from `first` to below `last`."""
        model = FuzzModel(stub, self._fixtures)
        self._changes.clear()
        self._deleted.clear()
        malformed = [number for number in range(first, last) if number % _MALFORMED == 1]
        workers = [
            *(threading.Thread(target=self._work, args=(model, first, last, one)) for one in range(_THREADS)),
            *(
                threading.Thread(target=self._send_malformed, args=(model, malformed[one::_THREADS]))
                for one in range(_THREADS)
            ),
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for game in model.live:
            expected: int | None = model.versions[game.game_id] + self._changes[game.game_id]
            expected = None if game.game_id in self._deleted else expected
            if (found := model.version(game)) != expected:
                self.problems.append(f"round {first // ROUND}: a game has version {found}, not {expected}")
        self.accepted += self._changes.total()

    def report_progress(self, requests: int, seconds: float) -> None:
        """Print one line about the progress, and all new findings."""
        for finding in self.findings[self._reported :]:
            print(f"\n{finding.describe(self._seed)}", file=sys.stderr)
        self._reported = len(self.findings)
        pace = f"{self.sent:,} of {requests:,} requests, {self.sent / seconds:,.0f}/s, {self._reported} findings"
        print(f"\r{pace} ", end="\n" if self.sent >= requests else "", file=sys.stderr, flush=True)

    def _request(self, model: FuzzModel, number: int) -> tuple[Planned, bytes, random.Random]:
        rng = random.Random(self._seed << 40 | number)
        planned = model.request(number % ROUND, rng)
        if planned.method == "Scripted":
            return planned, planned.request.SerializeToString(), rng
        if planned.method == "Check":
            valid: Message = HealthCheckRequest(service=rng.choice(("", "store", "x")))
            return planned, mutated(valid, b"", rng), rng
        other = model.request(1, rng).request.SerializeToString()
        return planned, mutated(planned.request, other, rng), rng

    def _work(self, model: FuzzModel, first: int, last: int, worker: int) -> None:
        try:
            with channel_to(self._target) as channel:
                self._send(model, channel, (number for number in range(first, last) if number % _THREADS == worker))
        except Exception as error:
            self.problems.append(f"the fuzzer itself failed: {error!r}")
            raise

    def _send(self, model: FuzzModel, channel: grpc.Channel, numbers: Iterator[int]) -> None:
        calls: dict[str, Any] = {name: channel.unary_unary(path) for name, path in _PATHS.items()}
        watch: Any = channel.unary_stream(_PATHS["WatchGame"])
        pending: deque[_Sent] = deque()
        for number in numbers:
            if number % _MALFORMED == 1:
                continue
            planned, data, rng = self._request(model, number)
            if number % _UNKNOWN == 3:
                planned = planned._replace(method=rng.choice(("UnknownMethod", "UnknownService")))
            if planned.method == "WatchGame":
                future: Any = _Watched(watch(data, metadata=planned.metadata, timeout=_SECONDS))
            else:
                future = calls[planned.method].future(data, metadata=planned.metadata, timeout=_SECONDS)
            pending.append(_Sent(number, planned, data, future))
            if len(pending) >= _PENDING:
                self._check(model, pending.popleft())
            if self.has_enough_findings:
                break
        for sent in pending:
            self._check(model, sent)

    def _send_malformed(self, model: FuzzModel, numbers: list[int]) -> None:
        malformed = MalformedCaller(self._target)
        for number in numbers:
            planned, data, rng = self._request(model, number)
            if planned.method in {"ApplyMove", "DeleteGame", "Check", "WatchGame"}:
                # A malformed move or deletion could not be counted, and an accepted watch does not end.
                planned = planned._replace(method="GetGame")
            code, problem = malformed.call(planned.method, data, planned.metadata, rng)
            self._note(f"malformed {code}")
            if problem:
                self.findings.append(Finding(number, problem, planned, data))
            if self.has_enough_findings:
                break
        malformed.close()

    def _note(self, code: str) -> None:
        with self._lock:
            self.sent += 1
            self.codes[code] += 1

    def _check(self, model: FuzzModel, sent: _Sent) -> None:
        future, planned = sent.future, sent.planned
        code = future.code()
        self._note(code.name)
        if code is grpc.StatusCode.OK:
            problem = self._problem_of_success(model, sent, future.result(), future.trailing_metadata())
        else:
            ours = planned.method not in {"Check", "UnknownMethod", "UnknownService"}
            problem = checks.error_problem(code, future.details() or "", future.trailing_metadata() or (), ours=ours)
        if problem:
            self.findings.append(Finding(sent.number, problem, planned, sent.data))

    def _problem_of_success(self, model: FuzzModel, sent: _Sent, answer: bytes, trailing: Any) -> str:
        planned = sent.planned
        method = "ApplyMove" if planned.method == "Scripted" else planned.method
        if trailing:
            return f"metadata with an answer: {trailing!r}"
        if method == "Check":
            return ""
        if method in {"UnknownMethod", "UnknownService"}:
            return "an unknown method has answered"
        try:
            request = getattr(pb, f"{method}Request").FromString(sent.data)
            response = getattr(pb, f"{method}Response").FromString(answer)
        except DecodeError:
            return "the answer, or the request that was answered, does not parse"
        if method == "NewGame":
            if planned.metadata[0] != ("x-api-key", API_KEY) or not response.host_token:
                return "a game was created without a valid key"
        elif method != "GetHistory" and (secret := checks.SECRETS.search(answer)):
            return f"a secret in an answer: {secret[0]!r}"
        if model.leaks(planned, request, answer):
            return "a caller received what it may not see"
        with self._lock:
            if method == "ApplyMove" and not response.repeated_request:
                self._changes[request.game_id] += 1
            if method == "DeleteGame":
                self._deleted.add(request.game_id)
        return ""


# --- The whole run ----------------------------------------------------------------------------------------------------


@contextmanager
def fuzzed_service() -> Iterator[Service]:
    """Run a service with a store of its own, verbose logs and a small cache."""
    flags = ("--allow-fixed-seed", "--cached-games=256", "--log-level=debug")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS, "SODAFOUNTAIN_API_KEYS": f"fuzzer:{API_KEY}"}
    with (
        stores.server("valkey") as url,
        tempfile.TemporaryDirectory() as folder,
        running(Path(folder), f"--store-url={url}", *flags, env=env) as service,
    ):
        yield service


class Result(NamedTuple):
    """The result of a run.

    Attributes:
        problems: the problems found; empty if the service passed.
        codes: the number of responses by status.
        accepted: the number of accepted moves.
        summary: the figures in one line.
    """

    problems: list[str]
    codes: Counter[str]
    accepted: int
    summary: str


def fuzz(requests: int, seed: int, *, first: int = 0, progress: bool = False) -> Result:
    """Fuzz a service of its own with the requests of these numbers."""
    with fuzzed_service() as service, channel_to(service.target) as channel:
        stub = GameServiceStub(channel)
        fixtures = create_fixtures(stub, seed)
        campaign = Campaign(service.target, fixtures, seed)
        pid = service.process.pid
        usual = threads(pid)
        warm: float | None = None
        started = time.monotonic()
        for at in range(first, first + requests, ROUND):
            if campaign.has_enough_findings or service.process.poll() is not None:
                break
            try:
                campaign.round(stub, at, min(at + ROUND, first + requests))
            except grpc.RpcError as error:
                campaign.problems.append(f"round {at // ROUND}: a well-behaved call failed: {error!r}")
            if warm is None and campaign.sent * 10 >= requests and service.process.poll() is None:
                warm = resident_mib(pid)
            if progress:
                campaign.report_progress(requests, time.monotonic() - started)
        seconds = time.monotonic() - started

        problems = [*(finding.describe(seed) for finding in campaign.findings), *campaign.problems]
        if service.process.poll() is not None:
            return Result([*problems, "the service died"], campaign.codes, campaign.accepted, "")
        memory = resident_mib(pid)
        warm = warm or memory
        if memory > warm + MAX_GROWTH:
            problems.append(f"the service grew from {warm:.0f} to {memory:.0f} MiB")
        problems += [
            "a game that the requests cannot change has changed"
            for static in fixtures.static
            if not static.is_unchanged()
        ]
        if (left := _remaining_threads(pid, usual)) > usual:
            problems.append(f"{left} threads remain, more than the usual {usual}")
        problems += checks.log_problems(service.log_file)
        summary = (
            f"{campaign.sent:,} requests in {seconds:,.0f} s, {campaign.accepted:,} moves accepted; "
            f"memory {warm:.0f} MiB after a tenth, {memory:.0f} MiB at the end; "
            + ", ".join(f"{count:,} {code}" for code, count in campaign.codes.most_common())
        )
        if service.stop() != 0:
            problems.append("the service did not exit with status 0")
        return Result(problems, campaign.codes, campaign.accepted, summary)


def _remaining_threads(pid: int, usual: int) -> int:
    deadline = time.monotonic() + 20
    # gRPC starts and ends threads of its own, so two more are allowed.
    while (remaining := threads(pid)) > usual + 2 and time.monotonic() < deadline:
        time.sleep(0.1)
    return remaining if remaining > usual + 2 else usual


def main() -> None:
    """Fuzz with the options of the command line. Exit with status 1 if there are problems."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.fuzz",
        description=__doc__,
        epilog="Each finding is printed with the flags that repeat its round. Exit status: 1 with findings, else 0.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--requests", type=int, default=1_000_000, help="how many requests to send (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="which requests; the same seed makes the same (1)")
    parser.add_argument("--first", type=int, default=0, help=f"number of the first, best a multiple of {ROUND} (0)")
    arguments = parser.parse_args()
    result = fuzz(arguments.requests, arguments.seed, first=arguments.first, progress=True)
    print(result.summary)
    for problem in result.problems:
        print(problem)
    sys.exit(bool(result.problems))


if __name__ == "__main__":
    main()
