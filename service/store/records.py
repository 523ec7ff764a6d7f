"""The fields of games and their logs, as the server sends and takes them."""

from typing import Any

from service.store.layout import FORMAT
from service.store.values import Entry, Record, StoreError


def logged(entry: Entry) -> tuple[int, str, int | str, bytes, bytes]:
    """Lists what a commit's log entry is made of, as the scripts take it."""
    return entry.version, entry.nonce, "" if entry.seat is None else entry.seat, entry.move, entry.events


def read_entry(entry_id: bytes, fields: list[bytes]) -> Entry:
    """Reads a log entry."""
    _, nonce, _, seat, _, move, _, events = fields
    return Entry(int(entry_id.partition(b"-")[0]), nonce.decode(), int(seat) if seat else None, move, events)


def read_record(fields: list[Any]) -> Record:
    """Reads a game from the fields in the order of `RECORD`.

    Raises:
        StoreError: its format is unknown.
    """
    stored_format, head, snapshot, decisions, meta, expires_at = fields
    if stored_format != FORMAT:
        raise other_format(stored_format)
    return Record(head.decode(), snapshot, decisions, meta, int(expires_at))


def other_format(found: bytes | None) -> StoreError:
    """Says that a game is stored in a format that is unknown. What is no number is not shown."""
    named = found.decode() if found and len(found) < 10 and found.isdigit() else "unknown"
    return StoreError(f"the game is stored in format {named}; this release knows {FORMAT.decode()}")
