"""The store as its users see it: one part for each purpose, on shared connections."""

from service.store.administration import StoreAdministration
from service.store.client import Client
from service.store.durability import Durability
from service.store.games import GameStore
from service.store.instrumentation import Observer
from service.store.quotas import QuotaStore
from service.store.reservations import ReservationStore
from service.store.topology import Topology
from service.store.urls import parse


class Store:
    """A store.

    Attributes:
        games: the games.
        reservations: the game ids that NewGame requests hold.
        quotas: the games that count toward quotas.
        administration: health checks and resource usage.
    """

    def __init__(self, topology: Topology, durability: Durability, observer: Observer | None = None) -> None:
        self._client = Client(topology)
        self.games = GameStore(self._client, topology, durability, observer)
        self.reservations = ReservationStore(self._client, durability, observer)
        self.quotas = QuotaStore(self._client, observer)
        self.administration = StoreAdministration(self._client, durability)

    def close(self) -> None:
        """Close all connections. Calls in progress finish first; later calls raise `StoreUnavailable`."""
        self._client.close()


def connect(
    url: str, *, durable_replicas: int = 0, durable_timeout: float = 1.0, observer: Observer | None = None
) -> Store:
    """Return the store at a URL. No connection is opened yet.

    Args:
        url: `redis://[user:password@]host[:port][/db]`, `rediss://…` (TLS), `unix://[user:password@]/path[?db=0]`,
            `redis+sentinel://[user:password@]host[:port],…/master[/db]` or
            `redis+cluster://[user:password@]host[:port],…`; `valkey` is a synonym of `redis`.
        durable_replicas: how many replicas must confirm a write before it counts as done; 0 means none.
        durable_timeout: how long to wait for them, in seconds.
        observer: receives every operation on games, reservations and quotas.

    Raises:
        ValueError: the URL is invalid, or a number is out of range.
    """
    if durable_replicas < 0:
        raise ValueError(f"durable_replicas must not be negative, but is {durable_replicas}")
    if durable_timeout <= 0:
        raise ValueError(f"durable_timeout must be above 0 seconds, but is {durable_timeout}")
    topology = parse(url)
    return Store(topology, Durability(durable_replicas, durable_timeout, topology.suspect), observer)
