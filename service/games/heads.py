"""Heads: the version of a game, and a nonce that identifies everything that led to it, written `7-9f…`.

The nonces of a game form a chain of keyed hashes: each is the BLAKE2b of the nonce before it, the seat that moved and
its encoded move, with the seed as the key. So a head names one branch of a game's history: who knows a head and the
commits after it can check that they lead to another head. No nonce has to be stored. Callers see heads in etags and
resume tokens; they cannot compute them, since the seed is secret until the end.
"""

from collections.abc import Iterable
from hashlib import blake2b
from typing import Final

_NONCE_BYTES: Final = 8


def first_head(seed: bytes, game_id: str) -> str:
    """Return the head of a new game."""
    return f"1-{_nonce(seed, game_id.encode())}"


def next_head(seed: bytes, head: str, seat: int, move: bytes) -> str:
    """Return the head after a move, as it is encoded in the log."""
    version, nonce = head.split("-")
    return f"{int(version) + 1}-{_nonce(seed, bytes.fromhex(nonce) + bytes((seat,)) + move)}"


def leads_to(seed: bytes, head: str, moves: Iterable[tuple[int, bytes]], expected: str) -> bool:
    """Return whether moves, each with its seat, lead from one head to another."""
    for seat, move in moves:
        head = next_head(seed, head, seat, move)
    return head == expected


def version_of(head: str) -> int:
    """Return the version in a head."""
    return int(head.partition("-")[0])


def _nonce(seed: bytes, data: bytes) -> str:
    return blake2b(data, key=seed, digest_size=_NONCE_BYTES).hexdigest()
