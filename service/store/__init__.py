"""The store of games: Redis or Valkey, bytes in and bytes out.

`connect` opens the store at a URL; `service.store.embedded` runs a private server for installations without one. A
`Store` has a part for each purpose: games, reservations, quotas and administration.

`keys` documents the stored format, and `scripts` the atomic changes. `client` sends commands to the server that
`topology` names; `connection` distinguishes what was not sent from what was not answered.
"""

from service.store.administration import StoreAdministration
from service.store.errors import AccessDenied, StoreError, StoreFull, StoreUnavailable, Unconfirmed, UnknownLayout
from service.store.games import GameStore
from service.store.instrumentation import Observer
from service.store.notifications import Notifications
from service.store.quotas import QuotaStore
from service.store.reservations import ReservationStore
from service.store.store import Store, connect
from service.store.values import (
    Archive,
    Claimed,
    ClaimResult,
    Commit,
    CommitResult,
    Committed,
    Confirmed,
    Deleted,
    Everything,
    Fold,
    Followed,
    Gone,
    LiveExceeded,
    Liveness,
    Log,
    LogEntry,
    Quota,
    RateExceeded,
    Record,
    ServerReport,
    Stale,
    Unchanged,
    Unverified,
    Usage,
    Verified,
)

__all__ = [
    "AccessDenied",
    "Archive",
    "ClaimResult",
    "Claimed",
    "Commit",
    "CommitResult",
    "Committed",
    "Confirmed",
    "Deleted",
    "Everything",
    "Fold",
    "Followed",
    "GameStore",
    "Gone",
    "LiveExceeded",
    "Liveness",
    "Log",
    "LogEntry",
    "Notifications",
    "Observer",
    "Quota",
    "QuotaStore",
    "RateExceeded",
    "Record",
    "ReservationStore",
    "ServerReport",
    "Stale",
    "Store",
    "StoreAdministration",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "Unchanged",
    "Unconfirmed",
    "UnknownLayout",
    "Unverified",
    "Usage",
    "Verified",
    "connect",
]
