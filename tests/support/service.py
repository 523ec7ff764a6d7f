"""Services under test: real processes on real sockets."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

from service.access import new_token_key
from tests.support.fork_server import ForkedProcess, start_python

START_SECONDS = 60.0


class Service:
    """A `sodafountain serve` process that accepts calls.

    Attributes:
        process: the process.
        target: its address, for a channel.
        log_file: its log, one JSON object per line.
    """

    module = "service"

    def __init__(self, folder: Path, *flags: str, env: dict[str, str] | None = None) -> None:
        self._folder = folder
        self._flags = flags
        self.env = clean_environment() | (env or {})
        self.log_file = folder / "log"
        self.start(port=0)

    def start(self, port: int) -> None:
        """Start it and wait until it accepts calls. Port 0 chooses a free one."""
        port_file = self._folder / "port"
        port_file.unlink(missing_ok=True)
        flags = (f"--port={port}", f"--port-file={port_file}", "--log-format=json", *self._flags)
        with self.log_file.open("ab") as log:
            self.process: ForkedProcess | subprocess.Popen[bytes] = self.launch("serve", *flags, stderr=log)
        deadline = time.monotonic() + START_SECONDS
        while not port_file.exists():
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise RuntimeError(f"the service did not start:\n{self.log_file.read_text()}")
            time.sleep(0.01)
        self.target = f"127.0.0.1:{port_file.read_text().strip()}"

    def launch(self, *arguments: str, stderr: IO[Any]) -> ForkedProcess | subprocess.Popen[bytes]:
        """Start the process."""
        return start_python(self.module, *arguments, env=self.env, stderr=stderr)

    def restart(self) -> None:
        """Start it again at its former address, after it has ended."""
        self.start(int(self.target.rpartition(":")[2]))

    def logs(self) -> list[dict[str, Any]]:
        """Return the log lines so far, without a last one that is still being written."""
        complete = self.log_file.read_text().rpartition("\n")[0]
        return [json.loads(line) for line in complete.splitlines()]

    def stop(self, seconds: float = 15.0) -> int:
        """Send SIGTERM and wait; return the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(seconds)

    def kill(self) -> None:
        """Send SIGKILL and wait."""
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()


def clean_environment() -> dict[str, str]:
    """Return the environment without settings of the service."""
    return {name: value for name, value in os.environ.items() if not name.startswith("SODAFOUNTAIN_")}


@contextmanager
def running(
    folder: Path, *flags: str, env: dict[str, str] | None = None, kind: type[Service] = Service
) -> Iterator[Service]:
    """Run a service during the block."""
    folder.mkdir(parents=True, exist_ok=True)
    service = kind(folder, *flags, env=env)
    try:
        yield service
    finally:
        try:
            service.stop()
        except subprocess.TimeoutExpired:
            service.kill()
            raise


@contextmanager
def two_services(
    folder: Path, store_url: str, *flags: str, kind: type[Service] = Service
) -> Iterator[tuple[Service, Service]]:
    """Run two services on one store, with the same keys."""
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with (
        running(folder / "one", "--store-url", store_url, *flags, env=env, kind=kind) as one,
        running(folder / "two", "--store-url", store_url, *flags, env=env, kind=kind) as two,
    ):
        yield one, two


@contextmanager
def channel_to(target: str) -> Iterator[grpc.Channel]:
    """Open a connection that is not shared with other channels of the process."""
    with grpc.insecure_channel(target, options=(("grpc.use_local_subchannel_pool", 1),)) as channel:
        yield channel


def health(channel: grpc.Channel, name: str) -> str:
    """Return the health of a service. Wait until the server can be reached."""
    stub: Any = health_pb2_grpc.HealthStub(channel)
    request = health_pb2.HealthCheckRequest(service=name)
    status = stub.Check(request, timeout=START_SECONDS, wait_for_ready=True).status
    return health_pb2.HealthCheckResponse.ServingStatus.Name(status)
