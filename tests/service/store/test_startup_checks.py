"""Warnings about the store at the start of a service."""

from redis import Redis

from service.store import ServerReport, Store, connect
from tests.service.store.games import SOON
from tests.support.store_servers import Server


def test_a_well_configured_server_has_no_warnings_and_reports_its_version(store: Store, raw: Redis) -> None:
    facts = raw.info("server")
    name = f"Valkey {facts['valkey_version']}" if "valkey_version" in facts else f"Redis {facts['redis_version']}"

    assert store.administration.check(timeout=SOON) == ServerReport([], name, [])


def test_a_server_that_evicts_games_has_a_warning(own: Store, valkey: Server) -> None:
    with valkey.client() as raw:
        raw.config_set("maxmemory-policy", "allkeys-lru")

    (warning,) = own.administration.check(timeout=SOON).warnings

    assert "maxmemory-policy is allkeys-lru" in warning


def test_missing_replicas_have_a_warning(valkey: Server) -> None:
    store = connect(valkey.url, durable_replicas=2)

    (warning,) = store.administration.check(timeout=SOON).warnings

    assert "writes require 2 replicas, but 0 are connected" in warning
    store.close()


def test_a_server_that_reports_nothing_has_no_warnings(own: Store, valkey: Server) -> None:
    with valkey.client() as raw:
        raw.acl_setuser(
            "games", enabled=True, passwords=["+pw"], keys=["*"], channels=["*"], commands=["+@all", "-info", "-config"]
        )
    store = connect(f"redis://games:pw@127.0.0.1:{valkey.port}")

    assert store.administration.check(timeout=SOON) == ServerReport([], "a server that does not report its version", [])
    store.close()
