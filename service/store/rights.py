"""Check that a server grants every right that the store needs.

Each command is tried once, on a key and a channel of its own. A missing right would otherwise show only when a game is
created, or in the middle of a script, after its first writes.
"""

import re
from collections.abc import Sequence
from typing import Final

from redis.exceptions import ResponseError

from service.store.connection import Command, Reply

KEY: Final = "sodafountain:{rights-%d}"
"""The key on which rights are checked; in a cluster, the number selects a node."""
KEY_PATTERN: Final = "~sodafountain:*"
CHANNEL_PATTERN: Final = "&sodafountain:*"

_TTL_MS: Final = 1000  # in case the key cannot be deleted
_IN_SCRIPTS: Final[tuple[str, ...]] = (
    "'TIME'",
    f"'SET', K, '0', 'PX', {_TTL_MS}",
    "'GET', K",
    "'PTTL', K",
    f"'PEXPIRE', K, {_TTL_MS}",
    "'PEXPIRETIME', K",
    "'DEL', K",
    "'RPUSH', K, 'x'",
    "'PEXPIREAT', K, '4102444800000'",
    "'LINDEX', K, 0",
    "'LLEN', K",
    "'LRANGE', K, 0, 0",
    "'LSET', K, 0, 'x'",
    "'LTRIM', K, 0, 0",
    f"'PEXPIRE', K, {_TTL_MS}",
    "'DEL', K",
    "'ZADD', K, 1, 'x'",
    "'ZSCORE', K, 'x'",
    "'ZCARD', K",
    "'ZRANGE', K, 0, 0",
    "'ZRANGEBYSCORE', K, 1, 1",
    "'ZREM', K, 'y'",
    "'ZREMRANGEBYSCORE', K, 2, 2",
    f"'PEXPIRE', K, {_TTL_MS}",
    "'DEL', K",
    "'PUBLISH', K .. ':hint', ''",
)
"""The calls of scripts, in an order in which each is valid."""


def _source() -> str:
    lines = ["local denied, K = {}, KEYS[1]"]
    for call in _IN_SCRIPTS:
        name = call.split("'")[1]
        lines.append(
            f"do local reply = redis.pcall({call}) "
            f"if type(reply) == 'table' and reply.err then denied[#denied + 1] = '{name} ' .. reply.err end end"
        )
    return "\n".join([*lines, "return denied"])


SCRIPT_COMMANDS: Final = frozenset(call.split("'")[1] for call in _IN_SCRIPTS)
"""The commands that scripts may call."""


def commands(key: str, *, replicas: int) -> list[Command]:
    """Return the commands that try every right on a server, each in its own way harmless."""
    channel = f"{key}:hint"
    return [
        ("PING",),
        ("EVAL", _source(), 1, key),
        ("EVALSHA", "0" * 40, 1, key),
        ("EXISTS", key),
        ("LINDEX", key, 0),
        ("LRANGE", key, 0, 0),
        ("ZREM", key, "x"),
        *([("WAIT", 0, 1)] if replicas else []),
        ("SUBSCRIBE", channel),  # the last ones: others are not allowed after it
        ("UNSUBSCRIBE", channel),
    ]


def missing(tried: Sequence[Command], replies: Sequence[Reply]) -> list[str]:
    """Return the rights that were refused, as in an ACL: `+rpush`, `~sodafountain:*`, `&sodafountain:*`."""
    refused = set()
    for (name, *_), reply in zip(tried, replies, strict=True):
        if isinstance(reply, ResponseError):
            refused.add(_right(str(name), f"{reply.status_code} {reply}"))
        elif name == "EVAL":
            for text in reply:
                command, _, problem = text.decode(errors="replace").partition(" ")
                refused.add(_right(command, problem))
    return sorted(filter(None, refused))


def is_refusal(problem: str) -> bool:
    """Return whether the error of a server means that a right is missing."""
    return re.search(r"NOPERM|ACL failure in script|The user executing the script can't", problem) is not None


def _right(command: str, problem: str) -> str | None:
    if not is_refusal(problem):
        return None
    if re.search(r"\bkey", problem):
        return KEY_PATTERN
    return CHANNEL_PATTERN if re.search(r"\bchannel", problem) else f"+{command.lower()}"
