"""Resume tokens: where in a game's history a watcher is. Opaque to callers, and no secret."""

import re
from typing import Final

from service.transport.errors import malformed

_TOKEN: Final = re.compile(r"w([1-9][0-9]{0,8}-[0-9a-zA-Z]{1,32})")
"""`w` and the head of the game. A promise: releases that are older and newer exchange these."""


def resume_token(head: str) -> str:
    """Writes the token of a watcher who has been told everything up to a head."""
    return f"w{head}"


def resume_head(token: str) -> str | None:
    """Reads the head out of a token; None out of the empty one.

    Raises:
        Refusal: MALFORMED.
    """
    if not token:
        return None
    if not (match := _TOKEN.fullmatch(token)):
        raise malformed("resume_token", "must be the resume_token of a message of WatchGame, or empty")
    return match[1]
