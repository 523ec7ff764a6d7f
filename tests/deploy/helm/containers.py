"""Run the commands of the chart's containers as local processes, with other ports and directories."""

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
from tests.deploy.helm.charts import Rendered, mount_path
from tests.support.command import run_in_process
from tests.support.ports import free_port, is_listening
from tests.support.service import Service, clean_environment, running
from tests.support.store_servers import eventually

SECONDS = 60.0
PASSWORD = "pa55word"


@contextmanager
def run_process(command: list[str], folder: Path, **env: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a command with its output in the file `log`. Check that it exits with 0 on SIGTERM."""
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
def run_valkey(chart: Rendered, folder: Path) -> Iterator[int]:
    """Run Valkey; yield its port."""
    pod = chart.pod("valkey")
    (container,) = pod.containers
    port = free_port()
    replaced = {"6379": str(port), mount_path(container, "data"): str(folder), "* -::*": "127.0.0.1"}
    assert replaced.keys() <= set(container["args"])
    command = [*container["command"], *(replaced.get(arg, arg) for arg in container["args"])]
    path = f"{valkey_binary().parent}:{os.environ['PATH']}"
    with run_process(command, folder, PATH=path, VALKEY_PASSWORD=PASSWORD) as started:
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
def run_service(chart: Rendered, folder: Path, *, store: int, token_keys: str, api_keys: str) -> Iterator[Service]:
    """Run the service with a store on a local port and with keys."""
    pod = chart.pod("service")
    (container,) = pod.containers
    assert container["args"] == ["serve"], "the command that `running` starts"
    keys = mount_path(container, "keys")
    folder.mkdir()
    for name, text in {"token-keys": token_keys, "api-keys": api_keys}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o440)
    env = {variable["name"]: variable.get("value", PASSWORD) for variable in container["env"]}
    env = {name: value.replace(f"{keys}/", f"{folder}/") for name, value in env.items()}
    url = env["SODAFOUNTAIN_STORE_URL"].replace("$(VALKEY_PASSWORD)", env["VALKEY_PASSWORD"])
    env["SODAFOUNTAIN_STORE_URL"] = url.replace("soda-sodafountain-valkey:6379", f"127.0.0.1:{store}")
    local = {"SODAFOUNTAIN_LISTEN_HOST": "127.0.0.1", "SODAFOUNTAIN_METRICS_PORT": "0"}
    with running(folder, env=env | local) as started:
        yield started


# --- The gateway ------------------------------------------------------------------------------------------------------


def write_envoy_config(chart: Rendered, folder: Path, **flags: str) -> None:
    """Run the init container of the gateway, which writes to `folder`. `flags` replace or extend its own flags."""
    pod = chart.pod("gateway")
    init, _ = pod.containers
    verb, path, *own = init["args"]
    assert (verb, path) == ("gateway", mount_path(init, "configuration"))
    assert "command" not in init, "it uses the entry point of the image"
    own = [flag for flag in own if flag.removeprefix("--").partition("=")[0] not in flags]
    result = run_in_process(verb, str(folder), *own, *(f"--{name}={value}" for name, value in flags.items()))
    assert result.code == 0, result


def envoy_command(chart: Rendered, folder: Path) -> list[str]:
    """Return the command of Envoy, with `folder` instead of the mounted directory."""
    pod = chart.pod("gateway")
    _, container = pod.containers
    path = mount_path(container, "configuration")
    assert container["command"] == ["/usr/local/bin/envoy"]
    assert any(arg.startswith(f"{path}/") for arg in container["args"])
    return [str(envoy_binary()), *(arg.replace(f"{path}/", f"{folder}/") for arg in container["args"])]


@contextmanager
def run_gateway(chart: Rendered, folder: Path, *, service: str) -> Iterator[str]:
    """Run Envoy in front of a service; yield its address."""
    address = f"127.0.0.1:{free_port()}"
    host, _, port = address.partition(":")
    folder.mkdir()
    write_envoy_config(chart, folder, service=service, host=host, port=port, admin=str(folder / "admin.sock"))
    with run_process(envoy_command(chart, folder), folder) as started:
        eventually(lambda: is_listening(address) or started.poll() is not None)
        assert started.poll() is None, (folder / "log").read_text()
        yield address


# --- The test ---------------------------------------------------------------------------------------------------------


@contextmanager
def start_test(
    chart: Rendered, folder: Path, *, target: str, rest: str = "", keys: str = ""
) -> Iterator["subprocess.Popen[str]"]:
    """Start the script of `helm test`; yield its process."""
    (container,) = chart.pod("test").containers
    (script,) = (obj["data"]["play.py"] for obj in chart.of("ConfigMap"))
    assert container["command"] == ["python3", f"{mount_path(container, 'play')}/play.py"]
    (folder / "play.py").write_text(script)
    (folder / "api-keys").write_text(keys)
    local = {"--target": target, "--rest": f"http://{rest}", "--api-keys-file": str(folder / "api-keys")}
    flags = dict(arg.split("=", 1) for arg in container["args"])
    assert flags.keys() - {"--seconds"} <= local.keys()
    flags |= {flag: value for flag, value in local.items() if flag in flags}
    command = [sys.executable, str(folder / "play.py"), *(f"{flag}={value}" for flag, value in flags.items())]
    env = clean_environment() | {"GRPC_VERBOSITY": "NONE"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd="/", env=env
    ) as started:
        try:
            yield started
        finally:
            started.kill()


def run_test(chart: Rendered, folder: Path, *, passes: bool, **options: Any) -> str:
    """Run the script of `helm test`; return its output. An error is on the last line."""
    with start_test(chart, folder, **options) as started:
        output, _ = started.communicate(timeout=SECONDS)
    assert (started.returncode == 0) == passes, output
    return str(output)
