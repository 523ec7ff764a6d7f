"""The stored format: keys, their types, and their values.

    key                                 type    value
    ----------------------------------  ------  --------------------------------------------------------------------
    sodafountain:{<game id>}:game       hash    v           format of all keys of this game: 1
                                                head        <version>-<nonce> of the newest commit
                                                snapshot    the state, opaque
                                                decisions   the open decisions, opaque
                                                meta        what never changes, opaque
                                                expires_at  when all keys of the game expire, Unix ms
                                                Without a head it is the tombstone of a deleted game (v only).
    sodafountain:{<game id>}:log        stream  one entry per commit, entry id <version>-1 (0-0 is not a valid id):
                                                n  nonce    s  seat, empty for the creation
                                                m  move     e  events, both opaque
    sodafountain:{<game id>}:requests   hash    <request>   <version>:<payload> of every committed request
    sodafountain:request:<request hex>  string  the id of the game that this NewGame request creates. With a quota it
                                                is short-lived until the game is counted, long-lived afterwards
    sodafountain:{key:<owner>}:live     zset    the games that count as live for an API key, by the time of their next
                                                verification, Unix ms; only with a quota
    sodafountain:{key:<owner>}:made     zset    the games that it created in the window, by time, Unix ms; likewise

    sodafountain:{<game id>}:hint       channel the new head after a commit, empty after a deletion

The hash tag puts all keys of a game into one slot of a cluster, so that one script can change them atomically. They
expire at the same millisecond. The two keys of an API key have one slot too. `live` never expires, since its games
may live forever: it has at most as many entries as the quota allows, and its entries are verified when the quota is
reached.

Stored games outlive releases. A release that changes the format increases `FORMAT`, still reads the previous format,
and writes the previous format until every replica reads the new one.
"""

from typing import Final, NamedTuple

FORMAT: Final = b"1"

RECORD_FIELDS: Final = ("v", "head", "snapshot", "decisions", "meta", "expires_at")
"""The fields of the hash of a game, in the order in which scripts and reads return them."""


class GameKeys(NamedTuple):
    """The keys of a game, and its notification channel."""

    game: str
    log: str
    requests: str
    channel: str


def game_keys(game_id: str) -> GameKeys:
    """Return the keys of a game."""
    stem = f"sodafountain:{{{game_id}}}:"
    return GameKeys(stem + "game", stem + "log", stem + "requests", stem + "hint")


def game_of_channel(channel: str) -> str:
    """Return the id of the game that a channel belongs to."""
    return channel.partition("{")[2].partition("}")[0]


def reservation_key(request: bytes) -> str:
    """Return the key under which a NewGame request reserves the id of its game."""
    return f"sodafountain:request:{request.hex()}"


class OwnerKeys(NamedTuple):
    """The keys that count the games of an API key."""

    live: str
    created: str


def owner_keys(owner: str) -> OwnerKeys:
    """Return the keys of an API key by its name; an empty name stands for all callers if there are no API keys."""
    stem = f"sodafountain:{{key:{owner}}}:"  # distinct from every game: game ids have no colon
    return OwnerKeys(stem + "live", stem + "made")
