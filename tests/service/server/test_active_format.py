"""The active format of the store: when processes write which format, and `sodafountain finalize-upgrade`."""

import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from service.games import formats
from service.server import active_format
from service.server.active_format import ActiveFormat, FormatNotSupported
from service.store import connect
from service.store.keys import FORMAT_KEY
from tests.support.command import error_line, error_line_in_process, run_in_process
from tests.support.game_clients import expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.service import running
from tests.support.store_servers import Server, eventually


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Server]:
    """An empty store server."""
    with Server(tmp_path / "store") as server:
        yield server


@pytest.fixture
def data(store: Server) -> Iterator[Any]:
    """A plain client of the store."""
    with Redis(port=store.port) as redis:
        yield redis


@pytest.fixture(autouse=True)
def short_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(active_format, "_REFRESH_SECONDS", 0.02)


@pytest.fixture
def release(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turn this process into a release whose newest format is 3."""
    monkeypatch.setattr(active_format, "NEWEST", 3)
    monkeypatch.setattr(active_format, "OLDEST_WRITTEN", 2)
    monkeypatch.setattr(formats, "NEWEST", 3)


@contextmanager
def reading(url: str) -> Iterator[ActiveFormat]:
    store = connect(url)
    try:
        with ActiveFormat(store.administration) as active:
            yield active
    finally:
        store.close()


# --- A process --------------------------------------------------------------------------------------------------------


def test_a_new_store_gets_the_newest_format(store: Server, data: Any, release: None) -> None:
    with reading(store.url) as active:
        assert active.number() == 3
    assert data.get(FORMAT_KEY) == b"3"


def test_the_format_before_the_newest_is_written_until_the_store_has_the_newest(
    store: Server, data: Any, release: None
) -> None:
    data.set(FORMAT_KEY, 2)
    with reading(store.url) as active:
        assert active.number() == 2
        data.set(FORMAT_KEY, 3)
        eventually(lambda: active.number() == 3)


@pytest.mark.parametrize(("number", "advice"), [(4, "run the release that raised it"), (1, "finalize-upgrade")])
def test_a_process_does_not_start_with_a_format_that_it_cannot_write(
    store: Server, data: Any, release: None, number: int, advice: str
) -> None:
    data.set(FORMAT_KEY, number)
    with pytest.raises(FormatNotSupported, match=f"has format {number}.*{advice}"), reading(store.url):
        pass
    assert data.get(FORMAT_KEY) == str(number).encode()


def test_a_running_process_survives_a_format_that_it_cannot_write(store: Server, data: Any, release: None) -> None:
    with reading(store.url) as active:
        data.set(FORMAT_KEY, 4)
        data.rpush("marks", 1)
        eventually(lambda: reads(data) > 3)
        assert active.number() == 3
        data.set(FORMAT_KEY, 2)
        eventually(lambda: active.number() == 2)


def reads(data: Any) -> int:
    """Return how many scripts the store has run."""
    return sum(fields["calls"] for name, fields in data.info("commandstats").items() if "evalsha" in name.lower())


def test_a_process_that_starts_without_its_store_writes_the_oldest_format(
    store: Server, data: Any, release: None
) -> None:
    data.set(FORMAT_KEY, 3)
    store.kill()
    with reading(store.url) as active:
        assert active.number() == 2
        store.start()
        eventually(lambda: active.number() == 3)


def test_a_store_that_loses_its_data_keeps_the_format_that_was_active(store: Server, data: Any, release: None) -> None:
    data.set(FORMAT_KEY, 2)
    with reading(store.url) as active:
        data.flushall()
        eventually(lambda: data.get(FORMAT_KEY) is not None)
        assert (active.number(), data.get(FORMAT_KEY)) == (2, b"2")


def test_a_format_that_is_no_number_is_reported_and_read_again(store: Server, data: Any, release: None) -> None:
    data.set(FORMAT_KEY, 2)
    with reading(store.url) as active:
        data.set(FORMAT_KEY, "abc")
        before = reads(data)
        eventually(lambda: reads(data) > before + 3)
        data.set(FORMAT_KEY, 3)
        eventually(lambda: active.number() == 3)
    data.set(FORMAT_KEY, "abc")
    error = error_line_in_process("finalize-upgrade", "--store-url", store.url, code=1)
    assert error == "the key sodafountain:format is not a number: set it to the active format"


def test_the_service_names_a_store_of_a_later_release(store: Server, data: Any) -> None:
    data.set(FORMAT_KEY, 2)
    env = {"SODAFOUNTAIN_TOKEN_KEYS": "one:" + "A" * 43 + "="}
    error = error_line("serve", "--store-url", store.url, "--port=0", env=env)
    assert error.startswith("the store has format 2, and this release writes up to format 1: run the release")


def test_every_value_is_written_in_the_active_format(store: Server, data: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first byte of a value is its format."""
    with in_process_stub(store.url) as stub:
        game = new_game(stub)
        play(game, random.Random(1), moves=2)
        [key] = data.keys("sodafountain:{*}")
        assert formats_of(data, key) == [1, 1, 1, 1, 1]
        play(game, random.Random(1))
        assert formats_of(data, key) == [1, 1, 1]


def formats_of(data: Any, key: bytes) -> list[int]:
    _, meta, state, _, *log = data.lrange(key, 0, -1)
    return [meta[0], state[0], *(entry[6] for entry in log)]


@pytest.mark.parametrize("element", [1, 2, 4], ids=["meta", "state", "log"])
def test_a_game_in_a_later_format_is_upgrading(store: Server, data: Any, element: int) -> None:
    with in_process_stub(store.url) as stub:
        game = new_game(stub)
    [key] = data.keys("sodafountain:{*}")
    value = data.lindex(key, element)
    at = 6 if element == 4 else 0
    data.lset(key, element, value[:at] + b"\2" + value[at + 1 :])
    with in_process_stub(store.url) as stub:
        error = expect_error(game.at(stub).host.history)
    assert (error.code.name, error.reason) == ("UNAVAILABLE", "UPGRADING")
    assert error.retry is not None


# --- sodafountain finalize-upgrade ------------------------------------------------------------------------------------


def test_finalizing_raises_the_format_once(store: Server, data: Any, release: None) -> None:
    data.set(FORMAT_KEY, 2)

    first = run_in_process("finalize-upgrade", "--store-url", store.url)
    second = run_in_process("finalize-upgrade", "--store-url", store.url)

    assert (first.code, first.err) == (0, "")
    assert first.out == "The store has format 3 now; it had format 2. Servers notice within 5 seconds.\n"
    assert (second.code, second.out) == (0, "The store has format 3, the newest of this release: nothing to do.\n")
    assert data.get(FORMAT_KEY) == b"3"


def test_finalizing_with_an_earlier_release_changes_nothing(store: Server, data: Any) -> None:
    data.set(FORMAT_KEY, 7)
    error = error_line_in_process("finalize-upgrade", "--store-url", store.url, code=1)
    assert error == "the store has format 7, which is newer than this release"
    assert data.get(FORMAT_KEY) == b"7"


def test_finalizing_beside_another_change_asks_for_a_repetition(
    store: Server, data: Any, release: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    data.set(FORMAT_KEY, 2)
    administration = type(connect(store.url).administration)
    read = administration.active_format

    def changed_after_reading(self: Any, *arguments: Any, **options: Any) -> int:
        number = read(self, *arguments, **options)
        data.set(FORMAT_KEY, 4)
        return number

    monkeypatch.setattr(administration, "active_format", changed_after_reading)
    error = error_line_in_process("finalize-upgrade", "--store-url", store.url, code=1)
    assert error == "the format was changed at the same time: run the command again"
    assert data.get(FORMAT_KEY) == b"4"


def test_finalizing_reports_a_store_that_is_away(store: Server) -> None:
    store.kill()
    error = error_line_in_process("finalize-upgrade", "--store-url", store.url, code=1)
    assert error.startswith("the store is unavailable: ")


def test_finalizing_finds_the_embedded_store_of_a_service(tmp_path: Path) -> None:
    with running(tmp_path / "service", f"--data-dir={tmp_path / 'data'}"):
        result = run_in_process("finalize-upgrade", f"--data-dir={tmp_path / 'data'}")
    assert result == (0, "The store has format 1, the newest of this release: nothing to do.\n", "")
    error = error_line_in_process("finalize-upgrade", f"--data-dir={tmp_path / 'data'}", code=1)
    assert error.endswith("; set --store-url, or --data-dir while its service runs")
