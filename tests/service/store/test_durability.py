"""With required replicas, a write counts only when enough replicas have it."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from service.store import Committed, Confirmed, Deleted, Gone, Record, Stale, Store, Unconfirmed, connect
from tests.service.store.games import SOON, confirm, create, move, new_game, new_id, new_request
from tests.support.store_servers import Server, eventually


@pytest.fixture
def replica(valkey: Server, tmp_path: Path) -> Iterator[Server]:
    """A replica of the test's own server, in sync."""
    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {valkey.port}") as replica:
        caught_up(replica)
        yield replica


def caught_up(replica: Server) -> None:
    with replica.client() as raw:
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")


@pytest.fixture
def durable(valkey: Server) -> Iterator[Store]:
    """A store that waits for one replica for a short time."""
    store = connect(valkey.url, durable_replicas=1, durable_timeout=0.1)
    yield store
    store.close()


def test_replicated_writes_succeed(valkey: Server, replica: Server) -> None:
    durable = connect(valkey.url, durable_replicas=1, durable_timeout=SOON)
    request, game = new_request(), new_id()

    assert durable.reservations.reserve(request, game, ttl_ms=60_000, timeout=SOON) == game
    assert durable.reservations.reserve(request, new_id(), ttl_ms=60_000, timeout=SOON) == game
    created = create(durable, game)
    assert create(durable, game) == created
    commit = move()
    assert isinstance(durable.games.commit(game, commit, timeout=SOON), Committed)
    assert isinstance(durable.games.commit(game, commit, timeout=SOON), Confirmed)
    with replica.client() as raw:
        head = raw.lindex(f"sodafountain:{{{game}}}", 0)
        assert head.startswith(b"1 2-second ")  # replicated before the acknowledgement
    assert durable.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == b"meta"
    assert durable.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON) == Deleted()
    durable.close()


def test_a_commit_is_unconfirmed_until_a_replica_has_it(
    own: Store, durable: Store, valkey: Server, tmp_path: Path
) -> None:
    game = new_game(own)
    commit = move()

    with pytest.raises(Unconfirmed, match="0 of 1 replicas"):
        durable.games.commit(game, commit, timeout=SOON)
    with pytest.raises(Unconfirmed, match="0 of 1 replicas"):
        durable.games.commit(game, commit, timeout=SOON)
    with pytest.raises(Unconfirmed, match="0 of 1 replicas"):
        confirm(durable, game, commit)

    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {valkey.port}") as replica:
        caught_up(replica)
        confirmed = connect(valkey.url, durable_replicas=1, durable_timeout=SOON)
        assert isinstance(confirm(confirmed, game, commit), Confirmed)
        confirmed.close()


def test_every_write_and_its_repeat_is_unconfirmed_without_replicas(own: Store, durable: Store) -> None:
    request, game, other = new_request(), new_id(), new_game(own)
    for _ in range(2):
        with pytest.raises(Unconfirmed):
            durable.reservations.reserve(request, game, ttl_ms=60_000, timeout=SOON)
        with pytest.raises(Unconfirmed):
            create(durable, game)
        with pytest.raises(Unconfirmed):
            durable.games.delete(other, tombstone_ttl_ms=60_000, timeout=SOON)

    assert own.reservations.reserve(request, new_id(), ttl_ms=60_000, timeout=SOON) == game
    assert own.games.read(other, timeout=SOON) is None


@pytest.mark.parametrize("method", ["reserve", "create", "commit", "confirm", "delete"])
def test_a_repeat_over_a_new_connection_waits_for_lagging_replicas(
    own: Store, durable: Store, valkey: Server, replica: Server, method: str
) -> None:
    request, game, commit = new_request(), new_game(own), move()
    first: dict[str, Callable[[Store], object]] = {
        "reserve": lambda store: store.reservations.reserve(request, game, ttl_ms=60_000, timeout=SOON),
        "create": lambda store: create(store, game),
        "commit": lambda store: store.games.commit(game, commit, timeout=SOON),
        "delete": lambda store: store.games.delete(game, tombstone_ttl_ms=60_000, timeout=SOON),
    }
    first["confirm"] = first["commit"]
    calls: dict[str, Callable[[Store], object]] = {**first, "confirm": lambda store: confirm(store, game, commit)}
    with valkey.client() as raw:
        with replica.frozen():
            first[method](own)
            with pytest.raises(Unconfirmed):  # WAIT returns immediately on a connection without writes
                calls[method](durable)
        assert raw.wait(1, 5000) == 1
    calls[method](durable)


def test_a_call_that_writes_nothing_needs_no_replica(own: Store, durable: Store) -> None:
    game = new_game(own)
    own.games.commit(game, move(), timeout=SOON)

    assert isinstance(durable.games.commit(game, move(), timeout=SOON), Stale)
    assert durable.games.commit(new_id(), move(), timeout=SOON) == Gone()
    assert durable.games.delete(new_id(), tombstone_ttl_ms=1000, timeout=SOON) is None
    assert isinstance(durable.games.read(game, timeout=SOON), Record)


def test_waiting_for_replicas_is_limited_by_the_callers_timeout(own: Store, valkey: Server) -> None:
    game = new_game(own)
    own.games.commit(game, move(), timeout=SOON)
    store = connect(valkey.url, durable_replicas=1, durable_timeout=60)
    started = time.monotonic()

    with pytest.raises(Unconfirmed):
        store.games.commit(game, move("2-second"), timeout=0.4)

    assert time.monotonic() - started < 1.5
    store.close()


def test_missing_scripts_are_loaded_in_durable_mode_too(valkey: Server, replica: Server) -> None:
    store = connect(valkey.url, durable_replicas=1, durable_timeout=SOON)
    game = new_game(store)
    with valkey.client() as raw:
        raw.script_flush()

    assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)
    store.close()
