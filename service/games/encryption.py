"""Encryption at rest: values of games are encrypted before they reach the store, its replicas and its backups.

A key ring has one or more keys of 32 bytes: the first encrypts, all decrypt. An encrypted value is

    0 (1 byte) | fingerprint of the key (4 bytes) | nonce (12 bytes) | AES-256-GCM ciphertext and tag

Every game has its own AES key, derived from the key of the ring and the game's id, so that random nonces cannot repeat
in practice. The part of the game is authenticated: a value cannot take the place of another one.

Not encrypted are ids, heads, times, sizes, hashes of requests, and the names of API keys that have quotas.
"""

import os
from hashlib import blake2b
from typing import Final

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.games.errors import UnreadableRecord
from service.store import StoreError

KEY_BYTES: Final = 32

_MARK: Final = b"\0"
_FINGERPRINT_BYTES: Final = 4
_NONCE_BYTES: Final = 12
_HEADER_BYTES: Final = len(_MARK) + _FINGERPRINT_BYTES


class KeyRing:
    """Encrypts with the first key, and decrypts with all. Thread-safe.

    Args:
        keys: the keys, 32 bytes each.

    Raises:
        ValueError: there is no key, or one has another length.
    """

    def __init__(self, keys: list[bytes]) -> None:
        if not keys or any(len(key) != KEY_BYTES for key in keys):
            raise ValueError(f"encryption requires keys of {KEY_BYTES} bytes")
        self._keys = {fingerprint(key): key for key in keys}
        self._header = _MARK + fingerprint(keys[0])

    def __repr__(self) -> str:
        return f"KeyRing({', '.join(found.hex() for found in self._keys)})"

    def encrypt(self, game_id: str, part: bytes, value: bytes) -> bytes:
        """Return the encrypted value."""
        nonce = os.urandom(_NONCE_BYTES)
        cipher = self._cipher(self._header[len(_MARK) :], game_id)
        return self._header + nonce + cipher.encrypt(nonce, value, part)

    def decrypt(self, game_id: str, part: bytes, encrypted: bytes) -> bytes:
        """Return the value.

        Raises:
            UnreadableRecord: its key is not in the ring.
            StoreError: it was changed, or is not the value of this part of this game.
        """
        found = fingerprint_in(encrypted)
        if found not in self._keys:
            raise UnreadableRecord(f"a value is encrypted with the key of fingerprint {found.hex()}, which is missing")
        nonce, ciphertext = encrypted[_HEADER_BYTES:][:_NONCE_BYTES], encrypted[_HEADER_BYTES + _NONCE_BYTES :]
        try:
            return self._cipher(found, game_id).decrypt(nonce, ciphertext, part)
        except (InvalidTag, ValueError):
            raise StoreError("an encrypted value was changed") from None

    def _cipher(self, found: bytes, game_id: str) -> AESGCM:
        return AESGCM(blake2b(game_id.encode(), key=self._keys[found], digest_size=KEY_BYTES).digest())


def fingerprint(key: bytes) -> bytes:
    """Return a hash that identifies a key and is no secret."""
    return blake2b(key, digest_size=_FINGERPRINT_BYTES, person=b"fingerprint").digest()


def fingerprint_in(encrypted: bytes) -> bytes:
    """Return the fingerprint of the key that encrypted a value."""
    return encrypted[len(_MARK) : _HEADER_BYTES]
