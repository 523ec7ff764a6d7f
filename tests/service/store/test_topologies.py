"""The store on a cluster, and on a primary that sentinels name."""

from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from redis.crc import key_slot

from service.store import (
    Claimed,
    Committed,
    Confirmed,
    LiveExceeded,
    Quota,
    Record,
    Store,
    StoreError,
    StoreUnavailable,
    Unconfirmed,
    connect,
    sentinels,
)
from service.store.keys import game_keys
from tests.service.store.games import FIRST, MINUTE, SOON, create, log_of, move, new_game, new_id, new_request
from tests.service.store.subscriber import Subscriber
from tests.support.ports import free_port
from tests.support.quotas import new_owner
from tests.support.store_servers import Server, eventually

SLOTS = 16384

# --- Cluster ----------------------------------------------------------------------------------------------------------


class Cluster:
    """Three nodes with a third of the slots each."""

    def __init__(self, nodes: list[Server]) -> None:
        self.nodes = nodes
        self.url = "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in nodes)
        for number, node in enumerate(nodes):
            with node.client() as raw:
                first, last = SLOTS * number // 3, SLOTS * (number + 1) // 3 - 1
                raw.execute_command("CLUSTER", "ADDSLOTSRANGE", first, last)
                raw.execute_command("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
                for other in nodes[:number]:
                    bus = other.settings[other.settings.index("--cluster-port") + 1]
                    raw.execute_command("CLUSTER", "MEET", "127.0.0.1", other.port, bus)
        eventually(lambda: all(map(self._ready, nodes)))

    @staticmethod
    def _ready(node: Server) -> bool:
        with node.client() as raw:
            info = raw.execute_command("CLUSTER", "INFO")
            return b"cluster_state:ok" in info and b"cluster_known_nodes:3" in info

    def game_on(self, number: int) -> str:
        """Return a new id of a game whose slot is on a node."""
        while slot_of(game := new_id()) * 3 // SLOTS != number:
            pass
        return game


def slot_of(game: str) -> int:
    return key_slot(f"{{{game}}}".encode())


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A cluster for all tests, since it takes two seconds to start. Tests must leave it complete."""
    folder = tmp_path_factory.mktemp("cluster")
    with ExitStack() as nodes:
        settings = (
            "--cluster-enabled",
            "yes",
            "--cluster-node-timeout",
            "1000",
            "--cluster-allow-replica-migration",
            "no",
        )
        yield Cluster(
            [
                nodes.enter_context(Server(folder / f"node{number}", *settings, "--cluster-port", str(free_port())))
                for number in range(3)
            ]
        )


@pytest.fixture
def clustered(cluster: Cluster) -> Iterator[Store]:
    store = connect(cluster.url)
    yield store
    store.close()


def test_games_are_stored_on_every_node_of_a_cluster(cluster: Cluster, clustered: Store) -> None:
    for number, node in enumerate(cluster.nodes):
        game, commit = cluster.game_on(number), move()

        assert clustered.reservations.reserve(new_request(), game, ttl_ms=60_000, timeout=SOON) == game
        assert create(clustered, game) is not None
        assert isinstance(clustered.games.commit(game, commit, timeout=SOON), Committed)
        assert isinstance(clustered.games.commit(game, commit, timeout=SOON), Confirmed)
        assert clustered.games.read_for_request(game, new_request(), timeout=SOON) is not None
        assert len(log_of(clustered, game)) == 2
        with node.client() as raw:
            assert raw.exists(game_keys(game).game)
        assert clustered.games.delete(game, tombstone_ttl_ms=1000, timeout=SOON) == b"meta"
    clustered.administration.ping(timeout=SOON)
    checked = clustered.administration.check(timeout=SOON)
    assert not checked.warnings
    assert checked.server.startswith("Valkey ")


def test_games_on_every_node_of_a_cluster_are_counted_for_their_owner(cluster: Cluster, clustered: Store) -> None:
    quota, owner = Quota(live=3, created=9, window_ms=60_000), new_owner()
    games = [cluster.game_on(number) for number in range(3)]

    for game in games:
        assert clustered.quotas.claim(owner, game, quota, hold_ms=MINUTE, timeout=SOON) == Claimed()
        assert not clustered.quotas.exists(game, timeout=SOON)
    assert clustered.quotas.claim(owner, new_id(), quota, hold_ms=MINUTE, timeout=SOON) == LiveExceeded([])
    clustered.quotas.release(owner, games[1], timeout=SOON)
    assert clustered.quotas.claim(owner, new_id(), quota, hold_ms=MINUTE, timeout=SOON) == Claimed()


def test_changes_on_every_node_of_a_cluster_are_reported(cluster: Cluster, clustered: Store) -> None:
    subscriber = Subscriber(clustered)
    for number in range(3):
        game = cluster.game_on(number)
        create(clustered, game)
        subscriber.subscribe(game)

        clustered.games.commit(game, move(), timeout=SOON)

        assert subscriber.next() == game
        assert len(log_of(clustered, game)) == 2
    subscriber.notifications.close()


def test_a_slot_can_move_while_its_games_are_played(cluster: Cluster, clustered: Store) -> None:
    game = cluster.game_on(0)
    slot = slot_of(game)
    create(clustered, game)
    clustered.games.commit(game, move(), timeout=SOON)
    old, new = cluster.nodes[0], cluster.nodes[1]
    with old.client() as source, new.client() as target:
        source_id, target_id = (raw.execute_command("CLUSTER", "MYID").decode() for raw in (source, target))
        target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
        source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
        [key] = source.execute_command("CLUSTER", "GETKEYSINSLOT", slot, 10)  # a game moves at once

        assert isinstance(clustered.games.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)
        source.execute_command("MIGRATE", "127.0.0.1", new.port, key, 0, 5000)
        assert isinstance(clustered.games.commit(game, move("3-third", nonce="fourth"), timeout=SOON), Committed)  # ASK

        for raw in (target, source):
            raw.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target_id)
    assert isinstance(clustered.games.commit(game, move("4-fourth", nonce="fifth"), timeout=SOON), Committed)  # MOVED
    assert [version for version, _ in log_of(clustered, game)] == [1, 2, 3, 4, 5]


def test_a_dead_node_affects_only_its_own_games_until_it_returns(cluster: Cluster, clustered: Store) -> None:
    for node in cluster.nodes:
        with node.client() as raw:
            raw.config_set("cluster-require-full-coverage", "no")
            raw.config_set("appendfsync", "always")
    games = [cluster.game_on(number) for number in range(3)]
    for game in games:
        create(clustered, game)

    cluster.nodes[0].kill()

    for _ in range(2):
        with pytest.raises(StoreUnavailable):
            clustered.games.commit(games[0], move(), timeout=SOON)
    for game in games[1:]:
        assert isinstance(clustered.games.commit(game, move(), timeout=SOON), Committed)

    cluster.nodes[0].start()
    eventually(lambda: succeeds(lambda: clustered.games.read(games[0], timeout=SOON)))
    assert isinstance(clustered.games.commit(games[0], move(), timeout=SOON), Committed)


def test_games_continue_when_a_replica_replaces_a_dead_node(cluster: Cluster, tmp_path: Path) -> None:
    game = cluster.game_on(0)
    dead = cluster.nodes[0]
    store = connect(f"redis+cluster://127.0.0.1:{dead.port}")  # the only node that the URL names
    create(store, game)
    with Server(tmp_path / "spare", *dead.settings[:-1], str(free_port())) as spare, spare.client() as heir:
        with dead.client() as raw:
            dead_id = raw.execute_command("CLUSTER", "MYID")
        heir.execute_command("CLUSTER", "MEET", "127.0.0.1", dead.port, dead.settings[-1])
        eventually(lambda: dead_id in heir.execute_command("CLUSTER", "NODES"))
        heir.execute_command("CLUSTER", "REPLICATE", dead_id)
        eventually(lambda: heir.info("replication")["master_link_status"] == "up")

        dead.kill()
        heir.execute_command("CLUSTER", "FAILOVER", "TAKEOVER")
        commit = move()
        eventually(lambda: succeeds(lambda: store.games.commit(game, commit, timeout=1)))

        dead.start()  # it becomes the primary again below
        with dead.client() as raw:
            eventually(lambda: raw.info("replication").get("master_link_status") == "up")
            raw.execute_command("CLUSTER", "FAILOVER")
            eventually(lambda: raw.info("replication")["role"] == "master")
        eventually(lambda: succeeds(lambda: store.games.commit(game, move("2-second", nonce="third"), timeout=1)))
    store.close()


def test_a_cluster_is_discovered_through_any_available_node(cluster: Cluster) -> None:
    store = connect(f"redis+cluster://127.0.0.1:{free_port()},127.0.0.1:{cluster.nodes[2].port}")

    assert create(store) is not None
    store.close()


def test_the_url_of_one_cluster_node_is_reported_as_the_wrong_kind(cluster: Cluster) -> None:
    store = connect(cluster.nodes[0].url)

    with pytest.raises(StoreUnavailable, match=r"must be redis\+cluster://"):
        store.games.read(cluster.game_on(1), timeout=SOON)
    store.close()


def test_a_cluster_url_of_a_single_server_is_reported_as_the_wrong_kind(valkey: Server) -> None:
    store = connect(f"redis+cluster://127.0.0.1:{valkey.port}")

    with pytest.raises(StoreUnavailable, match="cluster support disabled"):
        store.administration.ping(timeout=SOON)
    store.close()


def succeeds(call: Any) -> bool:
    with suppress(StoreError):
        return bool(call())
    return False


# --- Sentinel ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def replica(valkey: Server, tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {valkey.port}") as replica, replica.client() as raw:
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")
        yield replica


@pytest.fixture
def sentinel(valkey: Server, replica: Server, tmp_path: Path) -> Iterator[Server]:
    """A sentinel that monitors the test's own server and fails over fast."""
    with Server(tmp_path / "sentinel", sentinel=True) as sentinel, sentinel.client() as raw:
        raw.execute_command("SENTINEL", "MONITOR", "soda", "127.0.0.1", valkey.port, 1)
        raw.execute_command("SENTINEL", "SET", "soda", "down-after-milliseconds", 300, "failover-timeout", 3000)
        eventually(lambda: [it["master-link-status"] for it in raw.sentinel_slaves("soda")] == ["ok"])
        yield sentinel


def test_the_store_follows_the_primary_that_a_sentinel_names(valkey: Server, replica: Server, sentinel: Server) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{free_port()},127.0.0.1:{sentinel.port}/soda/0")
    game, commit = new_game(store), move()
    assert isinstance(store.games.commit(game, commit, timeout=SOON), Committed)
    with valkey.client() as raw:
        raw.wait(1, 5000)

    valkey.kill()

    with pytest.raises(StoreUnavailable):
        store.games.commit(game, move("2-second"), timeout=1)
    later = move("2-second", nonce="third")
    eventually(lambda: succeeds(lambda: store.games.commit(game, later, timeout=1)))
    assert log_of(store, game) == [(1, FIRST), (2, commit.entry), (3, later.entry)]
    with replica.client() as raw:
        assert raw.info("replication")["role"] == "master"
    store.close()


def test_notifications_come_from_the_primary_that_a_sentinel_names(
    valkey: Server, replica: Server, sentinel: Server
) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")
    game, subscriber = new_game(store), Subscriber(store)
    subscriber.subscribe(game)
    with valkey.client() as raw:
        raw.wait(1, 5000)

    valkey.kill()

    assert subscriber.next() == game  # it has subscribed at the new primary and may have missed a change
    with replica.client() as raw:
        assert raw.info("replication")["role"] == "master"
    eventually(lambda: succeeds(lambda: store.games.commit(game, move(nonce="late"), timeout=1)))
    assert subscriber.next() == game
    subscriber.notifications.close()
    store.close()


def fail_over(sentinel: Server, replica: Server) -> None:
    """Replace the primary, which lives on and accepts writes until the sentinel reconfigures it seconds later."""
    with sentinel.client() as raw:
        raw.execute_command("SENTINEL", "FAILOVER", "soda")
        eventually(lambda: raw.sentinel_master("soda")["port"] == replica.port)


def test_a_replaced_primary_that_still_answers_is_left_within_a_second(
    valkey: Server, replica: Server, sentinel: Server
) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")
    game = new_game(store)
    with valkey.client() as old, replica.client() as new:
        old.wait(1, 5000)
        fail_over(sentinel, replica)
        named = monotonic()
        key = game_keys(game).game
        eventually(lambda: store.games.read(game, timeout=SOON) and connected(new), within=1)
        assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)
        assert monotonic() - named < 1
        assert len(new.lrange(key, 0, -1)) == len(old.lrange(key, 0, -1)) + 1
    store.close()


def connected(raw: Any) -> bool:
    """Return whether a script has been run on a server, which only the store does."""
    return any(name.lower().startswith(("cmdstat_eval", "cmdstat_lrange")) for name in raw.info("commandstats"))


def test_a_replaced_primary_is_left_without_an_announcement(
    valkey: Server, replica: Server, sentinel: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sentinels are also asked at intervals."""
    monkeypatch.setattr(sentinels, "_CHANNEL", b"+other")
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")
    game = new_game(store)
    with valkey.client() as old, replica.client() as new:
        old.wait(1, 5000)
        fail_over(sentinel, replica)
        eventually(lambda: store.games.read(game, timeout=SOON) and connected(new), within=2)
    store.close()


def test_the_sentinels_are_asked_at_once_when_too_few_replicas_confirm(
    valkey: Server, replica: Server, sentinel: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentinels, "_CHANNEL", b"+other")
    monkeypatch.setattr(sentinels, "_INTERVAL_SECONDS", 3600.0)
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda", durable_replicas=1, durable_timeout=0.2)
    game = new_game(store)
    with replica.client() as new:
        fail_over(sentinel, replica)
        with pytest.raises(Unconfirmed):
            store.games.commit(game, move(), timeout=SOON)
        eventually(lambda: connected_after(store, game, new))
    store.close()


def connected_after(store: Store, game: str, new: Any) -> bool:
    store.games.read(game, timeout=SOON)
    return connected(new)


def test_connections_to_a_replaced_primary_are_closed(valkey: Server, replica: Server, sentinel: Server) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")
    game, subscriber = new_game(store), Subscriber(store)
    subscriber.subscribe(game)
    with valkey.client() as old, replica.client() as new:
        old.wait(1, 5000)
        clients = [
            it["id"] for it in old.client_list(_type="normal") + old.client_list(_type="pubsub") if not it["name"]
        ]
        fail_over(sentinel, replica)
        assert subscriber.next() == game  # it has subscribed at the new primary and may have missed a change
        eventually(lambda: connected_after(store, game, new))
        left = {it["id"] for it in old.client_list()}
        own = old.client_id()
        assert [it for it in clients if it in left and int(it) != own] == []
    subscriber.notifications.close()
    store.close()


def test_a_primary_that_became_a_replica_is_called_only_once_more(
    valkey: Server, replica: Server, sentinel: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sentinels, "_CHANNEL", b"+other")
    monkeypatch.setattr(sentinels, "_INTERVAL_SECONDS", 3600.0)
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")
    game = new_game(store)
    with valkey.client() as old:
        old.wait(1, 5000)
        fail_over(sentinel, replica)
        old.replicaof("127.0.0.1", replica.port)  # the sentinel does the same, later

    with pytest.raises(StoreUnavailable, match="READONLY"):
        store.games.commit(game, move(), timeout=SOON)
    assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)
    record = store.games.read(game, timeout=SOON)
    assert isinstance(record, Record)
    assert record.head == "2-second"
    store.close()


def test_the_newest_configuration_of_several_sentinels_counts(
    valkey: Server, replica: Server, sentinel: Server, tmp_path: Path
) -> None:
    """A sentinel that was cut off from the others names the former primary."""
    with Server(tmp_path / "cut-off", sentinel=True) as cut_off, cut_off.client() as raw:
        raw.execute_command("SENTINEL", "MONITOR", "soda", "127.0.0.1", valkey.port, 2)
        with cut_off.frozen():
            fail_over(sentinel, replica)
        for order in ((sentinel, cut_off), (cut_off, sentinel)):
            hosts = ",".join(f"127.0.0.1:{it.port}" for it in order)
            store = connect(f"redis+sentinel://{hosts}/soda")
            new_game(store)
            [address] = store._client.servers(monotonic() + SOON)
            assert address == ("127.0.0.1", replica.port)
            store.close()


def test_a_primary_that_no_sentinel_knows_is_unavailable(sentinel: Server) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/other")

    with pytest.raises(StoreUnavailable, match="name no primary"):
        store.administration.ping(timeout=SOON)
    store.close()


def test_hanging_sentinels_take_no_more_than_the_callers_timeout(sentinel: Server) -> None:
    store = connect(f"redis+sentinel://127.0.0.1:{sentinel.port}/soda")

    with sentinel.frozen(), pytest.raises((StoreUnavailable, Unconfirmed)):
        store.administration.ping(timeout=0.2)
    store.administration.ping(timeout=SOON)
    store.close()
