"""A run starts only if its options are valid and the service can serve it."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import pytest

import sodafountain
from clients.loadtest import preflight
from clients.loadtest.options import API_KEY_VARIABLE, add_options
from clients.loadtest.preflight import find_problem
from tests.support.service import running

KEY = "k" * 43


def options(folder: Path, *arguments: str, num_users: int | None = None) -> Namespace:
    """Return the options of a run."""
    parser = ArgumentParser()
    add_options(parser)
    return parser.parse_args([f"--report={folder}", *arguments], Namespace(num_users=num_users))


def test_the_check_creates_the_report_folder_and_no_game(
    target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    created, new_game = [], sodafountain.Client.new_game

    def record_game(*arguments: Any, **named: Any) -> sodafountain.Game:
        created.append(game := new_game(*arguments, **named))
        return game

    monkeypatch.setattr(sodafountain.Client, "new_game", record_game)
    folder = tmp_path / "a" / "b"
    assert find_problem(target, options(folder, "--fixed-deals", num_users=1)) == ""
    assert (folder.is_dir(), list(folder.iterdir())) == (True, [])
    assert created == []


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        (None, "--host is required"),
        ("http://localhost:1", "'http://localhost:1' is a URL"),
        ("localhost", "'localhost' is not host:port"),
    ],
)
def test_a_run_requires_a_valid_address(host: str | None, problem: str, tmp_path: Path) -> None:
    assert problem in find_problem(host, options(tmp_path))


def test_a_run_requires_a_user_and_a_writable_report_folder(tmp_path: Path) -> None:
    problem = find_problem("localhost:1", options(tmp_path, num_users=0))
    assert problem == "users must be a whole number of at least 1, not '0'"
    (tmp_path / "file").touch()
    problem = find_problem("localhost:1", options(tmp_path / "file" / "folder"))
    assert problem.startswith(f"cannot write a report to '{tmp_path}/file/folder': ")


def test_a_run_requires_a_reachable_service(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "TIMEOUT_SECONDS", 0.3)
    assert "localhost:1" in find_problem("localhost:1", options(tmp_path))


def test_a_run_requires_a_valid_api_key_and_permission_for_fixed_deals(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"me:{KEY}\n")
    flags = (f"--data-dir={tmp_path / 'data'}", "--log-level=warning", f"--api-keys-file={keys}")
    with running(tmp_path, *flags) as service:
        for key in ("", "x" * 43, "x x"):
            monkeypatch.setenv(API_KEY_VARIABLE, key)
            problem = find_problem(service.target, options(tmp_path))
            assert f"is read from the environment variable {API_KEY_VARIABLE}." in problem
        monkeypatch.setenv(API_KEY_VARIABLE, KEY)
        assert find_problem(service.target, options(tmp_path)) == ""
        problem = find_problem(service.target, options(tmp_path, "--fixed-deals"))
        assert problem.startswith("the service does not allow --fixed-deals: ")


def test_a_run_requires_all_games_of_its_mix(target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "parse_mix", lambda _: {"juices": 1.0, "poker": 1.0, "bridge": 0.0})
    assert find_problem(target, options(tmp_path)) == "the service does not offer poker"
