"""Tokens: signed capabilities that any replica verifies without a look-up.

A token is a JSON Web Token (RFC 7519) signed with HMAC-SHA-256. It names a game and either one of its seats or its
host, who may act and look for every seat. It does not expire: it is worth what its game is worth, and as long. Keys
rotate: the first key of the ring signs, every key of the ring verifies, and a token names its key.

Tokens are deterministic (no time, no nonce), so that a repeated NewGame can answer the same ones again.
"""

import base64
import hmac
import re
import secrets
from functools import lru_cache
from typing import Final, NamedTuple

import jwt

from service.transport.errors import Refusal
from sodafountain.v1 import errors_pb2 as pb

_ALGORITHM: Final = "HS256"
_KEY_ID = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_GAME_ID = re.compile(r"[a-z0-9]{26}")
_MIN_KEY_BYTES: Final = 32
_MAX_TOKEN_CHARS: Final = 1024
_MAX_SEAT: Final = 13


class Principal(NamedTuple):
    """Who a token speaks for: a seat of a game, or (seat None) its host."""

    game_id: str
    seat: int | None

    @property
    def is_host(self) -> bool:
        """Whether this is the host."""
        return self.seat is None


class Keyring:
    """The signing keys, in order: the first signs, all verify."""

    def __init__(self, keys: dict[str, bytes]) -> None:
        if not keys:
            raise ValueError("no token keys: give at least one")
        self._keys = dict(keys)
        self._signing = next(iter(keys))
        self.verify = lru_cache(maxsize=16_384)(self._verify)

    def __repr__(self) -> str:
        return f"Keyring({', '.join(self._keys)})"

    @property
    def signing_key_id(self) -> str:
        """The id of the key that signs new tokens."""
        return self._signing

    def mint(self, principal: Principal, *, key_id: str | None = None) -> str:
        """Signs a token, with the key of that id if it is still in the ring, else with the newest."""
        key_id = key_id if key_id in self._keys else self._signing
        claims: dict[str, str | int] = {"game": principal.game_id}
        if principal.seat is None:
            claims["role"] = "host"
        else:
            claims["seat"] = principal.seat
        return jwt.encode(claims, self._keys[key_id], algorithm=_ALGORITHM, headers={"kid": key_id})

    def _verify(self, token: str) -> Principal:
        """Reads a token. `verify` is this, remembering the tokens that are good.

        Raises:
            Refusal: TOKEN_INVALID.
        """
        if len(token) > _MAX_TOKEN_CHARS:
            raise _invalid()
        try:
            key = self._keys[jwt.get_unverified_header(token)["kid"]]
            claims = jwt.decode(token, key, algorithms=[_ALGORITHM], options={"require": ["game"]})
        except (jwt.InvalidTokenError, KeyError, TypeError, ValueError):
            raise _invalid() from None
        match claims:
            case {"game": str(game_id), "role": "host"} if _GAME_ID.fullmatch(game_id):
                return Principal(game_id, None)
            case {"seat": bool()}:  # which Python counts among the ints
                pass
            case {"game": str(game_id), "seat": int(seat)} if _GAME_ID.fullmatch(game_id) and 0 <= seat <= _MAX_SEAT:
                return Principal(game_id, seat)
        raise _invalid()


def _invalid() -> Refusal:
    return Refusal(
        pb.ERROR_REASON_TOKEN_INVALID,
        "The token is not one of this service: send `authorization: Bearer <token>` with a token from NewGame.",
    )


def new_key() -> str:
    """Draws a key as `parse_keys` reads it."""
    return f"k{secrets.token_hex(4)}:{base64.b64encode(secrets.token_bytes(_MIN_KEY_BYTES)).decode()}"


def parse_keys(text: str) -> dict[str, bytes]:
    """Reads token keys: `id:base64`, separated by commas or white space, the signing key first.

    Raises:
        ValueError: one is malformed; the message names its position and never shows it.
    """
    keys: dict[str, bytes] = {}
    for number, item in enumerate(re.split(r"[\s,]+", text.strip()), start=1):
        key_id, colon, encoded = item.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        if not colon or not _KEY_ID.fullmatch(key_id) or len(key) < _MIN_KEY_BYTES:
            raise ValueError(
                f"token key {number} must be `id:base64` of at least {_MIN_KEY_BYTES} bytes; "
                "`sodafountain keygen` draws one"
            )
        if key_id in keys:
            raise ValueError(f"token key {number} has the id of an earlier one")
        keys[key_id] = key
    return keys


def new_api_key(name: str) -> str:
    """Draws a key as `parse_api_keys` reads it.

    Raises:
        ValueError: the name cannot be one.
    """
    key = f"{name}:{secrets.token_urlsafe(24)}"
    parse_api_keys(key)
    return key


class ApiKeys:
    """The keys that open NewGame; an empty ring leaves it open to everybody."""

    def __init__(self, keys: dict[str, str]) -> None:
        self._keys = {name: key.encode() for name, key in keys.items()}

    def __repr__(self) -> str:
        return f"ApiKeys({', '.join(self._keys)})"

    def __bool__(self) -> bool:
        return bool(self._keys)

    def name_of(self, key: str | None) -> str:
        """Names the owner of a key; empty while creating games is open.

        Raises:
            Refusal: API_KEY_INVALID.
        """
        if not self._keys:
            return ""
        sent = (key or "").encode()
        owners = [
            name for name, known in self._keys.items() if hmac.compare_digest(known, sent)
        ]  # no early exit: constant time
        if not owners:
            raise Refusal(
                pb.ERROR_REASON_API_KEY_INVALID, "Creating games needs a valid API key in the metadata `x-api-key`."
            )
        return owners[0]


def parse_api_keys(text: str) -> dict[str, str]:
    """Reads API keys: `name:key`, separated by commas or white space; a key has at least 16 characters.

    Raises:
        ValueError: one is malformed; the message names its position and never shows it.
    """
    keys: dict[str, str] = {}
    for number, item in enumerate(re.split(r"[\s,]+", text.strip()), start=1):
        name, _, key = item.partition(":")
        if not _KEY_ID.fullmatch(name) or len(key) < 16 or name in keys:
            raise ValueError(
                f"API key {number} must be `name:key`: a name of its own, of at most 32 letters, digits, `_`, `.` and "
                "`-`, and a key of at least 16 characters"
            )
        keys[name] = key
    return keys
