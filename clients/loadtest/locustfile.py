"""The file that Locust loads: the options, a user class for each game, and the start and end of a run.

    locust -f clients/loadtest/locustfile.py --host localhost:50051

Locust's own options work too: omit `--headless` for its web page, use `--master` and `--worker` for several machines.
"""

# ruff: noqa: E402 - gRPC must switch to gevent after Locust has patched the standard library, before other imports
import grpc.experimental.gevent
from locust import User, constant, events, task

grpc.experimental.gevent.init_gevent()

import itertools
import sys
from argparse import ArgumentParser
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

import gevent
from locust.env import Environment
from locust.runners import WorkerRunner

# Locust imports this file by its path.
sys.path.insert(0, str(Path(__file__).parent.parent.parent))

import sodafountain
from clients.loadtest.coordinator import RunCoordinator
from clients.loadtest.game_session import GameSession
from clients.loadtest.options import add_options, connect, plan_game
from clients.loadtest.startup_check import StartupCheck
from sodafountain.v1.game_pb2 import GameKindInfo

# These errors are counted where they occur; gevent must not print them as well.
gevent.get_hub().NOT_ERROR += (sodafountain.SodaFountainError,)

# Threads of gevent's pool that a connection may need, because gRPC waits in them: one as long as a watch lasts, and one
# for each call. With fewer threads, calls deadlock once watches occupy all of them.
THREADS = 3

coordinators: dict[Environment, RunCoordinator] = {}


@events.init_command_line_parser.add_listener
def declare_options(parser: ArgumentParser) -> None:
    """Add our options to Locust's."""
    add_options(parser)


@events.init.add_listener
def set_up_process(environment: Environment, **_: Any) -> None:
    """Check that a run can start, and create the coordinator of this process."""
    if not isinstance(environment.runner, WorkerRunner):
        StartupCheck(environment)
    coordinators[environment] = RunCoordinator(environment, USER_CLASSES)


class GameUser(User):
    """A Locust user that plays one game after the other; each of its clients has a connection of its own."""

    abstract = True
    wait_time = constant(0)
    game: ClassVar[str]
    numbers: ClassVar["itertools.count[int]"] = itertools.count()

    def on_start(self) -> None:
        """Number this user and its games."""
        self.coordinator = coordinators[self.environment]
        worker = self.environment.runner.worker_index if isinstance(self.environment.runner, WorkerRunner) else 0
        self.name = f"{self.environment.parsed_options.run_seed} {self.game} {worker} {next(GameUser.numbers)}"
        self.games = itertools.count()
        self.clients: list[sodafountain.Client] = []
        self.kinds: Sequence[GameKindInfo] = ()

    @task
    def play(self) -> None:
        """Play one game."""
        with self.coordinator.playing() as run:
            try:
                if not self.kinds:
                    self.kinds = run.call("ListGameKinds", lambda _: self._client(0).game_kinds())
                plan = plan_game(
                    self.game, self.kinds, self.environment.parsed_options, f"{self.name} {next(self.games)}"
                )
                game = run.call(
                    "NewGame",
                    lambda request_id: self._client(0).new_game(
                        plan.options, plan.seats, seed=plan.seed, request_id=request_id
                    ),
                )
            except sodafountain.SodaFountainError:
                # Already counted. The pause keeps a permanent error from being repeated in a busy loop.
                gevent.sleep(1)
                return
            clients = [self._client(number) for number in range(plan.seats + plan.spectators)]
            GameSession(run, plan, game, clients).play()

    def on_stop(self) -> None:
        """Close all clients."""
        for client in self.clients:
            client.close()
        gevent.get_hub().threadpool.maxsize -= THREADS * len(self.clients)

    def _client(self, number: int) -> sodafountain.Client:
        while number >= len(self.clients):
            gevent.get_hub().threadpool.maxsize += THREADS
            self.clients.append(connect(str(self.environment.host), self.environment.parsed_options))
        return self.clients[number]


class SodaJerkUser(GameUser):
    """A user that plays Soda Jerk."""

    game = "soda_jerk"


class SodaSmugglersUser(GameUser):
    """A user that plays Soda Smugglers."""

    game = "soda_smugglers"


class JuicesUser(GameUser):
    """A user that plays Juices."""

    game = "juices"


USER_CLASSES = {user.game: user for user in (SodaJerkUser, SodaSmugglersUser, JuicesUser)}
