"""Tokens that the service did not create, some of them signed with its key."""

import base64
import hashlib
import hmac
import json
from typing import Any, Final

KEY_ID: Final = "known"
KEY: Final = bytes(range(100, 132))
KEYS: Final = f"{KEY_ID}:{base64.b64encode(KEY).decode()}"
"""The key in the format of the service's settings."""

_HASHES: Final = {"HS256": hashlib.sha256, "HS384": hashlib.sha384, "HS512": hashlib.sha512}


def token(claims: Any, *, key: bytes = KEY, alg: str = "HS256", header: Any = None, **headers: Any) -> str:
    """Sign claims with a key. The header is the service's own, except for the values given."""
    if header is None:
        header = {"alg": alg, "kid": KEY_ID, "typ": "JWT", **headers}
        header = {name: value for name, value in header.items() if value is not ...}
    signed = f"{_written(header)}.{_written(claims)}"
    hashed = _HASHES.get(alg)
    signature = hmac.new(key, signed.encode(), hashed).digest() if hashed else b""
    return f"{signed}.{_encoded(signature)}"


def claims_of(good: str) -> Any:
    """Decode the claims of a token."""
    return json.loads(_decoded(good.split(".")[1]))


def header_of(good: str) -> Any:
    """Decode the header of a token."""
    return json.loads(_decoded(good.split(".")[0]))


def with_claims(good: str, claims: Any) -> str:
    """Replace the claims of a token and keep its signature."""
    header, _, signature = good.split(".")
    return f"{header}.{_written(claims)}.{signature}"


def with_a_flipped_bit(good: str) -> str:
    """Flip one bit of a token's signature."""
    header, claims, signature = good.split(".")
    flipped = bytearray(_decoded(signature))
    flipped[7] ^= 1
    return f"{header}.{claims}.{_encoded(bytes(flipped))}"


def _written(value: Any) -> str:
    return _encoded(json.dumps(value, separators=(",", ":")).encode())


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _decoded(text: str) -> bytes:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
