"""Servers that hang or crash: the error is correct and in time, and the store recovers by itself."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from service.store import (
    Committed,
    Confirmed,
    Record,
    Store,
    StoreError,
    StoreUnavailable,
    Unconfirmed,
    connect,
    connection,
)
from tests.service.store.games import SOON, log_of, move, new_game, new_id, stored
from tests.support.store_servers import Server, eventually


@contextmanager
def no_later_than(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


# --- A server that hangs ----------------------------------------------------------------------------------------------


def test_a_read_from_a_hanging_server_fails_in_time(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), no_later_than(1), pytest.raises(StoreUnavailable, match="no reply in time"):
        own.games.read(game, timeout=0.2)


def test_a_write_to_a_hanging_server_is_unconfirmed_and_its_retry_commits_once(own: Store, valkey: Server) -> None:
    game = new_game(own)
    own.games.commit(game, move(), timeout=SOON)
    commit = move("2-second", nonce="third")

    with valkey.frozen(), no_later_than(1), pytest.raises(Unconfirmed):
        own.games.commit(game, commit, timeout=0.2)

    assert isinstance(
        own.games.commit(game, commit, timeout=SOON), Committed | Confirmed
    )  # the server may run the first call after this one
    assert isinstance(own.games.commit(game, commit, timeout=SOON), Confirmed)
    assert [version for version, _ in log_of(own, game)] == [1, 2, 3]


def test_a_late_response_is_never_used_for_another_call(own: Store, valkey: Server) -> None:
    games = [new_game(own) for _ in range(5)]
    for number, game in enumerate(games):
        own.games.commit(game, move(nonce=f"game{number}"), timeout=SOON)

    with valkey.frozen():
        for game in games:
            with pytest.raises(StoreUnavailable):
                own.games.read(game, timeout=0.05)
            with pytest.raises(Unconfirmed):
                own.games.delete(new_id(), tombstone_ttl_ms=1000, timeout=0.05)

    for number, game in enumerate(games):
        record = own.games.read(game, timeout=SOON)
        assert isinstance(record, Record)
        assert record.head == f"2-game{number}"


def test_a_new_connection_to_a_hanging_server_fails_in_time(valkey: Server) -> None:
    fresh = connect(valkey.url)

    with valkey.frozen(), no_later_than(1), pytest.raises(StoreUnavailable):
        fresh.administration.ping(timeout=0.2)
    fresh.administration.ping(timeout=SOON)


def test_an_unresponsive_server_fails_long_before_a_long_deadline(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), no_later_than(3), pytest.raises(StoreUnavailable, match="no reply in time"):
        own.games.read(game, timeout=60)


def test_one_call_waits_for_an_unresponsive_server_and_others_fail_immediately(own: Store, valkey: Server) -> None:
    game = new_game(own)

    def waited(_: int) -> str:
        with pytest.raises(StoreUnavailable) as caught:
            own.games.read(game, timeout=SOON)
        return str(caught.value)

    with valkey.frozen(), ThreadPoolExecutor(20) as threads:
        waited(0)
        assert own.games.is_silent(game)
        errors = Counter(threads.map(waited, range(20)))

    assert errors == {"no reply in time": 1, "the server is silent, and another call waits for its first reply": 19}


def test_a_server_that_responds_again_is_not_silent(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.frozen(), pytest.raises(StoreUnavailable):
        own.games.read(game, timeout=SOON)

    assert isinstance(own.games.read(game, timeout=SOON), Record)

    assert not own.games.is_silent(game)


def test_a_call_with_a_short_timeout_does_not_make_a_server_silent(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), pytest.raises(StoreUnavailable):
        own.games.read(game, timeout=0.2)

    assert not own.games.is_silent(game)


def test_waiting_for_replicas_does_not_count_as_silence(own: Store, valkey: Server) -> None:
    store = connect(valkey.url, durable_replicas=1, durable_timeout=2)
    game = new_game(own)

    with pytest.raises(Unconfirmed, match="0 of 1 replicas"):
        store.games.commit(game, move(), timeout=SOON)

    assert not store.games.is_silent(game)
    store.close()


def test_an_expired_call_sends_nothing(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with pytest.raises(StoreUnavailable, match="no time left"):
        own.games.commit(game, move(), timeout=0)
    assert stored(own, game).head == "1-first"


# --- A server that crashes --------------------------------------------------------------------------------------------


def test_a_write_to_an_unavailable_server_changes_nothing(own: Store, valkey: Server) -> None:
    game = new_game(own)
    valkey.kill()

    with no_later_than(1):
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                own.games.commit(game, move(), timeout=SOON)


def test_a_killed_server_returns_with_its_games_and_calls_succeed(own: Store, valkey: Server) -> None:
    game = new_game(own)
    first = move()
    own.games.commit(game, first, timeout=SOON)
    with valkey.client() as raw:  # without this, acknowledged writes reach the disk within a second
        raw.config_set("appendfsync", "always")
        raw.waitaof(1, 0, 5000)
    valkey.kill()
    valkey.start()

    assert isinstance(own.games.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)
    assert isinstance(own.games.commit(game, first, timeout=SOON), Confirmed)
    assert [version for version, _ in log_of(own, game)] == [1, 2, 3]


def test_a_connection_that_broke_while_idle_fails_no_call(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)

    assert isinstance(own.games.commit(game, move(), timeout=SOON), Committed)


def test_a_connection_that_breaks_in_use_leaves_a_write_unconfirmed(
    own: Store, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_FRESH_SECONDS", SOON)
    game, commit = new_game(own), move()
    with valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)

    with pytest.raises(Unconfirmed):
        own.games.commit(game, commit, timeout=SOON)

    assert isinstance(own.games.commit(game, commit, timeout=SOON), Committed)
    assert isinstance(own.games.commit(game, commit, timeout=SOON), Confirmed)


@contextmanager
def held(server: Server, call: Callable[[], object]) -> Iterator[list[object]]:
    """Make a call while the server is paused: it receives the script but does not run it. Yield the results."""
    result: list[object] = []

    def make() -> None:
        try:
            result.append(call())
        except StoreError as error:
            result.append(error)

    with server.client() as raw:
        raw.execute_command("CLIENT", "PAUSE", "60000", "WRITE")
        thread = threading.Thread(target=make)
        thread.start()
        eventually(lambda: raw.info("clients")["blocked_clients"] == 1)
    yield result
    thread.join(SOON)


def test_a_write_whose_connection_breaks_before_the_response_is_unconfirmed(own: Store, valkey: Server) -> None:
    game, commit = new_game(own), move()

    with held(valkey, lambda: own.games.commit(game, commit, timeout=SOON)) as result, valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: result)
        raw.execute_command("CLIENT", "UNPAUSE")

    assert isinstance(result[0], Unconfirmed)
    assert isinstance(own.games.commit(game, commit, timeout=SOON), Committed)


def test_a_write_whose_server_dies_before_the_response_is_unconfirmed(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with held(valkey, lambda: own.games.commit(game, move(), timeout=SOON)) as result:
        valkey.kill()

    assert isinstance(result[0], Unconfirmed)


def test_a_read_whose_connection_breaks_before_the_response_is_repeated(own: Store, valkey: Server) -> None:
    game = new_game(own)

    def read() -> object:
        own.administration.ping(timeout=SOON)  # the connection works
        return own.games.read_log(game, first=1, timeout=SOON)

    with held(valkey, read) as result, valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: raw.info("clients")["blocked_clients"] == 1)
        raw.execute_command("CLIENT", "UNPAUSE")

    assert result == [own.games.read_log(game, first=1, timeout=SOON)]


def test_a_read_whose_server_dies_before_the_response_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with held(valkey, lambda: own.games.read_log(game, first=1, timeout=SOON)) as result:
        valkey.kill()

    assert isinstance(result[0], StoreUnavailable)


def test_lost_scripts_are_loaded_again(own: Store, valkey: Server) -> None:
    game = new_game(own)
    own.games.commit(game, move(), timeout=SOON)
    with valkey.client() as raw:
        raw.script_flush()

        assert isinstance(own.games.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)
        raw.script_flush()
        assert len(log_of(own, game)) == 3
        raw.script_flush()
        assert own.games.delete(game, tombstone_ttl_ms=1000, timeout=SOON) == b"meta"


# --- Close ------------------------------------------------------------------------------------------------------------


def test_a_closed_store_rejects_calls_and_closes_every_connection(own: Store, valkey: Server) -> None:
    with ThreadPoolExecutor(4) as pool, valkey.client() as raw:
        barrier = threading.Barrier(4)

        def ping(_: int) -> None:
            barrier.wait()
            own.administration.ping(timeout=SOON)

        list(pool.map(ping, range(4)))
        assert raw.info("clients")["connected_clients"] == 5

        own.close()

        eventually(lambda: raw.info("clients")["connected_clients"] == 1)
        with pytest.raises(StoreUnavailable, match="closed"):
            own.administration.ping(timeout=SOON)


def test_the_connection_of_a_finished_thread_is_closed(own: Store, valkey: Server) -> None:
    thread = threading.Thread(target=own.administration.ping, kwargs={"timeout": SOON})
    thread.start()
    thread.join()

    with valkey.client() as raw:
        eventually(lambda: raw.info("clients")["connected_clients"] == 1)
