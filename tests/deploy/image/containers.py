"""Run containers of the image under test with podman and runc."""

import json
import os
import subprocess
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tests.support.command import CompletedCommand
from tests.support.ports import free_port, is_listening
from tests.support.processes import is_running
from tests.support.store_servers import eventually

IMAGE: Final = os.environ.get("SODAFOUNTAIN_TEST_IMAGE") or "localhost/sodafountain:tested"
LOCKED_DOWN: Final = (
    "--pull=never",
    "--read-only",
    "--read-only-tmpfs=false",
    "--tmpfs=/tmp",
    "--cap-drop=ALL",
    "--security-opt=no-new-privileges",
    "--ulimit=nofile=1024:1024",
    "--ulimit=nproc=4096:4096",
)
_SECONDS: Final = 60.0


def podman(*arguments: str, check: bool = True) -> CompletedCommand:
    """Run a podman command.

    Raises:
        RuntimeError: the command failed and `check` is true.
    """
    result = subprocess.run(
        ["podman", "--runtime=runc", *arguments], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    if check and result.returncode:
        raise RuntimeError(f"podman {' '.join(arguments)}: {result.stderr}")
    return CompletedCommand(result.returncode, result.stdout, result.stderr)


def run(*words: str, options: Sequence[str] = (), env: dict[str, str] | None = None) -> CompletedCommand:
    """Run a command of the image in a confined container without a network, with only the given settings."""
    name = _new_name()
    try:
        return podman(
            "run", f"--name={name}", *LOCKED_DOWN, "--network=none", *options, *_env(env), IMAGE, *words, check=False
        )
    finally:
        podman("rm", "--force", "--ignore", "--time=0", name)


class Container:
    """A container that runs the service with default settings, except those in the environment.

    Attributes:
        name: the name of the container.
    """

    def __init__(self, env: dict[str, str], *options: str, confined: Sequence[str] = LOCKED_DOWN) -> None:
        self.name = _new_name()
        try:
            podman("run", "--detach", f"--name={self.name}", *confined, *options, *_env(env), IMAGE)
        except BaseException:
            self.remove()
            raise

    @property
    def details(self) -> Any:
        """The output of `podman inspect`."""
        return json.loads(podman("inspect", self.name).out)[0]

    @property
    def pid(self) -> int:
        """The host's process id of the first process; 0 if the container is not running."""
        return int(self.details["State"]["Pid"])

    @property
    def output(self) -> str:
        """The output so far, stdout before stderr."""
        result = podman("logs", self.name)
        return result.out + result.err

    def run(self, *words: str, program: str = "sodafountain") -> CompletedCommand:
        """Run another program in the container."""
        return podman("exec", self.name, program, *words, check=False)

    def stop(self, signal: str = "TERM") -> int:
        """Send a signal and wait for the exit; return the exit code."""
        podman("kill", f"--signal={signal}", self.name)
        return int(podman("wait", self.name).out)

    def restart(self) -> None:
        """Start the container again after it exited."""
        podman("start", self.name)

    def remove(self) -> None:
        """Remove the container in any state."""
        podman("rm", "--force", "--ignore", "--time=0", self.name)


class ServiceContainer(Container):
    """A container whose service is reachable from the host.

    Attributes:
        target: the address of the service, `host:port`.
        metrics_port: the port of its metrics.
    """

    def __init__(self, env: dict[str, str], *options: str) -> None:
        port, self.metrics_port = free_port(), free_port()
        self.target = f"127.0.0.1:{port}"
        ports = {"SODAFOUNTAIN_LISTEN_PORT": str(port), "SODAFOUNTAIN_METRICS_PORT": str(self.metrics_port)}
        super().__init__(ports | env, "--network=host", *options)

    def wait_until_serving(self) -> None:
        """Wait until the service accepts calls.

        Raises:
            AssertionError: the service exited.
        """
        pid = self.pid
        eventually(lambda: not is_running(pid) or is_listening(self.target), within=_SECONDS)
        assert is_running(pid), self.output


@contextmanager
def run_service(env: dict[str, str], *options: str) -> Iterator[ServiceContainer]:
    """Run a service in a container; yield it when it accepts calls."""
    container = ServiceContainer(env, *options)
    try:
        container.wait_until_serving()
        yield container
    finally:
        container.remove()


def make_accessible(path: Path) -> Path:
    """Make a file readable, or a directory writable, for all users, including the user of the container."""
    path.chmod(0o777 if path.is_dir() else 0o644)
    return path


def _new_name() -> str:
    return f"sodafountain-test-{uuid.uuid4().hex[:12]}"


def _env(env: dict[str, str] | None) -> list[str]:
    return [f"--env={name}={value}" for name, value in (env or {}).items()]
