"""`helm test` plays a whole game with all components of the chart, and reports failures."""

import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from service.access import new_api_key, new_token_key
from tests.deploy.helm.charts import render, render_example, values_of
from tests.deploy.helm.containers import PASSWORD, SECONDS, run_gateway, run_service, run_test, run_valkey, start_test
from tests.support.in_process import in_process_service
from tests.support.ports import free_port
from tests.support.stores import server

RESET = struct.pack("ii", 1, 0)
"""SO_LINGER with a timeout of 0: closing the socket resets the connection."""


@pytest.fixture
def gateway_socket() -> Iterator[socket.socket]:
    """A listening socket that replaces the gateway."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(SECONDS)
        yield listening


@pytest.fixture
def store_url() -> Iterator[str]:
    """The URL of an empty store."""
    with server("valkey") as url:
        yield url


def games(store: Redis) -> list[bytes]:
    """Return the keys of the games in a store."""
    return [key for key in store.scan_iter() if store.type(key) == b"stream"]


def test_all_components_together_play_a_game_and_delete_it(tmp_path: Path) -> None:
    chart = render({**values_of("try-it-out-password"), "gateway": {"enabled": True}})
    keys = f"{new_api_key('one')}\n{new_api_key('two')}\n"

    with (
        run_valkey(chart, tmp_path) as store,
        run_service(chart, tmp_path / "service", store=store, token_keys=new_token_key(), api_keys=keys) as service,
        # A host name, which Envoy must resolve as in a cluster.
        run_gateway(chart, tmp_path / "gateway", service=service.target.replace("127.0.0.1", "localhost")) as rest,
    ):
        output = run_test(chart, tmp_path, passes=True, target=service.target, rest=rest, keys=keys)
        with Redis(port=store, password=PASSWORD) as redis:
            left = games(redis)

    played, verified, read = output.splitlines()
    assert played.startswith("Played ")
    assert int(played.split()[1]) >= 10
    assert verified.startswith("Verified: Soda Jerk, ")
    assert read == "Read over REST."
    assert not left, "the test must delete its game"
    assert {line["level"] for line in service.logs()} == {"info"}, "the service must not log warnings"


def test_a_key_file_without_a_key_is_reported(tmp_path: Path) -> None:
    output = run_test(
        render_example("try-it-out-password"), tmp_path, passes=False, target=f"127.0.0.1:{free_port()}", keys=""
    )

    assert output.startswith("play: API key 1 must be ")


def test_an_unreachable_service_is_reported(tmp_path: Path) -> None:
    target = f"127.0.0.1:{free_port()}"
    output = run_test(render_example("try-it-out"), tmp_path, passes=False, target=target)

    assert output.startswith("play: ")
    assert target in output


@contextmanager
def start_with_gateway(rest: socket.socket, store_url: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Start the test script with `rest` as its gateway; yield the process once it has verified the game."""
    with (
        in_process_service(store_url) as target,
        start_test(
            render_example("standalone"), folder, target=target, rest=f"127.0.0.1:{rest.getsockname()[1]}"
        ) as process,
    ):
        assert process.stdout
        assert process.stdout.readline().startswith("Played ")
        assert process.stdout.readline().startswith("Verified: ")
        yield process


def test_a_connection_reset_by_the_gateway_is_retried(
    gateway_socket: socket.socket, store_url: str, tmp_path: Path
) -> None:
    with start_with_gateway(gateway_socket, store_url, tmp_path) as process:
        first, _ = gateway_socket.accept()
        assert first.recv(1000).startswith(b"GET /v1/games/")
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        first.close()
        assert process.stdout
        assert process.stdout.readline() == "REST is not available yet: [Errno 104] Connection reset by peer\n"
        second, _ = gateway_socket.accept()
        with second:
            assert second.recv(1000).startswith(b"GET /v1/games/")


def test_a_timeout_ends_the_test_and_deletes_the_game(
    gateway_socket: socket.socket, store_url: str, tmp_path: Path
) -> None:
    with start_with_gateway(gateway_socket, store_url, tmp_path) as process:
        connection, _ = gateway_socket.accept()
        with connection:
            process.send_signal(signal.SIGALRM)  # the script's own alarm sends it after a minute
            output, _ = process.communicate(timeout=10.0)

    assert output == "play: timeout while reading over REST\n"
    assert process.returncode == 1
    with Redis.from_url(store_url) as redis:
        assert not games(redis)
