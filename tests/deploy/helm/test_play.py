"""What `helm test` runs plays a whole game, and says what is wrong where it cannot."""

import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from service.tokens import new_api_key, parse_api_keys
from tests.deploy.helm.charts import Rendered, rendered
from tests.support.gateways import gateway_to
from tests.support.here import address_of_service
from tests.support.ports import free_port
from tests.support.service import clean_environment
from tests.support.stores import server

SECONDS = 60.0


@pytest.fixture(scope="module")
def store_url() -> Iterator[str]:
    """A store for these tests."""
    with server("valkey") as url:
        yield url


@contextmanager
def playing(
    chart: Rendered, folder: Path, *, target: str, rest: str = "", keys: str = "", seconds: int = 60
) -> Iterator["subprocess.Popen[str]"]:
    """Runs what the pod runs, with our addresses in place of the cluster's."""
    (box,) = chart.pod("test").containers
    (script,) = (found["data"]["play.py"] for found in chart.of("ConfigMap"))
    assert box["command"] == ["python3", "/etc/play/play.py"]
    (folder / "play.py").write_text(script)
    (folder / "api-keys").write_text(keys)
    ours = {"target": target, "rest": f"http://{rest}", "api-keys-file": str(folder / "api-keys"), "seconds": seconds}
    names = [arg.removeprefix("--").partition("=")[0] for arg in box["args"]]
    command = [sys.executable, str(folder / "play.py"), *(f"--{name}={ours[name]}" for name in names)]
    env = clean_environment() | {"GRPC_VERBOSITY": "NONE"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", env=env
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def play(chart: Rendered, folder: Path, *, passes: bool, **ours: Any) -> str:
    """Runs it to its end; returns what it says, its fault last."""
    with playing(chart, folder, **ours) as process:
        said, _ = process.communicate(timeout=SECONDS)
    assert (process.returncode == 0) == passes, said
    return said


def test_a_whole_game_is_played_and_seen_through_the_gateway(store_url: str, tmp_path: Path) -> None:
    with address_of_service(store_url) as target:
        named = f"localhost:{target.rpartition(':')[2]}"  # a name, as in a cluster, that Envoy has to look up
        with gateway_to(named) as rest:
            said = play(rendered("standalone"), tmp_path, passes=True, target=target, rest=rest)

    played, seen = said.splitlines()
    assert played.startswith("Played ")
    assert int(played.split()[1]) > 20
    assert seen == "Seen over REST."


def test_it_brings_the_first_key_along_and_leaves_no_game_behind(store_url: str, tmp_path: Path) -> None:
    keys = f"{new_api_key('one')}\n{new_api_key('two')}\n"
    with (
        Redis.from_url(store_url) as redis,
        address_of_service(store_url, api_keys=parse_api_keys(keys)) as target,
    ):
        redis.flushdb()
        said = play(rendered("try-it-out-password"), tmp_path, passes=True, target=target, keys=keys)
        logs = [key for key in redis.scan_iter() if redis.type(key) == b"stream"]

    assert said.startswith("Played ")
    assert not logs


def test_a_key_that_is_refused_is_told(store_url: str, tmp_path: Path) -> None:
    keys = new_api_key("one")
    with address_of_service(store_url, api_keys=parse_api_keys(keys)) as target:
        said = play(rendered("try-it-out-password"), tmp_path, passes=False, target=target, keys=new_api_key("two"))

    assert said.startswith("play: ")
    assert "API key" in said


def test_a_service_that_is_not_there_is_told(tmp_path: Path) -> None:
    target = f"127.0.0.1:{free_port()}"

    assert play(rendered("try-it-out"), tmp_path, passes=False, target=target, seconds=1).startswith("play: ")


def test_out_of_time_it_says_what_it_waited_for(store_url: str, tmp_path: Path) -> None:
    with (
        address_of_service(store_url) as target,
        playing(rendered("standalone"), tmp_path, target=target, rest=f"127.0.0.1:{free_port()}") as process,
    ):
        assert process.stdout
        assert process.stdout.readline().startswith("Played ")
        assert process.stdout.readline().startswith("Not yet over REST: ")
        process.send_signal(signal.SIGALRM)  # which its alarm would do after a minute
        assert process.stdout.readlines()[-1] == "play: out of time\n"
        assert process.wait(SECONDS) == 1
