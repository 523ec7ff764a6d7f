"""One thread's connection to one server: commands out, answers in, and the truth about what may have happened.

redis-py's `Connection` is driven directly: its `Redis` client costs half as much again, a shared pool more. It is
told to do nothing of its own accord: no retries, no health checks, no introduction of itself, and RESP2, which needs
no greeting.

After anything unexpected the connection is closed, so that a late answer is never taken for another command's.
"""

import os
import select
import socket
import ssl
import struct
from collections.abc import Sequence
from math import floor, log2
from time import monotonic
from typing import Any, cast

from hiredis import pack_command
from redis.backoff import NoBackoff
from redis.connection import Connection as TcpConnection
from redis.connection import SSLConnection, UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

Command = Sequence[str | bytes | int]
"""A command and its arguments."""

Answer = Any
"""What a server answers, as hiredis gives it: bytes, int, None, a list of answers, or the `ResponseError` it is."""

Kind = type[TcpConnection] | type[SSLConnection] | type[UnixDomainSocketConnection]
Settings = dict[str, Any]
"""Keyword arguments of redis-py's connections."""

_SHORTEST_WAIT = 0.001  # seconds; zero would make a socket non-blocking
_FRESH = 0.2  # seconds; what has just carried an exchange need not be looked at again
_STEPS = 4  # time limits in the kernel are set in steps of a fourth of a power of two, and so seldom


class Failure(Exception):
    """An exchange failed, and the connection is closed.

    Attributes:
        timed_out: the time was up, so that another attempt is pointless.
    """

    def __init__(self, problem: object, *, timed_out: bool = False) -> None:
        super().__init__(str(problem))
        self.timed_out = timed_out


class NotSent(Failure):
    """The server cannot have run anything."""


class NotAnswered(Failure):
    """The server may have run the commands or not."""


class TurnedAway(Failure):
    """The server ran nothing and said why: wrong password, still loading, too many clients."""


class _Packer:
    """Writes a command as the protocol has it, without redis-py's search for commands of two words."""

    @staticmethod
    def pack(*command: str | bytes | int) -> list[bytes]:
        return [pack_command(cast("tuple[bytes]", command))]  # its stub has forgotten that a tuple may be longer


class Connection:
    """A connection that opens when it is first used.

    Attributes:
        proven: it is open and has carried an exchange; what fails on it now may be due to its age.
    """

    def __init__(self, kind: Kind, settings: Settings) -> None:
        self._connection: Any = kind(
            **settings,
            protocol=2,
            retry=Retry(NoBackoff(), 0),
            health_check_interval=0,
            driver_info=None,
            command_packer=_Packer,
        )
        self._socket: Any = None
        self._limit = 0.0
        self._used = 0.0
        self._readable = select.poll()
        self._process = os.getpid()
        self.proven = False

    def exchange(self, commands: Sequence[Command], deadline: float, *, first: float | None = None) -> list[Answer]:
        """Sends commands together and waits for all answers; a command's error is its answer.

        Args:
            commands: at least one.
            deadline: by when the answers must be there, on the monotonic clock.
            first: by when the first of them must be there, if earlier.

        Raises:
            NotSent, NotAnswered, TurnedAway: as they say; the connection is closed.
        """
        connection = self._connection
        limit = deadline if first is None else first
        if not self._fit():
            self._open(limit)
        try:
            self._set_limit(limit)
            if len(commands) == 1:
                connection.send_command(*commands[0])
            else:
                connection.send_packed_command(connection.pack_commands(commands))
        except (RedisConnectionError, RedisTimeoutError) as error:
            self.close()
            # A server runs only whole commands: one that could not be handed over to the last byte was not run.
            failure = NotSent if len(commands) == 1 else NotAnswered
            raise failure(error, timed_out=self._timed_out(limit)) from error
        answers: list[Answer] = []
        for _ in commands:
            if answers:
                limit = deadline
                self._set_limit(limit)
            try:
                answers.append(connection.read_response())
            except ResponseError as error:
                answers.append(error.with_traceback(None))
            except RedisError as error:
                self.close()
                if answers or error.status_code is None:
                    timed_out = self._timed_out(limit)
                    raise NotAnswered("no answer in time" if timed_out else error, timed_out=timed_out) from error
                raise _turned_away(error) from error
        self.proven = True
        self._used = monotonic()
        return answers

    def close(self) -> None:
        """Closes the connection; the next exchange opens it again."""
        self.proven = False
        if self._socket is not None:
            self._readable = select.poll()
            self._socket = None
        self._connection.disconnect()

    def _fit(self) -> bool:
        """Tells whether the connection is open and nothing has happened to it while it was idle.

        Nothing is to be read from an idle connection unless the server closed it. Seen before anything is sent, that
        is no failure. An inherited connection belongs to the parent process.
        """
        if self._socket is None:
            return False
        ours = self._connection.is_connected and self._process == os.getpid()
        if ours and (monotonic() - self._used < _FRESH or not self._readable.poll(0)):
            return True
        self.close()
        return False

    def _set_limit(self, deadline: float) -> None:
        """Limits how long the socket may wait, in both directions.

        Python's own time limit costs two more system calls an exchange, and the interpreter's lock changes hands at
        each. The kernel's costs nothing once it is set, so it is set only when it must change: to the step below the
        time that remains. TLS needs Python's.
        """
        remaining = max(deadline - monotonic(), _SHORTEST_WAIT)
        if isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(remaining)
            return
        limit = 2 ** (floor(log2(remaining) * _STEPS) / _STEPS)
        if limit != self._limit:
            self._limit = limit
            wait = struct.pack("@ll", int(limit), int(limit % 1 * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)

    def _timed_out(self, deadline: float) -> bool:
        """Tells whether a failure is due to time that is up: for the kernel's limit, nearly."""
        return deadline - monotonic() < self._limit / _STEPS

    def _open(self, deadline: float) -> None:
        remaining = deadline - monotonic()
        if remaining <= 0:
            raise NotSent("no time left to connect", timed_out=True)
        connection = self._connection
        connection.socket_timeout = connection.socket_connect_timeout = remaining
        try:
            connection.connect()
        except RedisTimeoutError as error:
            self.close()
            raise NotSent(error, timed_out=True) from error
        except RedisError as error:
            self.close()
            raise (NotSent(error) if error.status_code is None else _turned_away(error)) from error
        self._process = os.getpid()
        self._used = monotonic()
        self._limit = 0.0
        self._socket = connection._get_socket()  # noqa: SLF001  # the one way to give each call its own timeout for both directions
        self._socket.settimeout(None)
        self._readable.register(self._socket, select.POLLIN)


def _turned_away(error: RedisError) -> Failure:
    """Repeats a server's own words, which carry a code."""
    return TurnedAway(f"{error.status_code} {error}")
