"""Runs what the chart's containers run, as processes on loopback, with ports and folders of ours."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError
from redis.retry import Retry

from service.gateway.process import envoy_binary
from service.store.embedded import valkey_binary
from tests.deploy.helm.charts import Rendered, place_of
from tests.support.command import run_in_process
from tests.support.ports import free_port, is_listening
from tests.support.service import Service, clean_environment, running
from tests.support.store_servers import eventually

SECONDS = 60.0
PASSWORD = "pa55word"


@contextmanager
def process(command: list[str], folder: Path, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Runs a container's main process; what it says goes to a file `log`. It must end well when it is told to."""
    with (
        (folder / "log").open("wb") as log,
        subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, env=clean_environment() | env) as started,
    ):
        try:
            yield started
            started.terminate()
            code = started.wait(SECONDS)
        finally:
            started.kill()
    assert code == 0, (folder / "log").read_text()


# --- Valkey -----------------------------------------------------------------------------------------------------------


@contextmanager
def valkey(chart: Rendered, folder: Path) -> Iterator[int]:
    """Runs the Valkey; provides its port."""
    pod = chart.pod("valkey")
    (box,) = pod.containers
    port = free_port()
    ours = {"6379": str(port), place_of(box, "data"): str(folder), "* -::*": "127.0.0.1"}
    assert ours.keys() <= set(box["args"])
    command = [*box["command"], *(ours.get(arg, arg) for arg in box["args"])]
    path = f"{valkey_binary().parent}:{os.environ['PATH']}"
    with process(command, folder, PATH=path, VALKEY_PASSWORD=PASSWORD) as started:
        eventually(lambda: _speaks_redis(port) or started.poll() is not None)
        assert started.poll() is None, (folder / "log").read_text()
        yield port


def _speaks_redis(port: int) -> bool:
    try:
        with Redis(port=port, retry=Retry(NoBackoff(), 0)) as redis:
            return bool(redis.ping())
    except AuthenticationError:
        return True
    except RedisError:
        return False


# --- The service ------------------------------------------------------------------------------------------------------


@contextmanager
def service(chart: Rendered, folder: Path, *, store: int, token_keys: str, api_keys: str) -> Iterator[Service]:
    """Runs the service, with a store at a port and keys."""
    pod = chart.pod("service")
    (box,) = pod.containers
    assert box["args"] == ["serve"], "which is what `running` runs"
    keys = place_of(box, "keys")
    folder.mkdir()
    for name, text in {"token-keys": token_keys, "api-keys": api_keys}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o440)
    env = {variable["name"]: variable.get("value", PASSWORD) for variable in box["env"]}
    env = {name: value.replace(f"{keys}/", f"{folder}/") for name, value in env.items()}
    url = env["SODAFOUNTAIN_STORE_URL"].replace("$(VALKEY_PASSWORD)", env["VALKEY_PASSWORD"])
    env["SODAFOUNTAIN_STORE_URL"] = url.replace("soda-sodafountain-valkey:6379", f"127.0.0.1:{store}")
    ours = {"SODAFOUNTAIN_LISTEN_HOST": "127.0.0.1", "SODAFOUNTAIN_METRICS_PORT": "0"}
    with running(folder, env=env | ours) as started:
        yield started


# --- The gateway ------------------------------------------------------------------------------------------------------


def write_envoy_config(chart: Rendered, folder: Path, **ours: str) -> None:
    """Runs what the gateway's pod begins with; it writes into our folder. Flags of ours replace or add to its own."""
    pod = chart.pod("gateway")
    init, _ = pod.containers
    verb, place, *flags = init["args"]
    assert (verb, place) == ("gateway", place_of(init, "configuration"))
    assert "command" not in init, "the image's own entry point"
    flags = [flag for flag in flags if flag.removeprefix("--").partition("=")[0] not in ours]
    done = run_in_process(verb, str(folder), *flags, *(f"--{name}={value}" for name, value in ours.items()))
    assert done.code == 0, done


def envoy_command(chart: Rendered, folder: Path) -> list[str]:
    """How Envoy is started, with our folder in place of the pod's."""
    pod = chart.pod("gateway")
    _, box = pod.containers
    place = place_of(box, "configuration")
    assert box["command"] == ["/usr/local/bin/envoy"]
    assert any(arg.startswith(f"{place}/") for arg in box["args"])
    return [str(envoy_binary()), *(arg.replace(f"{place}/", f"{folder}/") for arg in box["args"])]


@contextmanager
def gateway(chart: Rendered, folder: Path, *, service: str) -> Iterator[str]:
    """Runs Envoy in front of a service; provides its address."""
    address = f"127.0.0.1:{free_port()}"
    host, _, port = address.partition(":")
    folder.mkdir()
    write_envoy_config(chart, folder, service=service, host=host, port=port, admin=str(folder / "admin.sock"))
    with process(envoy_command(chart, folder), folder) as started:
        eventually(lambda: is_listening(address) or started.poll() is not None)
        assert started.poll() is None, (folder / "log").read_text()
        yield address


# --- The test ---------------------------------------------------------------------------------------------------------


@contextmanager
def playing(
    chart: Rendered, folder: Path, *, target: str, rest: str = "", keys: str = ""
) -> Iterator["subprocess.Popen[str]"]:
    """Runs the script of `helm test`."""
    (box,) = chart.pod("test").containers
    (script,) = (found["data"]["play.py"] for found in chart.of("ConfigMap"))
    assert box["command"] == ["python3", f"{place_of(box, 'play')}/play.py"]
    (folder / "play.py").write_text(script)
    (folder / "api-keys").write_text(keys)
    ours = {"--target": target, "--rest": f"http://{rest}", "--api-keys-file": str(folder / "api-keys")}
    flags = dict(arg.split("=", 1) for arg in box["args"])
    assert flags.keys() - {"--seconds"} <= ours.keys()
    flags |= {flag: value for flag, value in ours.items() if flag in flags}
    command = [sys.executable, str(folder / "play.py"), *(f"{flag}={value}" for flag, value in flags.items())]
    env = clean_environment() | {"GRPC_VERBOSITY": "NONE"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", env=env
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def play(chart: Rendered, folder: Path, *, passes: bool, **ours: Any) -> str:
    """Runs the script to its end; returns what it says, its fault last."""
    with playing(chart, folder, **ours) as started:
        said, _ = started.communicate(timeout=SECONDS)
    assert (started.returncode == 0) == passes, said
    return str(said)
