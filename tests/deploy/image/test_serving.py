"""Containers serve whole games, even if one of two is stopped or killed."""

import json
import random
import re
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import sodafountain
from service.commands.serve import serve
from sodafountain.v1.game_pb2 import GameStatus, Options
from sodafountain.v1.soda_jerk_pb2 import SodaJerkOptions
from tests.deploy.image.containers import ServiceContainer, make_accessible, run, run_service
from tests.service.gateway.test_config import validate
from tests.support.background_load import background_load
from tests.support.processes import children, is_running
from tests.support.service import channel_to, health
from tests.support.store_servers import Server, eventually

pytestmark = pytest.mark.image

DRAIN_SECONDS = serve.make_context("serve", []).params["drain"] / 1000
"""The default drain time."""


@pytest.fixture(scope="module")
def client(container: ServiceContainer) -> Iterator[sodafountain.Client]:
    """A client of the shared container."""
    with sodafountain.connect(container.target) as opened_client:
        yield opened_client


@pytest.fixture(scope="module")
def finished(client: sodafountain.Client) -> dict[str, sodafountain.Game]:
    """A finished game of each kind, by the name of the kind."""
    played = {}
    for kind in client.game_kinds():
        game = client.new_game(kind.presets[0], kind.min_seats)
        play_on(game)
        played[str(kind.presets[0].WhichOneof("game"))] = game
    return played


def play_on(game: sodafountain.Game, moves: int = -1) -> None:
    """Make random moves for all seats, to the end or up to a number of moves."""
    chance = random.Random(7)
    awaited = list(game.state.awaiting_seats)
    while awaited and moves:
        seat = game.seats[chance.choice(awaited)]
        awaited = list(seat.apply(chance.choice(seat.legal_moves().moves)).state.awaiting_seats)
        moves -= 1


@pytest.mark.parametrize("kind", ["soda_jerk", "soda_smugglers", "juices"])
def test_a_finished_game_can_be_verified_in_the_container(
    kind: str, container: ServiceContainer, finished: dict[str, sodafountain.Game]
) -> None:
    game = finished[kind]

    assert game.host.score().note
    assert game.host.state().status == GameStatus.GAME_STATUS_FINISHED
    result = container.run("verify", "--target", container.target, game.id)
    assert (result.code, result.err) == (0, "")


def test_every_health_service_is_serving(container: ServiceContainer) -> None:
    with channel_to(container.target) as channel:
        assert [health(channel, name) for name in ("", "sodafountain.v1.GameService", "liveness")] == ["SERVING"] * 3
        eventually(lambda: health(channel, "store") == "SERVING")


def test_probe_in_the_container_needs_no_address(container: ServiceContainer) -> None:
    assert container.run("probe") == (0, "SERVING\n", "")


def test_metrics_are_served(container: ServiceContainer, finished: dict[str, sodafountain.Game]) -> None:
    url = f"http://127.0.0.1:{container.metrics_port}/metrics"
    with urllib.request.urlopen(url, timeout=10) as page:
        text = page.read().decode()

    counted = dict(re.findall(r'^sodafountain_games_finished_total\{game="(\w+)"\} ([\d.]+)', text, re.MULTILINE))
    assert set(counted) == {"soda_jerk", "soda_smugglers", "juices"}
    assert all(float(count) >= 1 for count in counted.values())


def test_logs_are_json_without_secrets(
    container: ServiceContainer, keys: Path, finished: dict[str, sodafountain.Game]
) -> None:
    output = container.output
    lines = [json.loads(line) for line in output.splitlines()]
    secrets = [keys.read_text().strip().partition(":")[2]]
    secrets += [token for game in finished.values() for token in (game.host_token, *game.seat_tokens)]

    assert {"serving", "metrics", "rpc"} <= {line["event"] for line in lines}
    assert [secret for secret in secrets if secret in output] == []


def test_inspect_works_in_the_container(container: ServiceContainer, finished: dict[str, sodafountain.Game]) -> None:
    result = container.run("inspect", "--json", finished["juices"].id)

    assert result.code == 0, result.err
    assert json.loads(result.out)


def test_keygen_writes_to_a_mounted_directory(tmp_path: Path) -> None:
    result = run("keygen", "--output", "/keys/token-keys", options=(f"--volume={make_accessible(tmp_path)}:/keys",))

    assert (result.code, result.out, result.err) == (0, "", "")
    assert re.fullmatch(r"\w+:[\w+/]{43}=\n", (tmp_path / "token-keys").read_text())


def test_gateway_writes_a_configuration_to_a_mounted_directory(tmp_path: Path) -> None:
    folder = make_accessible(tmp_path)

    result = run("gateway", str(folder), "--service=sodafountain:50051", options=(f"--volume={folder}:{folder}",))

    assert (result.code, result.err) == (0, "")
    validate(folder / "envoy.yaml")


def test_keys_in_a_variable_equal_keys_in_a_file(
    container: ServiceContainer, pair: tuple[ServiceContainer, ServiceContainer]
) -> None:
    with sodafountain.connect(container.target) as first, sodafountain.connect(pair[0].target) as second:
        game = first.new_game(Options(soda_jerk=SodaJerkOptions()), 2)
        number = game.state.awaiting_seats[0]

        assert second.seat(game.id, game.seat_tokens[number]).legal_moves().moves


def test_several_workers_serve_and_exit_with_their_container(store: Server, keys: Path) -> None:
    env = {
        "SODAFOUNTAIN_STORE_URL": store.url,
        "SODAFOUNTAIN_TOKEN_KEYS": keys.read_text().strip(),
        "SODAFOUNTAIN_WORKERS": "2",
    }
    with run_service(env) as container, sodafountain.connect(container.target) as client:
        play_on(client.new_game(Options(soda_jerk=SodaJerkOptions()), 2), moves=5)
        workers = children(container.pid)

        assert container.stop() == 0
        assert not [worker for worker in workers if is_running(worker)]

    assert len(workers) >= 2


@pytest.mark.parametrize(
    ("signal", "code", "reason"),
    [("TERM", 0, "DRAINING"), ("KILL", 137, "UNAVAILABLE")],
    ids=["stopped", "killed"],
)
def test_stopping_a_container_under_load_loses_no_move(
    signal: str, code: int, reason: str, pair: tuple[ServiceContainer, ServiceContainer]
) -> None:
    stopped, other = pair
    with background_load(stopped.target, other.target, players=4) as load:
        load.wait_for_moves(100)
        start = time.monotonic()
        assert stopped.stop(signal) == code
        assert time.monotonic() - start < DRAIN_SECONDS
        assert "Traceback" not in stopped.output
        stopped.restart()
        stopped.wait_until_serving()
        load.wait_for_moves(100)

    assert load.games >= 4
    assert [refusal for refusal in load.errors if refusal.startswith(reason)], load.errors
