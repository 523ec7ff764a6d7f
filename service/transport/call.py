"""One call: who calls, under which id, and how much time is left."""

import itertools
import secrets
import time
from typing import Final, cast

import grpc

from service.access.tokens import ApiKeys, Keyring, Principal
from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb

LONGEST: Final = 30.0
"""Seconds after which the service gives up on a call, whatever the caller's deadline."""
_RESERVE_SHARE: Final = 0.1
_LONGEST_RESERVE: Final = 0.1


_PROCESS: Final = secrets.token_hex(4)
_numbers = itertools.count(1)


class Call:
    """One call.

    Attributes:
        method: the RPC's name.
        call_id: the call's name in the logs; request ids are secrets and never go there.
        game_id: the game that it is about, once that is known; else empty.
        kind: the kind of that game, likewise.
    """

    __slots__ = ("_api_key", "_authorization", "_deadline", "call_id", "game_id", "kind", "method")

    def __init__(self, method: str, *, authorization: str | None, api_key: str | None, seconds: float) -> None:
        self.method = method
        self.call_id = f"{_PROCESS}-{next(_numbers):x}"
        self.game_id = ""
        self.kind = ""
        self._authorization = authorization
        self._api_key = api_key
        self._deadline = time.monotonic() + seconds - min(seconds * _RESERVE_SHARE, _LONGEST_RESERVE)

    @classmethod
    def of(cls, method: str, context: grpc.ServicerContext) -> "Call":
        """Reads a call from its gRPC context."""
        authorization = api_key = None
        for key, value in context.invocation_metadata():
            if key == "authorization":
                authorization = value
            elif key == "x-api-key":
                api_key = value
        remaining = cast("float | None", context.time_remaining())  # None without a deadline, whatever the stubs say
        return cls(
            method,
            authorization=_text(authorization),
            api_key=_text(api_key),
            seconds=LONGEST if remaining is None else min(remaining, LONGEST),
        )

    def remaining(self) -> float:
        """Seconds that may still be spent, a reserve for the answer's way back kept. Not positive: time is up."""
        return self._deadline - time.monotonic()

    @property
    def timeout(self) -> float:
        """The same for the store, which wants it positive."""
        return max(self.remaining(), 0.001)

    def principal(self, keyring: Keyring) -> Principal | None:
        """Tells who calls; None for a spectator, who sends no token.

        Raises:
            Refusal: TOKEN_INVALID.
        """
        if self._authorization is None:
            return None
        scheme, _, token = self._authorization.partition(" ")
        if scheme.lower() != "bearer":
            raise Refusal(pb.ERROR_REASON_TOKEN_INVALID, "The metadata `authorization` must read `Bearer <token>`.")
        return keyring.verify(token.strip())

    def api_key_name(self, api_keys: ApiKeys) -> str:
        """Names the API key that opens creating games; empty while that is open to everybody.

        Raises:
            Refusal: API_KEY_INVALID.
        """
        return api_keys.name_of(self._api_key)


def _text(value: str | bytes | None) -> str | None:
    return value.decode("latin-1") if isinstance(value, bytes) else value
