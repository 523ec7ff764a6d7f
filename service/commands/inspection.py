"""`sodafountain inspect`: what an operator may see of a game that seems stuck: no move, card, seed or token."""

import json
import re
from datetime import UTC, datetime
from typing import Any, Final

from service.games.game import Table, version_of
from service.games.kinds import all_kinds
from service.store import Record, StoreError, StoreUnavailable, Usage, connect
from service.transport.errors import Refusal

_SECONDS: Final = 5.0
_GAME_ID: Final = re.compile("[a-z0-9]{26}")
_UNREADABLE: Final = (ValueError, TypeError, OverflowError, OSError, RecursionError)
"""What reading raises, of what this release does not write: the errors of msgspec and of the codecs are ValueErrors."""


class CannotInspect(Exception):
    """There is no such game, or the store does not answer or keeps it otherwise; the text says which."""


def inspected(store_url: str, game_id: str) -> dict[str, Any]:
    """Looks at a game in the store, and leaves it as it is: it does not live longer for that.

    Args:
        store_url: where the games are kept.
        game_id: which.

    Returns:
        What is shown, by name: JSON.

    Raises:
        CannotInspect: there is no such game, or the store does not answer or keeps it otherwise.
    """
    if not _GAME_ID.fullmatch(game_id):
        raise CannotInspect(f"{game_id!r} is no game's id, which is 26 lower-case letters and digits")
    try:
        store = connect(store_url)
    except ValueError as error:
        raise CannotInspect(str(error)) from None
    try:
        record = store.read(game_id, timeout=_SECONDS)
        usage = store.usage(game_id, timeout=_SECONDS)
    except StoreUnavailable as error:
        raise CannotInspect(
            f"the store cannot be asked: {error}; name it with --store-url, or with --data-dir while its service runs"
        ) from None
    except StoreError as error:
        raise CannotInspect(str(error)) from None
    except _UNREADABLE as error:
        raise _kept_otherwise(game_id, error) from None
    finally:
        store.close()
    if not isinstance(record, Record):
        raise CannotInspect(f"there is no game {game_id}: it never was, has expired or was deleted")
    try:
        return _facts(game_id, record, usage)
    except Refusal as refusal:
        raise CannotInspect(refusal.sentence) from None
    except _UNREADABLE as error:
        raise _kept_otherwise(game_id, error) from None


def _kept_otherwise(game_id: str, error: Exception) -> CannotInspect:
    # The error's own text may have in it what is stored.
    return CannotInspect(
        f"game {game_id} is kept in a way that this release does not know: its head, meta, snapshot, decisions or "
        f"expiry cannot be read ({type(error).__name__})"
    )


def _facts(game_id: str, record: Record, usage: Usage) -> dict[str, Any]:
    table = Table.load(game_id, record, all_kinds())
    expires = datetime.fromtimestamp(record.expires_at / 1000, UTC)
    return {
        "game": game_id,
        "kind": table.meta.kind,
        "rules_version": table.meta.rules_version,
        "seats": table.meta.seat_count,
        "sealed": table.meta.sealed,
        "made_with_api_key": table.meta.owner or None,
        "tokens_signed_with": table.meta.key_id,
        "head": table.head,
        "version": table.version,
        "finished": table.finished,
        "awaiting": [{"seat": seat, "since_version": version_of(opened)} for seat, opened in table.decisions.items()],
        "expires": expires.isoformat(timespec="seconds"),
        "snapshot_bytes": len(record.snapshot),
        "log_entries": usage.log_entries,
        "request_ids": usage.request_ids,
        "store_bytes": usage.store_bytes,
    }


def told(facts: dict[str, Any]) -> str:
    """Writes what was seen for people, a fact a line."""
    lines = {
        name.replace("_", " "): "" if value is None else json.dumps(value).strip('"') for name, value in facts.items()
    }
    lines["awaiting"] = ", ".join(
        f"seat {each['seat']} since version {each['since_version']}" for each in facts["awaiting"]
    )
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {value or '-'}" for name, value in lines.items())
