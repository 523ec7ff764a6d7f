"""Store URLs: their format, and the errors of invalid ones."""

import re
from pathlib import Path

import pytest
from redis.connection import Connection as TcpConnection
from redis.connection import SSLConnection, UnixDomainSocketConnection

from service.store import Committed, StoreUnavailable, connect
from service.store.topology import Cluster, Sentinel, Standalone
from service.store.urls import parse
from tests.service.store.games import SOON, move, new_game
from tests.support.store_servers import Server


@pytest.mark.parametrize(
    ("url", "kind", "address", "settings"),
    [
        ("redis://store", TcpConnection, ("store", 6379), {}),
        ("valkey://store:7000/3", TcpConnection, ("store", 7000), {"db": 3}),
        ("redis://[::1]:7000", TcpConnection, ("::1", 7000), {}),
        ("redis://me:p%40ss@store/", TcpConnection, ("store", 6379), {"username": "me", "password": "p@ss"}),
        ("redis://:p:w@store", TcpConnection, ("store", 6379), {"password": "p:w"}),
        ("rediss://store", SSLConnection, ("store", 6379), {}),
        (
            "valkeys://store?ssl_ca_certs=/etc/ca.pem&ssl_check_hostname=false&ssl_cert_reqs=none",
            SSLConnection,
            ("store", 6379),
            {"ssl_ca_certs": "/etc/ca.pem", "ssl_check_hostname": False, "ssl_cert_reqs": "none"},
        ),
        ("unix:///run/valkey.sock", UnixDomainSocketConnection, ("/run/valkey.sock", 0), {}),
        (
            "unix://:pw@/run/a%20b.sock?db=2",
            UnixDomainSocketConnection,
            ("/run/a b.sock", 0),
            {"password": "pw", "db": 2},
        ),
    ],
)
def test_a_url_of_one_server_has_an_address_and_settings(
    url: str, kind: type, address: tuple[str, int], settings: dict[str, object]
) -> None:
    topology = parse(url)

    assert isinstance(topology, Standalone)
    assert (topology._connection_type, topology._address, topology._settings) == (kind, address, settings)


def test_a_sentinel_url_names_sentinels_primary_and_database() -> None:
    topology = parse("redis+sentinel://me:pw@s1,s2:7000,[::1]/soda/2?sentinel_password=spw")

    assert isinstance(topology, Sentinel)
    assert topology._sentinels._addresses == [("s1", 26379), ("s2", 7000), ("::1", 26379)]
    assert topology._sentinels._primary == "soda"
    assert topology._settings == {"username": "me", "password": "pw", "db": 2}
    connection = topology._sentinels._subscriber(("s1", 26379), 1.0)
    assert (connection.host, connection.port, connection.db) == ("s1", 26379, 0)
    assert (connection.username, connection.password) == (None, "spw")


def test_a_cluster_url_names_seed_nodes() -> None:
    topology = parse("valkeys+cluster://:pw@n1,n2:7000")

    assert isinstance(topology, Cluster)
    assert topology._seeds == [("n1", 6379), ("n2", 7000)]
    assert topology._connection_type is SSLConnection


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "must begin with redis://"),
        ("localhost:6379", "must begin with redis://"),
        ("http://:hunter2@store", "must begin with redis://"),
        ("unix+cluster:///hunter2", "must begin with redis://"),
        ("redis+magic://hunter2", "must begin with redis://"),
        ("redis://", "has no host"),
        ("redis://:hunter2@", "has no host"),
        ("redis://:hunter2@:6379", "has no host"),
        ("redis://hunter2@store", "user name but no password"),
        ("redis://user@hunter2@store?no=yes", "an unknown option: no"),
        ("redis://:hunter2@store:port", "an invalid port"),
        ("redis://:hunter2@store:99999", "an invalid port"),
        ("redis://:hunter2@[::1", "is invalid"),
        ("redis://:hunter2@store..local", "a malformed host"),
        ("redis://:hunter2@store/games", "database must be a number"),
        ("redis://:hunter2@store/1/2", "database must be a number"),
        ("redis://:hunter2@a,b", "has several hosts"),
        ("redis://:hun#ter2@store", "contains '#'"),
        ("redis://:hunter2@store?socket_timeout=5", "an unknown option: socket_timeout"),
        ("redis://:hunter2@store?ssl_cert_reqs=none", "an unknown option: ssl_cert_reqs"),
        ("rediss://:hunter2@store?ssl_check_hostname=hunter2", "an invalid value for option ssl_check_hostname"),
        ("unix://:hunter2@", "needs an absolute path"),
        ("unix://run/valkey.sock", "needs an absolute path"),
        ("redis+sentinel://:hunter2@s1,s2", "needs the name of the primary"),
        ("redis+sentinel://:hunter2@s1/soda/games", "database must be a number"),
        ("redis+cluster://:hunter2@n1,n2/1", "a cluster has no numbered databases"),
        ("redis+cluster://:hunter2@n1,,n2", "has no host"),
    ],
)
def test_an_invalid_url_is_rejected_with_a_reason_and_without_its_password(url: str, reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)) as error:
        connect(url)

    assert "ter2" not in str(error.value)
    assert "\n" not in str(error.value)
    assert (
        error.value.__suppress_context__ or error.value.__context__ is None
    )  # a traceback must not show it in the cause either


@pytest.mark.parametrize(("replicas", "seconds"), [(-1, 1.0), (1, 0.0)])
def test_invalid_durability_is_rejected(replicas: int, seconds: float) -> None:
    with pytest.raises(ValueError, match="durable_"):
        connect("redis://store", durable_replicas=replicas, durable_timeout=seconds)


def test_user_database_and_password_are_used(valkey: Server) -> None:
    with valkey.client() as raw:
        raw.acl_setuser("soda", enabled=True, passwords=["+a b%@"], keys=["*"], channels=["*"], commands=["+@all"])
    store = connect(f"valkey://soda:a%20b%25%40@127.0.0.1:{valkey.port}/3")

    game = new_game(store)

    assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)
    with valkey.client() as raw:
        assert raw.info("keyspace")["db3"]["keys"] == 1
    store.close()


def test_a_missing_database_is_unavailable(valkey: Server) -> None:
    store = connect(f"redis://127.0.0.1:{valkey.port}/99")

    with pytest.raises(StoreUnavailable, match="out of range"):
        store.administration.ping(timeout=SOON)
    store.close()


def test_a_unix_socket_is_reached_by_its_url(tmp_path_factory: pytest.TempPathFactory, tmp_path: Path) -> None:
    socket = tmp_path_factory.getbasetemp() / "v.sock"
    with Server(tmp_path / "valkey", "--unixsocket", str(socket)):
        store = connect(f"unix://{socket}?db=1")

        assert isinstance(store.games.commit(new_game(store), move(), timeout=SOON), Committed)
        store.close()
