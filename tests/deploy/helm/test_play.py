"""Everything that the chart runs, run together, plays a whole game; and where that cannot be, `helm test` says why."""

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis import Redis

from service.tokens import new_api_key, new_key, parse_api_keys
from tests.deploy.helm.charts import render, rendered, values_of
from tests.deploy.helm.containers import PASSWORD, SECONDS, gateway, play, playing, valkey
from tests.deploy.helm.containers import service as serving
from tests.support.here import address_of_service
from tests.support.ports import free_port
from tests.support.stores import server


@pytest.fixture(scope="module")
def store_url() -> Iterator[str]:
    """A store for these tests."""
    with server("valkey") as url:
        yield url


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
            logs = [key for key in redis.scan_iter() if redis.type(key) == b"stream"]

    played, seen = said.splitlines()
    assert played.startswith("Played ")
    assert int(played.split()[1]) >= 10
    assert seen == "Seen over REST."
    assert not logs, "it deletes its game"
    assert {line["level"] for line in service.logs()} == {"info"}, "no setting, key or store that it warns of"


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
