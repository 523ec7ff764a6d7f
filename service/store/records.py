"""Conversion between values and the fields that the scripts take and return."""

from typing import Any

from service.store.errors import StoreError
from service.store.keys import FORMAT
from service.store.values import Entry, Record


def entry_arguments(entry: Entry) -> tuple[int, str, int | str, bytes, bytes]:
    """Return the arguments by which a script appends a log entry."""
    return entry.version, entry.nonce, "" if entry.seat is None else entry.seat, entry.move, entry.events


def parse_entry(entry_id: bytes, fields: list[bytes]) -> Entry:
    """Parse a log entry."""
    _, nonce, _, seat, _, move, _, events = fields
    return Entry(int(entry_id.partition(b"-")[0]), nonce.decode(), int(seat) if seat else None, move, events)


def parse_record(fields: list[Any]) -> Record:
    """Parse the fields of a game, in the order of `RECORD_FIELDS`.

    Raises:
        StoreError: the format is unknown.
    """
    stored_format, head, snapshot, decisions, meta, expires_at = fields
    if stored_format != FORMAT:
        raise unknown_format(stored_format)
    return Record(head.decode(), snapshot, decisions, meta, int(expires_at))


def unknown_format(found: bytes | None) -> StoreError:
    """Return the error for a game in an unknown format. It shows the stored value only if that is a number."""
    name = found.decode() if found and len(found) < 10 and found.isdigit() else "unknown"
    return StoreError(f"the game is stored in format {name}; this release supports format {FORMAT.decode()}")
