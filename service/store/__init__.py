"""The store of games: Redis or Valkey, bytes in and bytes out.

`connect` opens the store at a URL; `service.store.embedded` runs a private server for installations without one. A
`Store` has a part for each purpose: games, reservations, quotas and administration.

`keys` documents the stored format, and `scripts` the atomic changes. `client` sends commands to the server that
`topology` names; `connection` distinguishes what was not sent from what was not answered.
"""

from service.store.administration import StoreAdministration
from service.store.errors import StoreError, StoreFull, StoreUnavailable, Unconfirmed
from service.store.games import GameStore
from service.store.instrumentation import Observer
from service.store.notifications import Notifications
from service.store.quotas import QuotaStore
from service.store.reservations import ReservationStore
from service.store.store import Store, connect
from service.store.values import (
    Claimed,
    ClaimResult,
    Commit,
    CommitResult,
    Committed,
    Confirmed,
    Deleted,
    Entry,
    Followed,
    Gone,
    LiveExceeded,
    Liveness,
    Quota,
    RateExceeded,
    Record,
    Reused,
    ServerReport,
    Stale,
    Unchanged,
    Unverified,
    Usage,
    Verified,
)

__all__ = [
    "ClaimResult",
    "Claimed",
    "Commit",
    "CommitResult",
    "Committed",
    "Confirmed",
    "Deleted",
    "Entry",
    "Followed",
    "GameStore",
    "Gone",
    "LiveExceeded",
    "Liveness",
    "Notifications",
    "Observer",
    "Quota",
    "QuotaStore",
    "RateExceeded",
    "Record",
    "ReservationStore",
    "Reused",
    "ServerReport",
    "Stale",
    "Store",
    "StoreAdministration",
    "StoreError",
    "StoreFull",
    "StoreUnavailable",
    "Unchanged",
    "Unconfirmed",
    "Unverified",
    "Usage",
    "Verified",
    "connect",
]
