"""The store of games: Redis or Valkey, bytes in and bytes out.

`connect` turns a URL into a `Store`; `service.store.embedded` runs a private server for those who have none.
"""

from service.store.hints import Hints
from service.store.measuring import Measured
from service.store.store import Store, connect
from service.store.values import (
    Checked,
    Claim,
    Claimed,
    Commit,
    Committed,
    Deleted,
    Due,
    Entry,
    Followed,
    Full,
    Gone,
    Known,
    Looked,
    Outcome,
    Quota,
    Record,
    Repeated,
    Reused,
    Spent,
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
    "Claim",
    "Claimed",
    "Commit",
    "Committed",
    "Deleted",
    "Due",
    "Entry",
    "Followed",
    "Full",
    "Gone",
    "Hints",
    "Known",
    "Looked",
    "Measured",
    "Outcome",
    "Quota",
    "Record",
    "Repeated",
    "Reused",
    "Spent",
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
