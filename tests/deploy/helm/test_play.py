"""Everything that the chart runs, run together, plays a whole game; and where that cannot be, `helm test` says why."""

import signal
import socket
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from service.tokens import new_api_key, new_key
from tests.deploy.helm.charts import render, rendered, values_of
from tests.deploy.helm.containers import PASSWORD, SECONDS, gateway, play, playing, valkey
from tests.deploy.helm.containers import service as serving
from tests.support.in_process import in_process_service
from tests.support.ports import free_port
from tests.support.stores import server

RESET = struct.pack("ii", 1, 0)
"""Lingers for no time: what is closed is reset."""


@pytest.fixture
def gateway_socket() -> Iterator[socket.socket]:
    """What is_listening in the gateway's place."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        listening.settimeout(SECONDS)
        yield listening


@pytest.fixture
def store_url() -> Iterator[str]:
    """A store without a game."""
    with server("valkey") as url:
        yield url


def games(store: Redis) -> list[bytes]:
    """The games that a store keeps: their logs."""
    return [key for key in store.scan_iter() if store.type(key) == b"stream"]


def test_all_of_it_together_plays_a_game_and_leaves_none_behind(tmp_path: Path) -> None:
    chart = render({**values_of("try-it-out-password"), "gateway": {"enabled": True}})
    keys = f"{new_api_key('one')}\n{new_api_key('two')}\n"

    with (
        valkey(chart, tmp_path) as store,
        serving(chart, tmp_path / "service", store=store, token_keys=new_key(), api_keys=keys) as service,
        # By a name, as in a cluster, that Envoy has to look up.
        gateway(chart, tmp_path / "gateway", service=service.target.replace("127.0.0.1", "localhost")) as rest,
    ):
        said = play(chart, tmp_path, passes=True, target=service.target, rest=rest, keys=keys)
        with Redis(port=store, password=PASSWORD) as redis:
            left = games(redis)

    played, verified, seen = said.splitlines()
    assert played.startswith("Played ")
    assert int(played.split()[1]) >= 10
    assert verified.startswith("Verified: Soda Jerk, ")
    assert seen == "Seen over REST."
    assert not left, "it deletes its game"
    assert {line["level"] for line in service.logs()} == {"info"}, "no setting, key or store that it warns of"


def test_a_file_without_a_key_is_told(tmp_path: Path) -> None:
    said = play(rendered("try-it-out-password"), tmp_path, passes=False, target=f"127.0.0.1:{free_port()}", keys="")

    assert said.startswith("play: API key 1 must be ")


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    target = f"127.0.0.1:{free_port()}"
    said = play(rendered("try-it-out"), tmp_path, passes=False, target=target)

    assert said.startswith("play: ")
    assert target in said


@contextmanager
def playing_to(rest: socket.socket, store_url: str, folder: Path) -> Iterator["subprocess.Popen[str]"]:
    """Runs the script with a gateway that is played by the test."""
    with (
        in_process_service(store_url) as target,
        playing(rendered("standalone"), folder, target=target, rest=f"127.0.0.1:{rest.getsockname()[1]}") as process,
    ):
        assert process.stdout
        assert process.stdout.readline().startswith("Played ")
        assert process.stdout.readline().startswith("Verified: ")
        yield process


def test_a_gateway_that_hangs_up_is_asked_again(gateway_socket: socket.socket, store_url: str, tmp_path: Path) -> None:
    with playing_to(gateway_socket, store_url, tmp_path) as process:
        first, _ = gateway_socket.accept()
        assert first.recv(1000).startswith(b"GET /v1/games/")
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
        first.close()
        assert process.stdout
        assert process.stdout.readline() == "Not yet over REST: [Errno 104] Connection reset by peer\n"
        second, _ = gateway_socket.accept()
        with second:
            assert second.recv(1000).startswith(b"GET /v1/games/")


def test_out_of_time_it_ends_whatever_it_waits_for_and_leaves_no_game(
    gateway_socket: socket.socket, store_url: str, tmp_path: Path
) -> None:
    with playing_to(gateway_socket, store_url, tmp_path) as process:
        asked, _ = gateway_socket.accept()
        with asked:
            process.send_signal(signal.SIGALRM)  # which its alarm would do after a minute
            said, _ = process.communicate(timeout=10.0)

    assert said == "play: out of time while looking over REST\n"
    assert process.returncode == 1
    with Redis.from_url(store_url) as redis:
        assert not games(redis)
