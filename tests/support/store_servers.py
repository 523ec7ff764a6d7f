"""Store servers that a test may stop, fill, freeze and kill."""

import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from redis import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from service.store.embedded import valkey_binary
from tests.support.ports import free_port

WAIT_SECONDS = 15.0


def eventually(condition: Callable[[], Any], *, within: float = WAIT_SECONDS) -> None:
    """Wait for a condition to become true. Fail if it does not."""
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, "the condition did not become true"
        time.sleep(0.005)


class Server:
    """A Valkey on a loopback port, with the append-only log on, as in a real deployment."""

    def __init__(self, folder: Path, *settings: str, sentinel: bool = False) -> None:
        self.folder = folder
        self.port = free_port()
        self.url = f"redis://127.0.0.1:{self.port}"
        self.settings = settings
        self._sentinel = sentinel
        self.start()

    def start(self) -> None:
        """Start it on its existing data."""
        self.folder.mkdir(exist_ok=True)
        log = self.folder / "log"
        common = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder), "--logfile", str(log)]
        if self._sentinel:
            notes = self.folder / "sentinel.conf"  # it writes its state there
            notes.touch()
            command = [str(valkey_binary()), str(notes), "--sentinel", *common]
        else:
            common += ["--save", "", "--appendonly", "yes", "--repl-diskless-sync-delay", "0"]
            command = [str(valkey_binary()), *common, *self.settings]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        eventually(self._ready)

    def _ready(self) -> bool:
        assert self.process.poll() is None, (self.folder / "log").read_text()
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", self.port)):
                return False
            probe.settimeout(WAIT_SECONDS)
            probe.sendall(b"PING\r\n")
            return not probe.recv(64).startswith(b"-LOADING")

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Yield a plain client, to access the data without the store."""
        with Redis(port=self.port, retry=Retry(NoBackoff(), 0)) as redis:
            yield redis

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Suspend the process, like a machine that hangs. It keeps its connections."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitpid(self.process.pid, os.WUNTRACED)  # until it is suspended
        try:
            yield
        finally:
            self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Kill it, like a power failure."""
        self.process.kill()
        self.process.wait(WAIT_SECONDS)

    def stop(self) -> None:
        """Stop it, even if it is suspended."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.kill()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.stop()
