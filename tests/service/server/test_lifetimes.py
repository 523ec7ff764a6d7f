"""Lifetimes of games, data directories and processes in unusual conditions."""

import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from service.store.embedded import EmbeddedValkey
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support.command import error_line
from tests.support.fork_server import ForkedProcess, start_python
from tests.support.game_clients import ADVANCED, SECONDS, expect_error, new_game, play
from tests.support.in_process import in_process_stub
from tests.support.long_cases import long_case
from tests.support.service import channel_to, clean_environment, running


@contextmanager
def logging_to(folder: Path, stderr: int) -> Iterator[tuple[ForkedProcess, str]]:
    """Run a service with a file descriptor as standard error; yield it and its address."""
    port_file = folder / "port"
    flags = ("--port=0", f"--port-file={port_file}", f"--data-dir={folder / 'data'}", "--log-format=json")
    process = start_python("service", "serve", *flags, stderr=stderr, env=clean_environment())
    try:
        deadline = time.monotonic() + SECONDS
        while not port_file.exists():
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.01)
        yield process, f"127.0.0.1:{port_file.read_text().strip()}"
    finally:
        process.terminate()
        process.wait(SECONDS)


@pytest.mark.parametrize("sink", ["a closed pipe", "a full disk"])
def test_a_game_continues_when_logs_cannot_be_written(tmp_path: Path, sink: str) -> None:
    if sink == "a full disk":
        stderr = os.open("/dev/full", os.O_WRONLY)
    else:
        reading, stderr = os.pipe()
        os.close(reading)
    try:
        with logging_to(tmp_path, stderr) as (process, target), channel_to(target) as channel:
            game = new_game(GameServiceStub(channel), 2)
            play(game, random.Random(1))
            assert game.spectator.score().finished
    finally:
        os.close(stderr)
    assert process.returncode == 0


def test_dropped_log_lines_are_counted_once_lines_can_be_written(tmp_path: Path) -> None:
    log = tmp_path / "fifo"
    os.mkfifo(log)
    reading = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
    stderr = os.open(log, os.O_WRONLY)
    try:
        with logging_to(tmp_path, stderr) as (_, target), channel_to(target) as channel:
            game = new_game(GameServiceStub(channel), 2)
            os.read(reading, 1 << 20)
            os.close(reading)
            game.spectator.state()
            expect_error(game.seats[0].delete)
            reading = os.open(log, os.O_RDONLY | os.O_NONBLOCK)
            expect_error(game.seats[0].delete)
            assert b'"event":"log_lines_dropped"' in os.read(reading, 1 << 20)
    finally:
        os.close(reading)
        os.close(stderr)


def test_a_repeat_at_a_process_with_older_state_does_not_shorten_a_games_life(store_url: str) -> None:
    with (
        in_process_stub(store_url, idle_ms=30_000, finished_ms=3_600_000) as one,
        in_process_stub(store_url, idle_ms=30_000, finished_ms=3_600_000) as two,
    ):
        game = new_game(one, 2, ADVANCED)
        old = game.at(two)
        old.spectator.state()
        seat = game.created.state.awaiting_seats[0]
        move, request_id = game.seats[seat].legal().moves[0].move, str(uuid.uuid4())
        game.seats[seat].apply(move, request_id=request_id)
        play(game, random.Random(2))
        expires = game.spectator.state().expire_time.ToMilliseconds()

        assert old.seats[seat].apply(move, request_id=request_id).repeated_request

        assert game.spectator.state().expire_time.ToMilliseconds() >= expires


def test_a_request_id_of_an_expired_game_creates_another_game(store_url: str) -> None:
    with in_process_stub(store_url, idle_ms=1000) as stub:
        request_id = str(uuid.uuid4())
        game = new_game(stub, 2, request_id=request_id)
        deadline = time.monotonic() + SECONDS
        while time.time() * 1000 <= game.created.state.expire_time.ToMilliseconds() and time.monotonic() < deadline:
            time.sleep(0.05)
        assert expect_error(game.spectator.state).reason == "GAME_NOT_FOUND"

        again = new_game(stub, 3, request_id=request_id)

        assert again.game_id != game.game_id
        assert expect_error(game.seats[0].state).reason == "GAME_NOT_FOUND"


@pytest.mark.parametrize("games", [4, long_case(12)])
def test_a_history_is_complete_or_not_found_while_its_game_is_deleted(stub: GameServiceStub, games: int) -> None:
    for number in range(games):
        game = new_game(stub, 2)
        versions = len(play(game, random.Random(number))) + 1
        seen: list[int] = []

        def read(game=game, seen=seen) -> None:  # type: ignore[no-untyped-def]
            for _ in range(20):
                try:
                    seen.append(len(game.spectator.history(page_size=1000).entries))
                except Exception:  # noqa: BLE001 - NOT_FOUND, also for all later calls
                    return

        readers = [threading.Thread(target=read) for _ in range(3)]
        for reader in readers:
            reader.start()
        game.host.delete()
        for reader in readers:
            reader.join()
        assert set(seen) <= {versions}


@pytest.mark.parametrize("name", ["a#b", "a?b", "a%41b", "a b", "ä", "a@b", "a\nb"])
def test_a_data_directory_may_have_any_name(tmp_path: Path, name: str) -> None:
    with EmbeddedValkey(tmp_path / name) as store, in_process_stub(store.url) as stub:
        assert new_game(stub, 2).spectator.state().version == 1


def test_a_closed_terminal_drains_the_service(tmp_path: Path) -> None:
    with running(tmp_path, f"--data-dir={tmp_path / 'data'}") as service:
        service.process.send_signal(signal.SIGHUP)

        assert service.process.wait(SECONDS) == 0

        assert [line["event"] for line in service.logs()][-2:] == ["draining", "drained"]


@pytest.mark.long
def test_workers_that_are_stopped_while_they_start_end(tmp_path: Path) -> None:
    log = tmp_path / "log"
    flags = ("--port=0", "--workers=2", f"--data-dir={tmp_path / 'data'}", "--log-format=json")
    with log.open("wb") as stderr:
        process = subprocess.Popen(
            [sys.executable, "-m", "service", "serve", *flags],
            stderr=stderr,
            env=clean_environment(),
            start_new_session=True,
        )
    deadline = time.monotonic() + SECONDS
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    while (
        len(children.read_text().split()) < 3
    ):  # the store and both workers, or the store, one worker and a helper process of multiprocessing
        assert time.monotonic() < deadline
        time.sleep(0.005)

    os.killpg(process.pid, signal.SIGINT)

    assert process.wait(6 * SECONDS) == 0  # a busy machine needs time to load the workers
    assert "Traceback" not in log.read_text()


@pytest.mark.parametrize("content", [b"\xff\xfe", b"", b"k1:short"], ids=["binary", "empty", "no key"])
def test_invalid_token_keys_of_the_embedded_store_are_reported(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token-keys").write_bytes(content)

    line = error_line("serve", "--port=0", f"--data-dir={tmp_path}")

    assert line == f"{tmp_path}/token-keys does not contain valid token keys"
