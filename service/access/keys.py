"""Generate and parse token keys, encryption keys and API keys. Error messages never contain a key."""

import base64
import re
import secrets
from collections.abc import Callable
from typing import Final

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{1,32}")
_MIN_TOKEN_KEY_BYTES: Final = 32
_ENCRYPTION_KEY_BYTES: Final = 32
_MIN_API_KEY_CHARS: Final = 16


def new_token_key() -> str:
    """Generate a key in the form that `parse_token_keys` accepts."""
    return f"k{secrets.token_hex(4)}:{base64.b64encode(secrets.token_bytes(_MIN_TOKEN_KEY_BYTES)).decode()}"


def parse_token_keys(text: str) -> dict[str, bytes]:
    """Parse token keys: `id:base64`, separated by commas or white space, the signing key first.

    Raises:
        ValueError: a key is malformed; the message gives its position.
    """
    return _parse_keys(text, "token key", lambda key: len(key) >= _MIN_TOKEN_KEY_BYTES, "at least 32 bytes")


def parse_encryption_keys(text: str) -> dict[str, bytes]:
    """Parse keys that encrypt games in the store, in the form of token keys, the encrypting key first.

    Raises:
        ValueError: a key is malformed; the message gives its position.
    """
    return _parse_keys(text, "encryption key", lambda key: len(key) == _ENCRYPTION_KEY_BYTES, "32 bytes")


def _parse_keys(text: str, name: str, is_valid: Callable[[bytes], bool], size: str) -> dict[str, bytes]:
    keys: dict[str, bytes] = {}
    for number, item in enumerate(_items(text), start=1):
        key_id, colon, encoded = item.partition(":")
        try:
            key = base64.b64decode(encoded, validate=True)
        except ValueError:
            key = b""
        if not colon or not _NAME.fullmatch(key_id) or not is_valid(key):
            raise ValueError(f"{name} {number} must be `id:base64` with {size}; `sodafountain keygen` generates one")
        if key_id in keys:
            raise ValueError(f"{name} {number} has the same id as an earlier one")
        keys[key_id] = key
    return keys


def new_api_key(name: str) -> str:
    """Generate an API key in the form that `parse_api_keys` accepts.

    Raises:
        ValueError: the name is invalid.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"the name must have 1 to 32 letters, digits, `_`, `.` and `-`, but is {name!r}")
    return f"{name}:{secrets.token_urlsafe(24)}"


def parse_api_keys(text: str) -> dict[str, str]:
    """Parse API keys: `name:key`, separated by commas or white space; a key has at least 16 characters.

    Raises:
        ValueError: a key is malformed; the message gives its position.
    """
    keys: dict[str, str] = {}
    for number, item in enumerate(_items(text), start=1):
        name, _, key = item.partition(":")
        if not _NAME.fullmatch(name) or len(key) < _MIN_API_KEY_CHARS or name in keys:
            raise ValueError(
                f"API key {number} must be `name:key`: a unique name of at most 32 letters, digits, `_`, `.` and `-`, "
                f"and a key of at least {_MIN_API_KEY_CHARS} characters"
            )
        keys[name] = key
    return keys


def _items(text: str) -> list[str]:
    return re.split(r"[\s,]+", text.strip())
