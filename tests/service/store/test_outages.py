"""Servers that hang, die, fill up and turn callers away: a true error in time, and recovery by itself."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.store import (
    Committed,
    Record,
    Repeated,
    Store,
    StoreError,
    StoreFull,
    StoreUnavailable,
    Unchanged,
    Unconfirmed,
    connect,
    connection,
)
from tests.service.store.games import SOON, create, move, new_game, new_id, new_request
from tests.service.store.servers import Server, eventually
from tests.support.ports import free_port


@contextmanager
def no_later_than(seconds: float) -> Iterator[None]:
    started = time.monotonic()
    yield
    assert time.monotonic() - started < seconds


# --- A server that hangs ----------------------------------------------------------------------------------------------


def test_a_read_from_a_server_that_hangs_fails_in_time(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), no_later_than(1), pytest.raises(StoreUnavailable, match="no answer in time"):
        own.read(game, timeout=0.2)


def test_a_write_to_a_server_that_hangs_is_unconfirmed_and_a_retry_commits_it_once(own: Store, valkey: Server) -> None:
    game = new_game(own)
    own.commit(game, move(), timeout=SOON)
    commit = move("2-second", nonce="third")

    with valkey.frozen(), no_later_than(1), pytest.raises(Unconfirmed):
        own.commit(game, commit, timeout=0.2)

    assert isinstance(own.commit(game, commit, timeout=SOON), Committed | Repeated)  # the first may be run after it
    assert isinstance(own.commit(game, commit, timeout=SOON), Repeated)
    assert [entry.version for entry in own.log(game, first=1, count=10, timeout=SOON)] == [1, 2, 3]


def test_a_late_answer_is_never_taken_for_that_of_another_call(own: Store, valkey: Server) -> None:
    games = [new_game(own) for _ in range(5)]
    for number, game in enumerate(games):
        own.commit(game, move(nonce=f"game{number}"), timeout=SOON)

    with valkey.frozen():
        for game in games:
            with pytest.raises(StoreUnavailable):
                own.read(game, timeout=0.05)
            with pytest.raises(Unconfirmed):
                own.delete(new_id(), tombstone_ttl_ms=1000, timeout=0.05)

    for number, game in enumerate(games):
        record = own.read(game, timeout=SOON)
        assert isinstance(record, Record)
        assert record.head == f"2-game{number}"


def test_a_new_connection_to_a_server_that_hangs_fails_in_time(valkey: Server) -> None:
    fresh = connect(valkey.url)

    with valkey.frozen(), no_later_than(1), pytest.raises(StoreUnavailable):
        fresh.ping(timeout=0.2)
    fresh.ping(timeout=SOON)


def test_a_server_without_a_word_is_not_waited_for_as_long_as_the_caller_can_wait(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), no_later_than(3), pytest.raises(StoreUnavailable, match="no answer in time"):
        own.read(game, timeout=60)


def test_one_call_waits_for_a_silent_server_and_the_others_hear_of_it_at_once(own: Store, valkey: Server) -> None:
    game = new_game(own)

    def waited(_: int) -> str:
        with pytest.raises(StoreUnavailable) as caught:
            own.read(game, timeout=SOON)
        return str(caught.value)

    with valkey.frozen(), ThreadPoolExecutor(20) as threads:
        waited(0)
        assert own.silent(game)
        told = Counter(threads.map(waited, range(20)))

    assert told == {"no answer in time": 1, "the server is silent, and another call waits for its first word": 19}


def test_a_server_that_speaks_again_is_silent_no_more(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.frozen(), pytest.raises(StoreUnavailable):
        own.read(game, timeout=SOON)

    assert isinstance(own.read(game, timeout=SOON), Record)

    assert not own.silent(game)


def test_a_call_that_could_not_wait_does_not_make_a_server_silent(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with valkey.frozen(), pytest.raises(StoreUnavailable):
        own.read(game, timeout=0.2)

    assert not own.silent(game)


def test_waiting_for_replicas_is_no_silence(own: Store, valkey: Server) -> None:
    store = connect(valkey.url, durable_replicas=1, durable_timeout=2)
    game = new_game(own)

    with pytest.raises(Unconfirmed, match="0 of 1 replicas"):
        store.commit(game, move(), timeout=SOON)

    assert not store.silent(game)
    store.close()


def test_no_time_left_sends_nothing(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with pytest.raises(StoreUnavailable, match="no time left"):
        own.commit(game, move(), timeout=0)
    assert own.read(game, known_head="1-first", timeout=SOON).__class__ is Unchanged


# --- A server that dies -----------------------------------------------------------------------------------------------


def test_a_write_to_a_server_that_is_away_changed_nothing(own: Store, valkey: Server) -> None:
    game = new_game(own)
    valkey.kill()

    with no_later_than(1):
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                own.commit(game, move(), timeout=SOON)


def test_a_killed_server_comes_back_with_its_games_and_no_call_fails_after_that(own: Store, valkey: Server) -> None:
    game = new_game(own)
    first = move()
    own.commit(game, first, timeout=SOON)
    with valkey.client() as raw:  # what is acknowledged reaches the disk within a second; the test does not wait for it
        raw.config_set("appendfsync", "always")
        raw.waitaof(1, 0, 5000)
    valkey.kill()
    valkey.start()

    assert isinstance(own.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)
    assert isinstance(own.commit(game, first, timeout=SOON), Repeated)
    assert [entry.version for entry in own.log(game, first=1, count=10, timeout=SOON)] == [1, 2, 3]


def test_a_connection_that_died_while_it_was_idle_costs_no_call(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)

    assert isinstance(own.commit(game, move(), timeout=SOON), Committed)


def test_a_connection_that_died_in_use_leaves_a_write_unconfirmed_and_a_repeat_safe(
    own: Store, valkey: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_FRESH", SOON)
    game, commit = new_game(own), move()
    with valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)

    with pytest.raises(Unconfirmed):
        own.commit(game, commit, timeout=SOON)

    assert isinstance(own.commit(game, commit, timeout=SOON), Committed)
    assert isinstance(own.commit(game, commit, timeout=SOON), Repeated)


@contextmanager
def held(server: Server, call: Callable[[], object]) -> Iterator[list[object]]:
    """Makes a call whose script the server has received but does not run, as it is paused; and its result."""
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


def test_a_write_whose_connection_breaks_before_the_answer_is_unconfirmed(own: Store, valkey: Server) -> None:
    game, commit = new_game(own), move()

    with held(valkey, lambda: own.commit(game, commit, timeout=SOON)) as result, valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: result)
        raw.execute_command("CLIENT", "UNPAUSE")

    assert isinstance(result[0], Unconfirmed)
    assert isinstance(own.commit(game, commit, timeout=SOON), Committed)


def test_a_write_whose_server_dies_before_the_answer_is_unconfirmed(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with held(valkey, lambda: own.commit(game, move(), timeout=SOON)) as result:
        valkey.kill()

    assert isinstance(result[0], Unconfirmed)


def test_a_read_whose_connection_breaks_before_the_answer_is_made_again(own: Store, valkey: Server) -> None:
    game = new_game(own)

    def read() -> object:
        own.ping(timeout=SOON)  # the connection has proved good
        return own.read_for_request(game, new_request(), timeout=SOON)

    with held(valkey, read) as result, valkey.client() as raw:
        raw.client_kill_filter(_type="normal", skipme=True)
        eventually(lambda: raw.info("clients")["blocked_clients"] == 1)
        raw.execute_command("CLIENT", "UNPAUSE")

    assert result == [(own.read(game, timeout=SOON), None)]


def test_a_read_whose_server_dies_before_the_answer_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)

    with held(valkey, lambda: own.read_for_request(game, new_request(), timeout=SOON)) as result:
        valkey.kill()

    assert isinstance(result[0], StoreUnavailable)


def test_scripts_that_a_server_has_lost_are_sent_again(own: Store, valkey: Server) -> None:
    game = new_game(own)
    own.commit(game, move(), timeout=SOON)
    with valkey.client() as raw:
        raw.script_flush()

        assert isinstance(own.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)
        raw.script_flush()
        found = own.read_for_request(game, new_request(), timeout=SOON)
        assert found is not None
        raw.script_flush()
        assert own.delete(game, tombstone_ttl_ms=1000, timeout=SOON)


# --- A server that refuses --------------------------------------------------------------------------------------------


def test_a_full_server_refuses_writes_changes_nothing_and_still_reads(own: Store, valkey: Server) -> None:
    game = new_game(own)
    first = move()
    own.commit(game, first, timeout=SOON)
    with valkey.client() as raw:
        raw.config_set("maxmemory", "1kb")
        before = own.read(game, timeout=SOON)

        with pytest.raises(StoreFull):
            own.commit(game, move("2-second"), timeout=SOON)
        with pytest.raises(StoreFull):
            create(own)
        with pytest.raises(StoreFull):
            own.reserve(new_request(), new_id(), ttl_ms=1000, timeout=SOON)
        assert own.read(game, timeout=SOON) == before
        assert len(own.log(game, first=1, count=10, timeout=SOON)) == 2

        raw.config_set("maxmemory", "0")
    assert isinstance(own.commit(game, move("2-second", nonce="third"), timeout=SOON), Committed)


def test_a_repeat_is_answered_even_by_a_full_server(own: Store, valkey: Server) -> None:
    game = new_game(own)
    commit = move()
    own.commit(game, commit, timeout=SOON)
    with valkey.client() as raw:
        raw.config_set("maxmemory", "1kb")
    before = own.read(game, timeout=SOON)

    outcome = own.commit(game, commit._replace(ttl_ms=9 * commit.ttl_ms), timeout=SOON)

    assert isinstance(outcome, Repeated)
    assert outcome.record == before


def test_a_replica_takes_no_writes_until_it_is_promoted(own: Store, valkey: Server, tmp_path: Path) -> None:
    game = new_game(own)
    with Server(tmp_path / "replica", "--replicaof", f"127.0.0.1 {valkey.port}") as replica, replica.client() as raw:
        eventually(lambda: raw.info("replication")["master_link_status"] == "up")
        store = connect(replica.url)

        with pytest.raises(StoreUnavailable, match="READONLY"):
            store.commit(game, move(), timeout=SOON)
        raw.replicaof("NO", "ONE")
        assert isinstance(store.commit(game, move(), timeout=SOON), Committed)


def test_a_replica_that_lost_its_master_and_serves_nothing_stale_is_unavailable(valkey: Server, tmp_path: Path) -> None:
    settings = ("--replicaof", f"127.0.0.1 {free_port()}", "--replica-serve-stale-data", "no")
    with Server(tmp_path / "replica", *settings) as replica:
        store = connect(replica.url)

        with pytest.raises(StoreUnavailable, match="MASTERDOWN"):
            store.read(new_id(), timeout=SOON)


def test_a_server_that_wants_replicas_first_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.config_set("min-replicas-to-write", 1)

    with pytest.raises(StoreUnavailable, match="NOREPLICAS"):
        own.commit(game, move(), timeout=SOON)
    assert isinstance(own.read(game, known_head="1-first", timeout=SOON), Unchanged)


def test_a_server_with_too_many_clients_is_unavailable(own: Store, valkey: Server) -> None:
    with valkey.client() as raw:
        raw.config_set("maxclients", 1)
        with ThreadPoolExecutor(1) as pool, pytest.raises(StoreUnavailable, match="max number of clients"):
            pool.submit(own.ping, timeout=SOON).result()


def test_a_wrong_or_missing_password_is_told_to_the_operator_without_the_password(tmp_path: Path) -> None:
    with Server(tmp_path / "locked", "--requirepass", "right") as server:
        address = server.url.removeprefix("redis://")
        connect(f"redis://:right@{address}").ping(timeout=SOON)
        with pytest.raises(StoreUnavailable, match="NOAUTH"):
            connect(server.url).ping(timeout=SOON)
        with pytest.raises(StoreUnavailable, match="WRONGPASS") as refused:
            connect(f"redis://:hunter2@{address}").ping(timeout=SOON)
        assert "hunter2" not in str(refused.value)


def test_a_user_without_right_to_the_channel_commits_all_the_same(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.acl_setuser("quiet", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@all"], channels=[])
    store = connect(f"redis://quiet:pw@127.0.0.1:{valkey.port}")

    assert isinstance(store.commit(game, move(), timeout=SOON), Committed)


def test_a_user_without_rights_is_unavailable(own: Store, valkey: Server) -> None:
    game = new_game(own)
    with valkey.client() as raw:
        raw.acl_setuser("reader", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@read"])
    store = connect(f"redis://reader:pw@127.0.0.1:{valkey.port}")

    assert isinstance(store.read(game, known_head="1-first", timeout=SOON), Unchanged)
    with pytest.raises(StoreUnavailable, match="NOPERM"):
        store.commit(game, move(), timeout=SOON)


def test_nobody_at_the_address_is_unavailable(tmp_path: Path) -> None:
    for url in (f"redis://127.0.0.1:{free_port()}", f"unix://{tmp_path}/nobody.sock", "redis://nobody.invalid"):
        with pytest.raises(StoreUnavailable):
            create(connect(url), "game")


# --- The end ----------------------------------------------------------------------------------------------------------


def test_a_closed_store_answers_no_more_and_closes_every_connection(own: Store, valkey: Server) -> None:
    with ThreadPoolExecutor(4) as pool, valkey.client() as raw:
        barrier = threading.Barrier(4)

        def ping(_: int) -> None:
            barrier.wait()
            own.ping(timeout=SOON)

        list(pool.map(ping, range(4)))
        assert raw.info("clients")["connected_clients"] == 5

        own.close()

        eventually(lambda: raw.info("clients")["connected_clients"] == 1)
        with pytest.raises(StoreUnavailable, match="closed"):
            own.ping(timeout=SOON)


def test_the_connection_of_a_thread_that_ended_is_closed(own: Store, valkey: Server) -> None:
    thread = threading.Thread(target=own.ping, kwargs={"timeout": SOON})
    thread.start()
    thread.join()

    with valkey.client() as raw:
        eventually(lambda: raw.info("clients")["connected_clients"] == 1)
