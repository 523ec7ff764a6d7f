"""Start, restart and end of the gateway's processes: services, workers and Envoy."""

import os
import signal
import socket
import threading
import time
import uuid
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import grpc
import pytest

from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.service.gateway.conftest import check
from tests.support.game_clients import Game, new_game
from tests.support.gateways import Answer, gateway_to, http_request
from tests.support.ports import free_port
from tests.support.processes import children, command_of, is_running, tcp_ports
from tests.support.service import Service, channel_to, running, two_services
from tests.support.store_servers import eventually
from tests.support.transports import stub_over
from tests.support.watching import Watch

pytestmark = pytest.mark.one_store

GAMES = 12
FROZEN_SECONDS = 8.0
"""The limit of the time in which a frozen service is noticed; a call to it ends after that time."""


def get(target: str, game: Game) -> Answer:
    """Fetch a game over REST."""
    return http_request(target, "GET", f"/v1/games/{game.game_id}")


def all_answer(target: str, games: Sequence[Game]) -> Callable[[], bool]:
    """Return a condition that is true when GetGame succeeds for every game. Errors must be JSON."""

    def answers() -> bool:
        found = [get(target, game) for game in games]
        assert {answer.status for answer in found} <= {200, 503}
        return all(answer.json and answer.status == 200 for answer in found)

    return answers


def processes_by_game_id(lines: Sequence[dict[str, str]]) -> dict[str, set[str]]:
    """Return the processes that have answered GetGame, by game. A call id starts with an id of the process."""
    processes = defaultdict(set)
    for line in lines:
        if line["event"] == "rpc" and line["method"] == "GetGame":
            processes[line["game_id"]].add(line["call_id"].partition("-")[0])
    return processes


def games_over(target: str, number: int = GAMES) -> list[Game]:
    """Create games through a gateway."""
    with stub_over("rest", "", lambda _: target) as stub:
        return [new_game(stub, 2) for _ in range(number)]


# --- Two services -----------------------------------------------------------------------------------------------------


class Pair(NamedTuple):
    """Two services behind one gateway."""

    one: Service
    two: Service
    target: str


@pytest.fixture(scope="module")
def pair(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two services. A test may kill them and must start them again."""
    folder: Path = tmp_path_factory.mktemp("pair")
    with (
        two_services(folder, store_url, "--log-level=debug") as (one, two),
        gateway_to(one.target, two.target) as target,
    ):
        yield Pair(one, two, target)


def test_calls_of_a_game_reach_one_service_and_games_are_distributed(pair: Pair) -> None:
    games = games_over(pair.target)

    for _ in range(3):
        assert all_answer(pair.target, games)()

    processes_by_game = processes_by_game_id(pair.one.logs() + pair.two.logs())
    assert {len(processes) for processes in processes_by_game.values()} == {1}
    assert len(set.union(*processes_by_game.values())) == 2
    new_games = [sum(line.get("method") == "NewGame" for line in service.logs()) for service in (pair.one, pair.two)]
    assert all(new_games), "new games must reach both services"


def test_calls_of_a_killed_service_go_to_the_other_and_fail_without_any(pair: Pair) -> None:
    games = games_over(pair.target)

    pair.one.kill()
    eventually(all_answer(pair.target, games))
    pair.two.kill()
    eventually(lambda: get(pair.target, games[0]).status == 503)
    check(get(pair.target, games[0]), 503, "UNAVAILABLE", "UNCONFIRMED")
    pair.two.restart()
    eventually(all_answer(pair.target, games))
    pair.one.restart()


@pytest.mark.parametrize("transport", ["grpc", "rest", "web"])
def test_no_call_through_the_gateway_fails_while_services_restart(pair: Pair, transport: str) -> None:
    """The callers make single calls and retry nothing."""
    over = threading.Event()
    failed: list[str] = []

    def call(number: int) -> int:
        made = 0
        with stub_over(transport, pair.target, lambda target: target) as stub:
            game = new_game(stub, 2)
            while not over.is_set():
                try:
                    (seat,) = game.host.state().awaiting_seats
                    legal = game.seats[seat].legal()
                    game.seats[seat].apply(legal.moves[number % len(legal.moves)].move, request_id=str(uuid.uuid4()))
                except grpc.RpcError as error:
                    failed.append(repr(error))
                except ValueError:  # the game is over
                    game = new_game(stub, 2)
                made += 1
        return made

    with ThreadPoolExecutor(6) as threads:
        callers = [threads.submit(call, number) for number in range(6)]
        for service in (pair.one, pair.two) * 2:
            time.sleep(0.5)
            assert service.stop() == 0
            service.restart()
            time.sleep(2.5)  # until the gateway knows that it is healthy
        over.set()
        made = sum(caller.result() for caller in callers)
    assert made > 100
    assert failed == []


def test_calls_over_grpc_with_a_token_reach_one_service(pair: Pair) -> None:
    """A token names its game, so a client that sends nothing else keeps its game in one cache."""
    with channel_to(pair.target) as channel:
        stub = GameServiceStub(channel)
        games = [new_game(stub, 3) for _ in range(GAMES)]
        for _ in range(3):
            for game in games:
                for client in (*game.seats, game.host, game.invited):
                    client.state()

    mine = {game.game_id for game in games}
    of_games = processes_by_game_id(pair.one.logs() + pair.two.logs())
    assert {len(processes) for game, processes in of_games.items() if game in mine} == {1}


def test_a_frozen_service_is_noticed_within_seconds(pair: Pair) -> None:
    """Calls in progress fail, and later ones reach the other service."""
    games = games_over(pair.target)
    pair.one.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        eventually(all_answer(pair.target, games), within=20)
        assert time.monotonic() - began < FROZEN_SECONDS
        for _ in range(5):
            assert all_answer(pair.target, games)()
    finally:
        pair.one.process.send_signal(signal.SIGCONT)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_quiet_streams_through_the_gateway_live_on(pair: Pair) -> None:
    """The pings of the gateway do not end them."""
    with channel_to(pair.target) as channel:
        watches = [Watch(game.spectator, timeout=120) for game in (new_game(GameServiceStub(channel), 2),) * 4]
        for watch in watches:
            watch.next()
        deadline = time.monotonic() + 75
        while time.monotonic() < deadline:
            for watch in watches:
                assert not watch.next().HasField("end")


def test_callers_do_not_see_the_header_for_the_gateway(pair: Pair) -> None:
    assert "x-sodafountain-elsewhere" not in get(pair.target, games_over(pair.target, 1)[0]).headers


# --- A service, its workers and its Envoy -----------------------------------------------------------------------------


class Own(NamedTuple):
    """A service with a gateway of its own."""

    service: Service
    target: str

    @property
    def envoy(self) -> int:
        """The process id of Envoy. Fails if it does not run."""
        (found,) = (pid for pid in children(self.service.process.pid) if command_of(pid)[0].endswith("/envoy"))
        return found


@contextmanager
def with_gateway(store_url: str, folder: Path, workers: int = 1) -> Iterator[Own]:
    port = free_port()
    flags = (f"--rest-port={port}", f"--workers={workers}", "--log-level=debug")
    with running(folder, "--store-url", store_url, *flags, env={"SODAFOUNTAIN_TOKEN_KEYS": KEY}) as service:
        own = Own(service, f"127.0.0.1:{port}")
        eventually(lambda: any(line["event"] == "gateway" for line in service.logs()))
        yield own


@pytest.fixture
def own(store_url: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Own]:
    """A service with a number of workers that a test may kill."""
    with with_gateway(store_url, tmp_path, getattr(request, "param", 1)) as own:
        yield own


@pytest.fixture(scope="module")
def shared(store_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Own]:
    """A service with its gateway. Tests must leave it running."""
    with with_gateway(store_url, tmp_path_factory.mktemp("shared")) as own:
        yield own


KEY = "k1:" + "A" * 43 + "="


def test_envoy_is_restarted_when_it_dies(shared: Own) -> None:
    games = games_over(shared.target, 1)
    first = shared.envoy

    os.kill(first, signal.SIGKILL)

    eventually(lambda: any(line["event"] == "gateway_died" for line in shared.service.logs()))
    eventually(lambda: _answers(shared.target))
    assert get(shared.target, games[0]).status == 200
    assert shared.envoy != first


def _answers(target: str) -> bool:
    try:
        return http_request(target, "GET", "/v1/gameKinds").status == 200
    except OSError:
        return False


@pytest.mark.parametrize("own", [1, 2], indirect=True, ids=["one process", "workers"])
def test_a_killed_service_leaves_no_envoy_behind(own: Own) -> None:
    envoy = own.envoy

    own.service.kill()

    eventually(lambda: not is_running(envoy))


def test_a_stopped_service_leaves_neither_envoy_nor_files_behind(own: Own) -> None:
    envoy = own.envoy
    folder = Path(command_of(envoy)[command_of(envoy).index("-c") + 1]).parent

    assert own.service.stop() == 0

    assert not is_running(envoy)
    assert not folder.exists()


def test_envoys_admin_pages_are_private(shared: Own) -> None:
    folder = Path(command_of(shared.envoy)[command_of(shared.envoy).index("-c") + 1]).parent

    assert tcp_ports(shared.envoy) == {int(shared.target.rpartition(":")[2])}
    assert (folder / "admin").is_socket()
    assert folder.stat().st_mode & 0o077 == 0


def test_envoy_writes_no_token_to_disk(shared: Own) -> None:
    folder = Path(command_of(shared.envoy)[command_of(shared.envoy).index("-c") + 1]).parent
    with stub_over("rest", "", lambda _: shared.target) as stub:
        game = new_game(stub)
        for caller in (game.host, *game.seats):
            caller.state()
    token = game.created.host_token
    headers = {"authorization": f"Bearer {token}"}
    http_request(shared.target, "POST", "/v1/games", '{"hostToken": "' + token, headers)
    http_request(shared.target, "GET", f"/v1/gameKinds?token={token}", headers=headers)
    http_request(shared.target, "GET", f"/{token}", headers=headers)

    for written in [*(path for path in folder.iterdir() if path.is_file()), shared.service.log_file]:
        assert token.encode() not in written.read_bytes(), written


@pytest.mark.parametrize("own", [2], indirect=True)
def test_calls_of_a_game_reach_one_worker_and_a_killed_worker_is_replaced(own: Own) -> None:
    games = games_over(own.target)
    for _ in range(3):
        assert all_answer(own.target, games)()
    processes_by_game = processes_by_game_id(own.service.logs())
    assert {len(processes) for processes in processes_by_game.values()} == {1}
    assert len(set.union(*processes_by_game.values())) == 2

    workers = [line["pid"] for line in own.service.logs() if line["event"] == "serving"]
    assert len(workers) == 2
    os.kill(workers[0], signal.SIGKILL)

    eventually(lambda: sum(line["event"] == "serving" for line in own.service.logs()) == 3)
    eventually(all_answer(own.target, games))
    killed = len(own.service.logs())

    def both_workers_answer() -> bool:
        assert all_answer(own.target, games)()
        return len(set.union(*processes_by_game_id(own.service.logs()[killed:]).values())) == 2

    eventually(both_workers_answer)


# --- Without a gateway ------------------------------------------------------------------------------------------------


def no_gateway(store_url: str, folder: Path, port: int, **env: str) -> str:
    """Run a service whose gateway cannot start, and return the logged problem. gRPC must be served."""
    flags = ("--store-url", store_url, f"--rest-port={port}")
    with running(folder, *flags, env={"SODAFOUNTAIN_TOKEN_KEYS": KEY, **env}) as service:
        eventually(lambda: any(line["event"] in {"no_gateway", "gateway"} for line in service.logs()))
        with channel_to(service.target) as channel:
            assert new_game(GameServiceStub(channel)).spectator.state().version == 1
        (line,) = (line for line in service.logs() if line["level"] != "info")
    assert (line["event"], line["advice"]) == ("no_gateway", "gRPC is served nevertheless")
    problem: str = line["problem"]
    return problem


def test_a_rest_port_in_use_is_reported_and_grpc_is_served(store_url: str, tmp_path: Path) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]

        assert no_gateway(store_url, tmp_path, port) == (
            f"cannot listen on 127.0.0.1:{port}: the address is in use by another process"
        )


def test_another_gateway_at_the_port_is_not_mistaken_for_its_own(store_url: str, tmp_path: Path, rest: str) -> None:
    problem = no_gateway(store_url, tmp_path, int(rest.rpartition(":")[2]))

    assert "in use by another process" in problem


def test_a_missing_envoy_is_reported_and_grpc_is_served(store_url: str, tmp_path: Path) -> None:
    (tmp_path / "shadow" / "envoy").mkdir(parents=True)
    (tmp_path / "shadow" / "envoy" / "__init__.py").touch()
    env = {"PYTHONPATH": str(tmp_path / "shadow"), "PATH": str(tmp_path)}

    assert "extra `gateway`" in no_gateway(store_url, tmp_path, free_port(), **env)


def test_a_broken_envoy_is_reported_and_grpc_is_served(store_url: str, tmp_path: Path) -> None:
    binary = tmp_path / "shadow" / "envoy" / "_bin" / "envoy"
    binary.parent.mkdir(parents=True)
    binary.write_text("#!/bin/sh\nexit 1\n")
    binary.chmod(0o755)
    (tmp_path / "shadow" / "envoy" / "__init__.py").touch()

    problem = no_gateway(store_url, tmp_path, free_port(), PYTHONPATH=str(tmp_path / "shadow"))

    assert problem.startswith("Envoy did not start")
