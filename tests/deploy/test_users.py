"""Commands run as users without a home directory and without an entry in the user database."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.command import CompletedCommand, error_line_of, run_in_process

ROOT = Path(__file__).parents[2]
UNMAPPED = ("unshare", "--user", "--map-user=1000670000", "--map-group=0", "env", "-i")
"""Runs a command as a user that the user database does not contain, and without any variable."""

ADVICE = (
    "this user has no home directory for the embedded store: set --data-dir, set HOME to an absolute path, or set "
    "--store-url"
)


def can_unshare() -> bool:
    """Return whether this machine allows user namespaces."""
    if not shutil.which("unshare"):
        return False
    return subprocess.run([*UNMAPPED, "true"], capture_output=True, check=False).returncode == 0


def run_unmapped(*words: str, **env: str) -> CompletedCommand:
    """Run `sodafountain` as a user without an entry in the user database, with only the given variables."""
    command = [*UNMAPPED, *(f"{name}={value}" for name, value in env.items()), sys.executable, "-m", "service", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    return CompletedCommand(done.returncode, done.stdout, done.stderr)


needs_namespaces = pytest.mark.skipif(not can_unshare(), reason="needs unshare and user namespaces")


@needs_namespaces
@pytest.mark.parametrize("env", [{}, {"HOME": ""}, {"HOME": "relative"}], ids=str)
def test_serving_without_a_home_directory_names_the_setting(env: dict[str, str]) -> None:
    assert error_line_of(run_unmapped("serve", "--port=0", **env)) == ADVICE


@needs_namespaces
@pytest.mark.parametrize(("words", "code"), [(["finalize-upgrade"], 2), (["inspect", "a" * 26], 1)], ids=str)
def test_commands_on_the_embedded_store_name_the_setting(words: list[str], code: int) -> None:
    assert error_line_of(run_unmapped(*words), code=code) == ADVICE


@needs_namespaces
def test_commands_without_a_store_need_no_home_directory(tmp_path: Path) -> None:
    assert re.fullmatch(r"k\w+:\S+\n", run_unmapped("keygen").out)
    assert run_unmapped("gateway", str(tmp_path / "gateway"), "--service=127.0.0.1:1").code == 0
    assert run_unmapped("serve", "--help").code == 0


def test_a_user_without_an_entry_is_no_error_in_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def no_entry(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr("pwd.getpwuid", no_entry)

    missing = run_in_process("inspect", "a" * 26, env={"HOME": "", "XDG_DATA_HOME": ""})
    named = run_in_process("inspect", "a" * 26, f"--data-dir={tmp_path}", env={"HOME": "", "XDG_DATA_HOME": ""})

    assert error_line_of(missing, code=1) == ADVICE
    assert "unavailable" in error_line_of(named, code=1)
