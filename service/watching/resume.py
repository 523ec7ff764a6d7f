"""Resume tokens: positions in the history of a game. Opaque to callers, and not secret."""

import re
from typing import Final

from service.games.errors import InvalidField

_TOKEN: Final = re.compile(r"w([1-9][0-9]{0,8}-[0-9a-f]{16})")
"""`w` and the head of the game. Do not change it: older and newer releases exchange these tokens."""


def resume_token(head: str) -> str:
    """Return the token for a watcher that has received everything up to a head."""
    return f"w{head}"


def resume_head(token: str) -> str | None:
    """Return the head in a token; None for an empty token.

    Raises:
        InvalidField: the token is malformed.
    """
    if not token:
        return None
    if not (match := _TOKEN.fullmatch(token)):
        raise InvalidField("resume_token", "is invalid: it must be the resume_token of a WatchGame message, or empty")
    return match[1]
