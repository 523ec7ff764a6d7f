"""Before a run: whether its options are right, and whether the service plays along."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import pytest

import sodafountain
from clients.loadtest import preflight
from clients.loadtest.options import API_KEY_VARIABLE, add_options
from clients.loadtest.preflight import refusal
from tests.support.service import running

KEY = "k" * 43


def options(folder: Path, *arguments: str, num_users: int | None = None) -> Namespace:
    """What a run is told."""
    parser = ArgumentParser()
    add_options(parser)
    return parser.parse_args([f"--report={folder}", *arguments], Namespace(num_users=num_users))


def test_a_run_may_begin_whose_service_plays_along_and_no_game_is_made_for_that(
    target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made, new_game = [], sodafountain.Client.new_game

    def noted(*arguments: Any, **named: Any) -> sodafountain.Game:
        made.append(game := new_game(*arguments, **named))
        return game

    monkeypatch.setattr(sodafountain.Client, "new_game", noted)
    folder = tmp_path / "a" / "b"
    assert refusal(target, options(folder, "--fixed-deals", num_users=1)) == ""
    assert (folder.is_dir(), list(folder.iterdir())) == (True, [])
    assert made == []


@pytest.mark.parametrize(
    ("host", "problem"),
    [
        (None, "no --host names the service"),
        ("http://localhost:1", "'http://localhost:1' is a URL"),
        ("localhost", "'localhost' is not host:port"),
    ],
)
def test_a_run_needs_an_address(host: str | None, problem: str, tmp_path: Path) -> None:
    assert problem in refusal(host, options(tmp_path))


def test_a_run_needs_a_table_and_a_folder_for_its_report(tmp_path: Path) -> None:
    assert refusal("localhost:1", options(tmp_path, num_users=0)) == "'0' is not a number of tables from 1 on"
    (tmp_path / "file").touch()
    told = refusal("localhost:1", options(tmp_path / "file" / "folder"))
    assert told.startswith(f"no report can be written to '{tmp_path}/file/folder': ")


def test_a_run_needs_somebody_who_answers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "SECONDS", 0.3)
    assert "localhost:1" in refusal("localhost:1", options(tmp_path))


def test_a_run_needs_an_api_key_and_fixed_deals_where_the_service_wants_and_allows_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = tmp_path / "keys"
    keys.write_text(f"me:{KEY}\n")
    flags = (f"--data-dir={tmp_path / 'data'}", "--log-level=warning", f"--api-keys-file={keys}")
    with running(tmp_path, *flags) as service:
        for key in ("", "x" * 43, "x x"):
            monkeypatch.setenv(API_KEY_VARIABLE, key)
            assert f"is taken from the variable {API_KEY_VARIABLE}." in refusal(service.target, options(tmp_path))
        monkeypatch.setenv(API_KEY_VARIABLE, KEY)
        assert refusal(service.target, options(tmp_path)) == ""
        told = refusal(service.target, options(tmp_path, "--fixed-deals"))
        assert told.startswith("the service does not allow --fixed-deals: ")


def test_a_run_needs_the_games_that_it_plays(target: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(preflight, "mix_of", lambda _: {"juices": 1.0, "poker": 1.0, "bridge": 0.0})
    assert refusal(target, options(tmp_path)) == "the service does not offer poker"
