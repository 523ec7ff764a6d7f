"""The commitment to a seed, which every viewer of a game receives, and the text that it is the hash of.

The text names the game, the number of seats and the options, so that neither the seed nor what it was dealt for can be
replaced later. It reveals the seed, and is public only after the end of a game that is not sealed.

The commitment is computed whenever it is sent: for every game that is stored, the text must remain the same. An option
that is added to a kind of game must therefore be absent from the message at its default.
"""

import json
from hashlib import sha256
from typing import Final

from google.protobuf import json_format

from service.contract import game_pb2 as pb

_HEADER: Final = "sodafountain.v1"


def commitment_text(game_id: str, seat_count: int, options: pb.Options, seed: bytes) -> str:
    """Return the text of which the commitment is the hash."""
    encoded = json.dumps(json_format.MessageToDict(options), sort_keys=True, separators=(",", ":"))
    lines = (_HEADER, f"game {game_id}", f"seats {seat_count}", f"options {encoded}", f"seed {seed.hex()}")
    return "".join(f"{line}\n" for line in lines)


def commitment_of(text: str) -> bytes:
    """Return the commitment: the SHA-256 of the text, 32 bytes."""
    return sha256(text.encode()).digest()
