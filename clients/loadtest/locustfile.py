"""What Locust loads: the options, a user class for each game, and the beginning and the end of a run.

    locust -f clients/loadtest/locustfile.py --host localhost:50051

with Locust's own options too: its page without `--headless`, several machines with `--master` and `--worker`.
"""

# ruff: noqa: E402 - gRPC must be told of gevent after Locust has patched the standard library, and before anything else
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
from clients.loadtest.coordinator import Conductor
from clients.loadtest.startup_check import Gate
from clients.loadtest.options import add_options, client_of, planned
from clients.loadtest.game_session import Table
from sodafountain.v1.game_pb2 import GameKindInfo

# What ends a game's greenlets has been counted where it happened; gevent need not print it too.
gevent.get_hub().NOT_ERROR += (sodafountain.SodaFountainError,)

# What a connection may need of gevent's pool of threads, in which gRPC waits: its watch has one as long as it lasts,
# and each call one. With fewer, calls wait for each other, for ever if all are taken by watches.
THREADS = 3

conductors: dict[Environment, Conductor] = {}


@events.init_command_line_parser.add_listener
def declare(parser: ArgumentParser) -> None:
    """Declares our options."""
    add_options(parser)


@events.init.add_listener
def begin(environment: Environment, **_: Any) -> None:
    """Has somebody look after the runs of this process, once one may begin."""
    if not isinstance(environment.runner, WorkerRunner):
        Gate(environment)
    conductors[environment] = Conductor(environment, TABLES)


class GameUser(User):
    """A table: its people play one game after the other, each on a connection of its own."""

    abstract = True
    wait_time = constant(0)
    game: ClassVar[str]
    numbers: ClassVar["itertools.count[int]"] = itertools.count()

    def on_start(self) -> None:
        """Numbers the table and its games."""
        self.conductor = conductors[self.environment]
        worker = self.environment.runner.worker_index if isinstance(self.environment.runner, WorkerRunner) else 0
        self.name = f"{self.environment.parsed_options.run_seed} {self.game} {worker} {next(GameUser.numbers)}"
        self.games = itertools.count()
        self.people: list[sodafountain.Client] = []
        self.kinds: Sequence[GameKindInfo] = ()

    @task
    def play(self) -> None:
        """Plays a game to its end."""
        with self.conductor.at_a_table() as run:
            try:
                if not self.kinds:
                    self.kinds = run.call("ListGameKinds", lambda _: self._person(0).game_kinds())
                plan = planned(
                    self.game, self.kinds, self.environment.parsed_options, f"{self.name} {next(self.games)}"
                )
                game = run.call(
                    "NewGame",
                    lambda request_id: self._person(0).new_game(
                        plan.options, plan.seats, seed=plan.seed, request_id=request_id
                    ),
                )
            except sodafountain.SodaFountainError:
                # It has been counted, and would be at once again.
                gevent.sleep(1)
                return
            everybody = [self._person(number) for number in range(plan.seats + plan.spectators)]
            Table(run, plan, game, everybody).play()

    def on_stop(self) -> None:
        """Sends everybody home."""
        for person in self.people:
            person.close()
        gevent.get_hub().threadpool.maxsize -= THREADS * len(self.people)

    def _person(self, number: int) -> sodafountain.Client:
        while number >= len(self.people):
            gevent.get_hub().threadpool.maxsize += THREADS
            self.people.append(client_of(str(self.environment.host), self.environment.parsed_options))
        return self.people[number]


class SodaJerkUser(GameUser):
    """A table of Soda Jerk."""

    game = "soda_jerk"


class SodaSmugglersUser(GameUser):
    """A table of Soda Smugglers."""

    game = "soda_smugglers"


class JuicesUser(GameUser):
    """A table of Juices."""

    game = "juices"


TABLES = {user.game: user for user in (SodaJerkUser, SodaSmugglersUser, JuicesUser)}
