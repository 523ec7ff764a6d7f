"""Conversion between values and the elements of the list that is a game; see `service.store.keys`."""

from typing import Any, Final

from service.store.errors import StoreError, UnknownLayout
from service.store.keys import LAYOUT
from service.store.values import Archive, Log, LogEntry, Record

_TIME_BYTES: Final = 6
_DAMAGED: Final = "the log or the requests of the game do not have the length that its head requires"


def parse_record(elements: list[bytes]) -> Record:
    """Parse the first three elements of a game; see `exists`.

    Raises:
        UnknownLayout: the layout is unknown.
    """
    text, meta, state = elements
    head, created, updated, expires, archived = fields(text)
    return Record(head, int(created), int(updated), int(expires), int(archived), meta, state)


def exists(elements: list[bytes]) -> bool:
    """Return whether the elements are those of a game: neither missing nor a tombstone.

    Raises:
        UnknownLayout: the layout is unknown.
    """
    return bool(elements) and fields(elements[0]) != ["deleted"]


def fields(head: bytes) -> list[str]:
    """Return the fields of the head element, without the layout.

    Raises:
        UnknownLayout: the layout is unknown.
    """
    layout, *rest = str(head, "ascii", "replace").split(" ")
    if layout != LAYOUT:
        raise unknown_layout(layout)
    return rest


def parse_log(record: Record, first: int, elements: list[bytes]) -> Log:
    """Parse elements of the log, of which the first holds version `first`."""
    log: Log = []
    version = first
    for element in elements:
        committed_at, value = int.from_bytes(element[:_TIME_BYTES], "big"), element[_TIME_BYTES:]
        if version <= record.archived:
            log.append(Archive(record.archived, committed_at, value))
            version = record.archived
        else:
            log.append(LogEntry(version, committed_at, value))
        version += 1
    return log


def is_committed(record: Record, requests: bytes, request: bytes) -> bool:
    """Return whether the hash of a request is among those of a game.

    Raises:
        StoreError: they do not have the length that the head requires.
    """
    commits = int(record.head.partition("-")[0]) - 1
    if commits == 0 and not requests:
        return False
    if commits == 0 or not requests or len(requests) % commits:
        raise StoreError(_DAMAGED)
    size = len(requests) // commits
    return request[:size] in (requests[start : start + size] for start in range(0, len(requests), size))


def check(status: bytes, reply: list[Any]) -> None:
    """Raise the error that a script reports.

    Raises:
        UnknownLayout: the game has an unknown layout.
        StoreError: its elements do not fit together.
    """
    if status == b"LAYOUT":
        raise unknown_layout(str(reply[0], "ascii", "replace"))
    if status == b"DAMAGED":
        raise StoreError(_DAMAGED)


def unknown_layout(found: str) -> UnknownLayout:
    """Return the error for a game with an unknown layout. It shows the stored text only if that is a number."""
    name = found if len(found) < 10 and found.isdigit() else "unknown"
    return UnknownLayout(f"the game is stored in layout {name}; this release supports layout {LAYOUT}")
