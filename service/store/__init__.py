"""The store of games: Redis or Valkey, bytes in and bytes out.

`connect` turns a URL into a `Store`; `service.store.embedded` runs a private server for those who have none.
"""

from service.store.hints import Hints
from service.store.store import Store, connect
from service.store.values import (
    Checked,
    Commit,
    Committed,
    Deleted,
    Entry,
    Followed,
    Gone,
    Known,
    Outcome,
    Record,
    Repeated,
    Reused,
    Stale,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Unchanged,
    Unconfirmed,
    Usage,
)

__all__ = [
    "Checked",
    "Commit",
    "Committed",
    "Deleted",
    "Entry",
    "Followed",
    "Gone",
    "Hints",
    "Known",
    "Outcome",
    "Record",
    "Repeated",
    "Reused",
    "Stale",
    "Store",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "Unchanged",
    "Unconfirmed",
    "Usage",
    "connect",
]
