"""A TCP proxy that delays, holds, loses or redirects traffic."""

import socket
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Final, Self

_CHUNK: Final = 64 * 1024
_LOOPBACK: Final = "127.0.0.1"


class _Way:
    """One direction of traffic, with a gate and a delay."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.delay = 0.0
        self.waiting = 0
        self._counting = threading.Lock()

    def wait(self) -> None:
        """Wait until the gate is open."""
        if not self.gate.is_set():
            with self._counting:
                self.waiting += 1
            self.gate.wait()
            with self._counting:
                self.waiting -= 1

    @contextmanager
    def closed(self) -> Iterator[None]:
        """Hold all traffic during the block, and then let it pass."""
        self.gate.clear()
        try:
            yield
        finally:
            self.gate.set()


class Proxy:
    """A proxy in front of a port of this machine, or of several, to which it connects in turn.

    Attributes:
        port: the port on which it listens.
        url: that port as the URL of a store.
    """

    def __init__(self, *targets: int) -> None:
        self._targets = deque(targets)
        self._requests, self._answers = _Way(), _Way()
        self._cut: tuple[bytes, Callable[[], None]] | None = None
        self._lost: bytes | None = None
        self._over = threading.Event()
        self._open: set[socket.socket] = set()
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server((_LOOPBACK, 0))
        self.port: int = self._listener.getsockname()[1]
        self.url = f"redis://{_LOOPBACK}:{self.port}"
        self._start(self._listen)

    @property
    def held_requests(self) -> int:
        """Return the number of connections with a request at the closed gate."""
        return self._requests.waiting

    @contextmanager
    def black_hole(self) -> Iterator[None]:
        """Hold all traffic in both directions and close nothing, like an unplugged cable."""
        with self._requests.closed(), self._answers.closed():
            yield

    @contextmanager
    def answers_held(self) -> Iterator[None]:
        """Hold the responses. Requests pass."""
        with self._answers.closed():
            yield

    @contextmanager
    def slow(self, seconds: float) -> Iterator[None]:
        """Delay all traffic in both directions."""
        self._requests.delay = self._answers.delay = seconds
        try:
            yield
        finally:
            self._requests.delay = self._answers.delay = 0.0

    def cut_before(self, what: bytes, then: Callable[[], None]) -> None:
        """On the first request with these bytes, call a function and break all connections."""
        self._cut = (what, then)

    @contextmanager
    def losing(self, what: bytes) -> Iterator[None]:
        """Drop requests with these bytes during the block."""
        self._lost = what
        try:
            yield
        finally:
            self._lost = None

    def turn_to(self, target: int) -> None:
        """Break all connections and send new ones to another port."""
        self._targets = deque([target])
        self.break_connections()

    def break_connections(self) -> None:
        """Break all connections. Held traffic is lost."""
        for end in tuple(self._open):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.break_connections()
        for way in (self._requests, self._answers):
            way.gate.set()
        for thread in self._threads:
            thread.join()

    def _listen(self) -> None:
        while not self._over.is_set():
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            target = self._connect()
            if target is None:
                caller.close()  # every target is down; closing the connection reports it to the client
                continue
            for end in (caller, target):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._start(self._carry, caller, target)

    def _connect(self) -> socket.socket | None:
        targets = self._targets
        for _ in range(len(targets)):
            targets.rotate(-1)
            with suppress(OSError):
                return socket.create_connection((_LOOPBACK, targets[-1]))
        return None

    def _carry(self, caller: socket.socket, target: socket.socket) -> None:
        with caller, target:
            self._open |= {caller, target}
            if self._over.is_set():
                return
            answers = threading.Thread(target=self._pump, args=(target, caller, self._answers), daemon=True)
            answers.start()
            self._pump(caller, target, self._requests)
            answers.join()
            self._open -= {caller, target}

    def _pump(self, source: socket.socket, sink: socket.socket, way: _Way) -> None:
        with suppress(OSError):  # broken by either side or by the test
            while data := source.recv(_CHUNK):
                if self._cut is not None and way is self._requests and self._cut[0] in data:
                    (_, then), self._cut = self._cut, None
                    then()
                    self.break_connections()
                    return
                if self._lost is not None and way is self._requests and self._lost in data:
                    continue
                way.wait()
                self._over.wait(way.delay)
                sink.sendall(data)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def _start(self, work: Callable[..., None], *arguments: socket.socket) -> None:
        thread = threading.Thread(target=work, args=arguments, name="proxy", daemon=True)
        self._threads.append(thread)
        thread.start()
