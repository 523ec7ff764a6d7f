"""One thread's connection to one server. It distinguishes commands that were not sent from those without a reply.

It drives redis-py's `Connection` directly: the `Redis` client costs half as much again, and a shared pool more.
Retries, health checks and client information are disabled, and RESP2 needs no handshake.

After any failure the connection is closed, so that a late reply is never mistaken for the reply to another command.
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

Reply = Any
"""A reply as hiredis parses it: bytes, int, None, a list of replies, or a `ResponseError`."""

ConnectionType = type[TcpConnection] | type[SSLConnection] | type[UnixDomainSocketConnection]
ConnectionSettings = dict[str, Any]
"""Keyword arguments of redis-py's connections."""

_MIN_TIMEOUT = 0.001  # seconds; zero would make a socket non-blocking
_FRESH_SECONDS = 0.2  # a connection used this recently is not checked before it is used again
_TIMEOUT_STEPS = 4  # kernel timeouts are rounded to quarters of a power of two, so that they rarely change


class Failure(Exception):
    """An exchange failed, and the connection is closed.

    Attributes:
        timed_out: the deadline has passed, so that another attempt is pointless.
    """

    def __init__(self, problem: object, *, timed_out: bool = False) -> None:
        super().__init__(str(problem))
        self.timed_out = timed_out


class NotSent(Failure):
    """The server cannot have run anything."""


class NotAnswered(Failure):
    """The server may have run the commands or not."""


class Refused(Failure):
    """The server ran nothing and gave a reason: wrong password, still loading, too many clients."""


class _Packer:
    """Encodes a command. Unlike redis-py's packer, does not check for commands of two words."""

    @staticmethod
    def pack(*command: str | bytes | int) -> list[bytes]:
        return [pack_command(cast("tuple[bytes]", command))]  # the stub declares a tuple of one


class Connection:
    """A connection that opens on first use.

    Attributes:
        proven: whether an exchange has succeeded since it was opened; if so, it may have broken while it was idle.
    """

    def __init__(self, connection_type: ConnectionType, settings: ConnectionSettings) -> None:
        self._connection: Any = connection_type(
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

    def exchange(self, commands: Sequence[Command], deadline: float, *, first: float | None = None) -> list[Reply]:
        """Send commands in one batch, and return all replies; an error is the reply to its command.

        Args:
            commands: at least one.
            deadline: when all replies must have arrived, on the monotonic clock.
            first: when the first reply must have arrived, if earlier.

        Raises:
            NotSent, NotAnswered, Refused: the connection is closed.
        """
        connection = self._connection
        limit = deadline if first is None else first
        if not self._is_usable():
            self._open(limit)
        try:
            self._set_limit(limit)
            if len(commands) == 1:
                connection.send_command(*commands[0])
            else:
                connection.send_packed_command(connection.pack_commands(commands))
        except (RedisConnectionError, RedisTimeoutError) as error:
            self.close()
            # A server runs only complete commands. It has not run a command whose last byte was not sent.
            failure = NotSent if len(commands) == 1 else NotAnswered
            raise failure(error, timed_out=self._timed_out(limit)) from error
        replies: list[Reply] = []
        for _ in commands:
            if replies:
                limit = deadline
                self._set_limit(limit)
            try:
                replies.append(connection.read_response())
            except ResponseError as error:
                replies.append(error.with_traceback(None))
            except RedisError as error:
                self.close()
                if replies or error.status_code is None:
                    timed_out = self._timed_out(limit)
                    raise NotAnswered("no reply in time" if timed_out else error, timed_out=timed_out) from error
                raise _refused(error) from error
        self.proven = True
        self._used = monotonic()
        return replies

    def close(self) -> None:
        """Close the connection; the next exchange opens it again."""
        self.proven = False
        if self._socket is not None:
            self._readable = select.poll()
            self._socket = None
        self._connection.disconnect()

    def _is_usable(self) -> bool:
        """Return whether the connection is open, and was not closed by the server while it was idle.

        An idle connection is readable only if the server closed it. If that is detected before anything is sent, it is
        not a failure. A connection inherited by fork belongs to the parent process.
        """
        if self._socket is None:
            return False
        ours = self._connection.is_connected and self._process == os.getpid()
        if ours and (monotonic() - self._used < _FRESH_SECONDS or not self._readable.poll(0)):
            return True
        self.close()
        return False

    def _set_limit(self, deadline: float) -> None:
        """Set the timeout of the socket, in both directions.

        Python's own socket timeout costs two more system calls per exchange, each of which releases the interpreter
        lock. A kernel timeout costs nothing once it is set. It is set only when it must change, to the step below the
        remaining time. TLS needs Python's timeout.
        """
        remaining = max(deadline - monotonic(), _MIN_TIMEOUT)
        if isinstance(self._socket, ssl.SSLSocket):
            self._socket.settimeout(remaining)
            return
        limit = 2 ** (floor(log2(remaining) * _TIMEOUT_STEPS) / _TIMEOUT_STEPS)
        if limit != self._limit:
            self._limit = limit
            wait = struct.pack("@ll", int(limit), int(limit % 1 * 1e6))
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, wait)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, wait)

    def _timed_out(self, deadline: float) -> bool:
        """Return whether a failure is due to the deadline; approximately, since kernel timeouts are rounded down."""
        return deadline - monotonic() < self._limit / _TIMEOUT_STEPS

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
            raise (NotSent(error) if error.status_code is None else _refused(error)) from error
        self._process = os.getpid()
        self._used = monotonic()
        self._limit = 0.0
        self._socket = connection._get_socket()  # noqa: SLF001  # the only way to give each call its own timeout in both directions
        self._socket.settimeout(None)
        self._readable.register(self._socket, select.POLLIN)


def _refused(error: RedisError) -> Failure:
    """Return the error that a server gave, with its code."""
    return Refused(f"{error.status_code} {error}")
