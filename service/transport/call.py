"""A call: its id, its credentials, and its deadline."""

import itertools
import secrets
from collections.abc import Callable, Sequence
from typing import Final, cast

import grpc

from service.games.deadline import Deadline
from service.transport.addresses import Network, caller_address

MAX_SECONDS: Final = 30.0
"""The maximum time that the service works on a call, even if the caller's deadline is later."""
_RESERVE_SHARE: Final = 0.1
_MAX_RESERVE_SECONDS: Final = 0.1

_PROCESS: Final = secrets.token_hex(4)
_numbers = itertools.count(1)


class Call:
    """A call.

    Attributes:
        method: the name of the RPC.
        call_id: its id in the logs; request ids are secret and never logged.
        authorization: the metadata `authorization`.
        api_key: the metadata `x-api-key`.
        deadline: when the work must be done: earlier than the caller's deadline, so that the response arrives in time.
    """

    __slots__ = ("_forwarded_for", "_peer", "api_key", "authorization", "call_id", "deadline", "method")

    def __init__(
        self,
        method: str,
        *,
        authorization: str | None = None,
        api_key: str | None = None,
        forwarded_for: str | None = None,
        peer: Callable[[], str] = str,
        seconds: float,
    ) -> None:
        self.method = method
        self._forwarded_for = forwarded_for
        self._peer = peer
        self.call_id = f"{_PROCESS}-{next(_numbers):x}"
        self.authorization = authorization
        self.api_key = api_key
        self.deadline = Deadline(seconds - min(seconds * _RESERVE_SHARE, _MAX_RESERVE_SECONDS))

    @classmethod
    def of(cls, method: str, context: grpc.ServicerContext) -> "Call":
        """Return the call of a gRPC context."""
        authorization = api_key = forwarded_for = None
        for key, value in context.invocation_metadata():
            if key == "authorization":
                authorization = value
            elif key == "x-api-key":
                api_key = value
            elif key == "x-forwarded-for":
                forwarded_for = value
        # None without a deadline, although the stubs declare a float.
        remaining = cast("float | None", context.time_remaining())
        return cls(
            method,
            authorization=_text(authorization),
            api_key=_text(api_key),
            forwarded_for=_text(forwarded_for),
            peer=context.peer,
            seconds=MAX_SECONDS if remaining is None else min(remaining, MAX_SECONDS),
        )

    def address(self, trusted_proxies: Sequence[Network]) -> str:
        """Return the address of the caller; see `service.transport.addresses.caller_address`."""
        return caller_address(self._peer(), self._forwarded_for or "", trusted_proxies)


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value
