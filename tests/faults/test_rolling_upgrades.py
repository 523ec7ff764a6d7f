"""Two releases on one store: rolled out and back under load, and the format that only the next one knows."""

import json
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, Final

import pytest

from service.access import new_token_key
from service.store.keys import FORMAT_KEY, game_keys
from sodafountain.v1 import game_pb2, juices_pb2, soda_smugglers_pb2
from sodafountain.v1 import game_service_pb2 as pb
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.game_clients import BASIC, Game, expect_error, new_game, play
from tests.support.next_release import NEXT_FORMAT, ReleasedService, build_next_release, environment
from tests.support.proxy import Proxy
from tests.support.service import channel_to, clean_environment
from tests.support.store_servers import Server, eventually

ROOT = Path(__file__).parents[2]
ENV: Final = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
KINDS: Final = {
    "soda_jerk": BASIC,
    "soda_smugglers": game_pb2.Options(soda_smugglers=soda_smugglers_pb2.SodaSmugglersOptions()),
    "juices": game_pb2.Options(juices=juices_pb2.JuicesOptions()),
}
REFRESH_SECONDS = 7.0
"""A little more than the time after which a server notices that the format was raised."""


@pytest.fixture(scope="session")
def next_release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the next release."""
    return build_next_release(tmp_path_factory.mktemp("release") / "next")


@contextmanager
def serving(folder: Path, store: Server, release: Path | None) -> Iterator[ReleasedService]:
    """Run a service of a release; None is this one."""
    folder.mkdir()
    service = ReleasedService(folder, "--store-url", store.url, env=ENV, release=release)
    try:
        yield service
    finally:
        service.stop()


@contextmanager
def stub_of(service: ReleasedService) -> Iterator[GameServiceStub]:
    with channel_to(service.target) as channel:
        yield GameServiceStub(channel)


def finalize(store: Server, release: Path) -> str:
    """Run `sodafountain finalize-upgrade` of a release; return what it printed."""
    command = [sys.executable, "-m", "service", "finalize-upgrade", "--store-url", store.url]
    env = clean_environment() | environment(release)
    return subprocess.run(command, cwd=release, env=env, capture_output=True, text=True, check=True).stdout


def formats_of(store: Server, game: Game) -> list[int]:
    """Return the format of every value of a stored game."""
    with store.client() as raw:
        _, meta, state, _, *log = raw.lrange(game_keys(game.game_id).game, 0, -1)
    return [meta[0], state[0], *(entry[6] for entry in log)]


# --- Without load -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_releases_alternate_within_a_game_until_the_format_is_raised(
    store: Server, next_release: Path, tmp_path: Path, kind: str
) -> None:
    with (
        serving(tmp_path / "this", store, None) as this,
        serving(tmp_path / "next", store, next_release) as following,
        stub_of(this) as this_stub,
        stub_of(following) as next_stub,
    ):
        game = new_game(next_stub, 3, KINDS[kind])
        for _ in range(4):
            for stub in (this_stub, next_stub):
                assert len(play(game.at(stub), Random(1), moves=1)) == 1
        assert formats_of(store, game) == [1] * 11
        play(game.at(next_stub), Random(1))
        assert formats_of(store, game) == [1, 1, 1]
        answers = [[client.history(), client.state(), client.score()] for client in viewers(game.at(this_stub))]
        assert answers == [[client.history(), client.state(), client.score()] for client in viewers(game.at(next_stub))]
        assert len(answers[0][0].entries) > 9


def viewers(game: Game) -> tuple[Any, ...]:
    return (game.host, game.spectator, *game.seats)


@pytest.mark.parametrize("kind", KINDS)
def test_a_raised_format_is_written_by_the_next_release_and_upgrading_for_this_one(
    store: Server, next_release: Path, tmp_path: Path, kind: str
) -> None:
    with (
        serving(tmp_path / "this", store, None) as this,
        serving(tmp_path / "next", store, next_release) as following,
        stub_of(this) as this_stub,
        stub_of(following) as next_stub,
    ):
        request_id = str(uuid.uuid4())
        game, untouched = (new_game(this_stub, 3, KINDS[kind], request_id=each) for each in ("", request_id))
        play(game, Random(1), moves=3)
        watch = game.spectator.watch(timeout=60)
        next(watch)

        assert finalize(store, next_release).startswith("The store has format 2 now; it had format 1.")
        time.sleep(REFRESH_SECONDS)
        play(game.at(next_stub), Random(1), moves=2)

        assert formats_of(store, game) == [1, 2, 1, 1, 1, 1, 2, 2]
        assert [message.end.reason for message in watch][-1] == pb.WATCH_END_REASON_DRAINING
        mover = game.seats[game.host.at(next_stub).state().awaiting_seats[0]]
        move = mover.at(next_stub).legal().moves[0].move
        for call in (mover.state, mover.legal, mover.score, mover.history, partial(mover.apply, move)):
            error = expect_error(call)
            assert (error.code.name, error.reason) == ("UNAVAILABLE", "UPGRADING")
            assert error.retry is not None
        assert untouched.host.state() == untouched.at(next_stub).host.state()
        assert new_game(next_stub, 3, KINDS[kind], request_id=request_id).created == untouched.created

        for continued in (game, untouched):
            play(continued.at(next_stub), Random(1))
            history = continued.at(next_stub).host.history()
            assert [entry.version for entry in history.entries] == list(range(1, len(history.entries) + 1))
            assert history.commitment_text

    with pytest.raises(RuntimeError, match="the store has format 2, and this release writes up to format 1"):
        serving(tmp_path / "late", store, None).__enter__()


# --- Under load -------------------------------------------------------------------------------------------------------


class Replica(ReleasedService):
    """One of the services behind the balancer."""

    def applied(self) -> int:
        """Return how many moves it has committed."""
        return sum(line["event"] == "rpc" and line["method"] == "ApplyMove" for line in self.logs())

    def become(self, release: Path | None) -> None:
        """Stop, and start again as a release."""
        assert self.stop() == 0
        self.release = release
        self.restart()


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("users", [6, 24])
def test_releases_are_rolled_out_and_back_and_out_again_without_a_failed_call(
    store: Server, next_release: Path, tmp_path: Path, users: int
) -> None:
    """The load test plays all games with the Python library, watches them, and compares every history at the end."""
    replicas: list[Replica] = []
    try:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            replicas.append(Replica(tmp_path / name, "--store-url", store.url, env=ENV))
        one, two = replicas
        with (
            Proxy(*(int(replica.target.rpartition(":")[2]) for replica in replicas)) as balancer,
            load_test(f"127.0.0.1:{balancer.port}", tmp_path / "report", users) as load,
        ):
            eventually(lambda: one.applied() and two.applied(), within=60)
            for rollout in (next_release, None, next_release):
                one.become(rollout)
                balancer.break_connections()  # those that remain are at the other replica
                wait_for_moves(replicas)
                two.become(rollout)
            assert "it had format 1" in finalize(store, next_release)
            balancer.break_connections()
            time.sleep(REFRESH_SECONDS)
            wait_for_moves(replicas)
            assert load.poll() is None, "the load ended before the last rollout"
            output = load.communicate(timeout=200)[0]
    finally:
        for replica in replicas:
            replica.stop()
    report: dict[str, Any] = json.loads((tmp_path / "report" / "report.json").read_text())
    print(output)
    assert (report["errors"], report["faults"], report["replays"]["wrong"]) == ([], [], {})
    assert set(report["games"]) == set(KINDS)
    for outcomes in report["games"].values():
        assert set(outcomes) <= {"finished", "finished late"}
    with store.client() as raw:
        assert raw.get(FORMAT_KEY) == str(NEXT_FORMAT).encode()


def wait_for_moves(replicas: list[Replica], moves: int = 40) -> None:
    """Wait until every replica has committed some more moves."""
    aims = [replica.applied() + moves for replica in replicas]
    eventually(lambda: all(replica.applied() >= aim for replica, aim in zip(replicas, aims, strict=True)), within=60)


@contextmanager
def load_test(target: str, folder: Path, users: int) -> Iterator["subprocess.Popen[str]"]:
    """Run a load test until the end of the block at the latest."""
    command = ["-m", "clients.loadtest", f"--host={target}", f"--users={users}", "--run-time=45s"]
    options = ["--think=0.1", "--seats=2-4", "--spectators=0.5", "--loglevel=WARNING", f"--report={folder}"]
    process = subprocess.Popen(
        [sys.executable, *command, *options],
        cwd=ROOT,
        env=os.environ | {"GRPC_VERBOSITY": "NONE"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
