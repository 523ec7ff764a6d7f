"""Stop signals."""

import select
import signal
import socket
from typing import Final

STOP_SIGNALS: Final = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class StopEvent:
    """An event that is set by SIGTERM, SIGINT or SIGHUP, or by `set`, and stays set.

    It uses a socket, to which Python writes a byte as soon as a signal arrives, in any thread. A
    `threading.Event` set by a signal handler does not work: the handler runs in the main thread, which is not woken
    from its wait if the signal is delivered to another thread, and which deadlocks if the signal arrives at a certain
    moment of the wait.

    Attributes:
        socket: becomes readable when the event is set.
    """

    def __init__(self) -> None:
        self.socket, self._writer = socket.socketpair()
        self._writer.setblocking(False)
        signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        for number in STOP_SIGNALS:
            if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
                signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)  # blocked in a worker until now

    def set(self) -> None:
        """Set the event."""
        self._writer.send(b"\0")

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the event is set, at most `seconds`; return whether it is set."""
        return bool(select.select([self.socket], [], [], seconds)[0])
