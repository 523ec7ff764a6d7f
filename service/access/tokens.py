"""Tokens: signed capabilities that any replica verifies without a lookup.

A token is a JSON Web Token (RFC 7519) signed with HMAC-SHA-256. It names a game, and either one of its seats or a role:
the host may act for every seat and see its view; a spectator may look. A token does not expire: it is valid as long as
its game exists. Keys rotate: the first key of the ring signs, every key verifies, and a token names its key.

Tokens are deterministic (no time, no nonce), so that a repeated NewGame returns the same tokens.
"""

import hmac
import re
from enum import Enum
from functools import lru_cache
from typing import Final, NamedTuple

import jwt

from service.access.errors import ApiKeyInvalid, TokenInvalid

_ALGORITHM: Final = "HS256"
_GAME_ID = re.compile(r"[a-z0-9]{26}")
_MAX_TOKEN_CHARS: Final = 1024
_MAX_SEAT: Final = 13
_VERIFIED_TOKENS: Final = 16_384


class Role(Enum):
    """A role that is not a seat. The values are those of the claim `role`."""

    HOST = "host"
    SPECTATOR = "spectator"


class Principal(NamedTuple):
    """The holder of a token: the game, and the seat or the role in it."""

    game_id: str
    holder: int | Role


class Keyring:
    """The keys that sign tokens, in order: the first signs, all verify."""

    def __init__(self, keys: dict[str, bytes]) -> None:
        if not keys:
            raise ValueError("at least one token key is required")
        self._keys = dict(keys)
        self._signing = next(iter(keys))
        self.verify = lru_cache(maxsize=_VERIFIED_TOKENS)(self._verify)

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._keys)})"

    @property
    def signing_key_id(self) -> str:
        """The id of the key that signs new tokens."""
        return self._signing

    def sign(self, principal: Principal, *, key_id: str | None = None) -> str:
        """Sign a token: with the key of that id if it is in the ring, otherwise with the first key."""
        key_id = key_id if key_id in self._keys else self._signing
        game_id, holder = principal
        claims = {"game": game_id, **({"role": holder.value} if isinstance(holder, Role) else {"seat": holder})}
        return jwt.encode(claims, self._keys[key_id], algorithm=_ALGORITHM, headers={"kid": key_id})

    def _verify(self, token: str) -> Principal:
        """Verify a token. `verify` caches the results for valid tokens.

        Raises:
            TokenInvalid: the token is malformed, or not signed with a key of the ring.
        """
        if len(token) > _MAX_TOKEN_CHARS:
            raise _invalid()
        try:
            key = self._keys[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(token, key, algorithms=[_ALGORITHM], options={"require": ["game"]})
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError):
            raise _invalid() from None
        match claims:
            case {"game": str(game_id), "role": "host" | "spectator" as role} if _GAME_ID.fullmatch(game_id):
                return Principal(game_id, Role(role))
            case {"seat": bool()}:  # a subclass of int
                pass
            case {"game": str(game_id), "seat": int(seat)} if _GAME_ID.fullmatch(game_id) and 0 <= seat <= _MAX_SEAT:
                return Principal(game_id, seat)
        raise _invalid()


def _invalid() -> TokenInvalid:
    return TokenInvalid(
        "The token is not valid for this service: send `authorization: Bearer <token>` with a token from NewGame."
    )


class ApiKeys:
    """The API keys that allow callers to create games. If none is configured, every caller can create games."""

    def __init__(self, keys: dict[str, str]) -> None:
        self._keys = {name: key.encode() for name, key in keys.items()}

    def __repr__(self) -> str:
        return f"ApiKeys({', '.join(self._keys)})"

    def __bool__(self) -> bool:
        return bool(self._keys)

    def owner(self, key: str | None) -> str:
        """Return the name of an API key; empty if no API keys are configured.

        Raises:
            ApiKeyInvalid: the key is missing or unknown.
        """
        if not self._keys:
            return ""
        sent = (key or "").encode()
        # All keys are compared, so that the time taken does not depend on which one matches.
        owners = [name for name, known in self._keys.items() if hmac.compare_digest(known, sent)]
        if not owners:
            raise ApiKeyInvalid("Creating games requires a valid API key in the metadata `x-api-key`.")
        return owners[0]
