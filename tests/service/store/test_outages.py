"""Servers that hang and die: a true error in time, and recovery by itself."""

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest

from service.store import (
    Committed,
    Record,
    Repeated,
    Store,
    StoreError,
    StoreUnavailable,
    Unchanged,
    Unconfirmed,
    connect,
    connection,
)
from tests.service.store.games import SOON, move, new_game, new_id, new_request
from tests.support.store_servers import Server, eventually


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
        errors = Counter(threads.map(waited, range(20)))

    assert errors == {"no answer in time": 1, "the server is silent, and another call waits for its first word": 19}


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
        assert own.delete(game, tombstone_ttl_ms=1000, timeout=SOON) == b"meta"


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
