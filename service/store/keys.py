"""The stored format: keys, their types, and their values.

    key                                 type    value
    ----------------------------------  ------  --------------------------------------------------------------------
    sodafountain:{<game id>}            list    a game, or the tombstone of a deleted one; see below
    sodafountain:request:<request hex>  string  the id of the game that this NewGame request creates. With a quota it
                                                is short-lived until the game is counted, long-lived afterwards
    sodafountain:{key:<owner>}:live     zset    the games that count as live for an API key, by the time of their next
                                                verification, Unix ms; only with a quota
    sodafountain:{key:<owner>}:made     zset    the games that it created in the window, by time, Unix ms; likewise
    sodafountain:format                 string  the active format of values; see `service.games.formats`

    sodafountain:{<game id>}:hint       channel the new head after a commit, empty after a deletion

A game is one list, so that one script changes it atomically and one time ends it. Its elements:

    0  head      text: `<layout> <version>-<nonce> <created> <updated> <expires> <archived>`. Times are Unix ms by the
                 server's clock. `archived` is the number of versions in the archive, 0 without one
    1  meta      what never changes. A value
    2  state     what the newest commit left. A value
    3  requests  a hash of the request of every version but the first, in order, all of the same length. A commit that
                 archives shortens them
    4  log       one element per version: the time of the commit, Unix ms in 6 bytes, big-endian, and a value.
       …         Element 4 may be an archive: the time of the newest version in it, and a value for all of its versions.
                 The versions after those follow as elements of their own

Values are opaque here; `service.games.formats` defines them. A tombstone has one element, `<layout> deleted`. The
layout is 1: the meaning of the elements. A server refuses a layout that it does not know.

Lists are compact: Redis stores small ones in one piece of memory. The two keys of an API key have one slot in a
cluster. `live` never expires, since its games may live forever: it has at most as many entries as the quota allows, and
its entries are verified when the quota is reached.
"""

from typing import Final, NamedTuple

LAYOUT: Final = "1"
"""The layout of the elements of a game."""

FORMAT_KEY: Final = "sodafountain:format"


class GameKeys(NamedTuple):
    """The key of a game, and its notification channel."""

    game: str
    channel: str


def game_keys(game_id: str) -> GameKeys:
    """Return the key and the channel of a game."""
    stem = f"sodafountain:{{{game_id}}}"
    return GameKeys(stem, f"{stem}:hint")


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
