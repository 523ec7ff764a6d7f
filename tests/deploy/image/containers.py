"""Containers of the image under test, by podman with runc."""

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
    """Runs podman to its end.

    Raises:
        RuntimeError: it failed, and that is not expected.
    """
    done = subprocess.run(
        ["podman", "--runtime=runc", *arguments], capture_output=True, text=True, check=False, timeout=_SECONDS
    )
    if check and done.returncode:
        raise RuntimeError(f"podman {' '.join(arguments)}: {done.stderr}")
    return CompletedCommand(done.returncode, done.stdout, done.stderr)


def run(*words: str, options: Sequence[str] = (), env: dict[str, str] | None = None) -> CompletedCommand:
    """Runs the image's command to its end, locked down, without a network and without settings but those given."""
    name = _new_name()
    try:
        return podman(
            "run", f"--name={name}", *LOCKED_DOWN, "--network=none", *options, *_env(env), IMAGE, *words, check=False
        )
    finally:
        podman("rm", "--force", "--ignore", "--time=0", name)


class Container:
    """A container with a service in it, which runs by its defaults, but for the environment.

    Attributes:
        name: podman's name for it.
    """

    def __init__(self, env: dict[str, str], *options: str, confined: Sequence[str] = LOCKED_DOWN) -> None:
        self.name = _new_name()
        try:
            podman("run", "--detach", f"--name={self.name}", *confined, *options, *_env(env), IMAGE)
        except BaseException:
            self.remove()
            raise

    @property
    def facts(self) -> Any:
        """What podman knows of it."""
        return json.loads(podman("inspect", self.name).out)[0]

    @property
    def pid(self) -> int:
        """The process id of its first process, as it is outside; 0 when it does not run."""
        return int(self.facts["State"]["Pid"])

    @property
    def output(self) -> str:
        """Everything that it has printed."""
        done = podman("logs", self.name)
        return done.out + done.err

    def run(self, *words: str, program: str = "sodafountain") -> CompletedCommand:
        """Runs a program inside, beside the service."""
        return podman("exec", self.name, program, *words, check=False)

    def stop(self, signal: str = "TERM") -> int:
        """Sends a signal and waits until it has ended; returns its exit code."""
        podman("kill", f"--signal={signal}", self.name)
        return int(podman("wait", self.name).out)

    def start_again(self) -> None:
        """Starts it after it has ended."""
        podman("start", self.name)

    def remove(self) -> None:
        """Removes it, whatever state it is in."""
        podman("rm", "--force", "--ignore", "--time=0", self.name)


class Served(Container):
    """A container whose service can be called from here.

    Attributes:
        target: the service's address, for a channel.
        metrics_port: where its metrics are.
    """

    def __init__(self, env: dict[str, str], *options: str) -> None:
        port, self.metrics_port = free_port(), free_port()
        self.target = f"127.0.0.1:{port}"
        ports = {"SODAFOUNTAIN_LISTEN_PORT": str(port), "SODAFOUNTAIN_METRICS_PORT": str(self.metrics_port)}
        super().__init__(ports | env, "--network=host", *options)

    def wait_until_serving(self) -> None:
        """Waits until calls are accepted.

        Raises:
            AssertionError: it has ended instead.
        """
        pid = self.pid
        eventually(lambda: not is_running(pid) or is_listening(self.target), within=_SECONDS)
        assert is_running(pid), self.output


@contextmanager
def serving(env: dict[str, str], *options: str) -> Iterator[Served]:
    """Runs a service in a container for the length of the block."""
    container = Served(env, *options)
    try:
        container.wait_until_serving()
        yield container
    finally:
        container.remove()


def opened(path: Path) -> Path:
    """Lets everybody, the user inside too, read a file or write to a folder."""
    path.chmod(0o777 if path.is_dir() else 0o644)
    return path


def _new_name() -> str:
    return f"sodafountain-test-{uuid.uuid4().hex[:12]}"


def _env(env: dict[str, str] | None) -> list[str]:
    return [f"--env={name}={value}" for name, value in (env or {}).items()]
