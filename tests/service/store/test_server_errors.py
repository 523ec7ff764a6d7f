"""Servers that are full, are replicas or reject clients: nothing changes, and the error says why."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from service.store import (
    Committed,
    Confirmed,
    Store,
    StoreFull,
    StoreUnavailable,
    connect,
)
from tests.service.store.games import SOON, confirm, create, log_of, move, new_game, new_id, new_request, stored
from tests.support.ports import free_port
from tests.support.store_servers import Server, eventually


def test_a_full_server_rejects_writes_changes_nothing_and_still_reads(own: Store, valkey: Server) -> None:
    game = new_game(own)
    first = move()
    own.games.commit(game, first, timeout=SOON)
    with valkey.client() as raw:
        raw.config_set("maxmemory", "1kb")
        before = own.games.read(game, timeout=SOON)

        with pytest.raises(StoreFull):
            own.games.commit(game, move("2-second"), timeout=SOON)
        with pytest.raises(StoreFull):
            create(own)
        with pytest.raises(StoreFull):
            own.reservations.reserve(new_request(), new_id(), ttl_ms=1000, timeout=SOON)
        assert own.games.read(game, timeout=SOON) == before
        assert len(log_of(own, game)) == 2

        raw.config_set("maxmemory", "0")
    assert isinstance(own.games.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)


def test_a_full_server_still_answers_a_repeated_request(own: Store, valkey: Server) -> None:
    game = new_game(own)
    commit = move()
    own.games.commit(game, commit, timeout=SOON)
    with valkey.client() as raw:
        raw.config_set("maxmemory", "1kb")
    before = own.games.read(game, timeout=SOON)

    for outcome in (confirm(own, game, commit), own.games.commit(game, commit, timeout=SOON)):
        assert isinstance(outcome, Confirmed)
        assert outcome.record == before


def test_a_replica_rejects_writes_until_it_is_promoted(own: Store, valkey: Server, tmp_path: Path) -> None:
    game = new_game(own)
    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {valkey.port}") as replica, replica.client() as raw:
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")
        store = connect(replica.url)

        with pytest.raises(StoreUnavailable, match="READONLY"):
            store.games.commit(game, move(), timeout=SOON)
        raw.replicaof("NO", "ONE")
        assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)


def test_a_replica_without_its_primary_that_serves_no_stale_data_is_unavailable(valkey: Server, tmp_path: Path) -> None:
    settings = ("--replicaof", f"127.0.0.1 {free_port()}", "--replica-serve-stale-data", "no")
    with Server(tmp_path / "replica", *settings) as replica:
        store = connect(replica.url)

        with pytest.raises(StoreUnavailable, match="MASTERDOWN"):
            store.games.read(new_id(), timeout=SOON)


def test_a_server_that_requires_replicas_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.config_set("min-replicas-to-write", 1)

    with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
        own.games.commit(game, move(), timeout=SOON)
    assert stored(own, game).head == "1-first"


def test_a_server_with_too_many_clients_is_unavailable(own: Store, valkey: Server) -> None:
    with valkey.client() as raw:
        raw.config_set("maxclients", 1)
        with ThreadPoolExecutor(1) as pool, pytest.raises(StoreUnavailable, match="max number of clients"):
            pool.submit(own.administration.ping, timeout=SOON).result()


def test_a_wrong_or_missing_password_is_reported_without_the_password(tmp_path: Path) -> None:
    with Server(tmp_path / "locked", "--requirepass", "right") as server:
        address = server.url.removeprefix("redis://")
        connect(f"redis://:right@{address}").administration.ping(timeout=SOON)
        with pytest.raises(StoreUnavailable, match="NOAUTH"):
            connect(server.url).administration.ping(timeout=SOON)
        with pytest.raises(StoreUnavailable, match="WRONGPASS") as error:
            connect(f"redis://:hunter2@{address}").administration.ping(timeout=SOON)
        assert "hunter2" not in str(error.value)


def test_a_user_without_access_to_the_channel_can_commit(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.acl_setuser("quiet", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@all"], channels=[])
    store = connect(f"redis://quiet:pw@127.0.0.1:{valkey.port}")

    assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)


def test_a_user_without_permissions_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.acl_setuser("reader", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@read"])
    store = connect(f"redis://reader:pw@127.0.0.1:{valkey.port}")

    assert stored(store, game).head == "1-first"
    with pytest.raises(StoreUnavailable, match="NOPERM"):
        store.games.commit(game, move(), timeout=SOON)


def test_an_address_without_a_server_is_unavailable(tmp_path: Path) -> None:
    for url in (f"redis://127.0.0.1:{free_port()}", f"unix://{tmp_path}/absent.sock", "redis://absent.invalid"):
        with pytest.raises(StoreUnavailable):
            create(connect(url), "game")
