"""The command: it runs a service of its own only where none is named, and its status tells what became of all."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clients.loadtest import __main__ as command
from clients.own_service import ServiceTrouble


class Runs:
    """What the command runs, without running it.

    Attributes:
        services: how many services were started.
        line: what Locust was run with.
        locust: what of it names a service; None if it was not run.
        status: Locust's.
        at_start: what is wrong with the service then, if anything is.
        at_end: the same, for the end.
    """

    def __init__(self) -> None:
        self.services = 0
        self.line: list[str] = []
        self.locust: list[str] | None = None
        self.status = 0
        self.at_start = self.at_end = ""

    @contextmanager
    def own_service(self, *_: str) -> Iterator[str]:
        self.services += 1
        if self.at_start:
            raise ServiceTrouble(self.at_start)
        yield "localhost:7"
        if self.at_end:
            raise ServiceTrouble(self.at_end)

    def run(self, line: list[str]) -> int:
        self.line = line
        self.locust = [option for option in line if option.startswith("--host")]
        return self.status


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Runs:
    runs = Runs()
    monkeypatch.setattr(command, "own_service", runs.own_service)
    monkeypatch.setattr(command, "run", runs.run)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["loadtest"])
    monkeypatch.delenv("LOCUST_HOST", raising=False)
    return runs


def test_without_a_service_named_it_runs_its_own(runs: Runs) -> None:
    assert command.main() == 0
    assert (runs.services, runs.locust) == (1, ["--host=localhost:7"])


@pytest.mark.parametrize("options", [["--host=there:1"], ["--host", "there:1"], ["-H", "there:1"], ["-Hthere:1"]])
def test_a_service_that_is_named_in_any_of_locusts_ways_is_the_one(
    runs: Runs, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["loadtest", *options])
    assert command.main() == 0
    assert (runs.services, runs.locust) == (0, ["--host=there:1"])


def test_a_service_that_the_environment_names_is_the_one_unless_an_option_names_another(
    runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCUST_HOST", "there:1")
    command.main()
    assert (runs.services, runs.locust) == (0, ["--host=there:1"])
    monkeypatch.setattr(sys, "argv", ["loadtest", "--host=elsewhere:1"])
    command.main()
    assert (runs.services, runs.locust) == (0, ["--host=elsewhere:1"])


def test_a_service_that_does_not_start_leaves_nothing_tested(runs: Runs, capsys: pytest.CaptureFixture[str]) -> None:
    runs.at_start = "The service did not start."
    assert command.main() == 2
    assert runs.locust is None
    assert "The service did not start." in capsys.readouterr().err


@pytest.mark.parametrize(("status", "told"), [(0, 1), (1, 1), (2, 2)])
def test_a_service_that_does_not_stop_well_is_something_wrong(runs: Runs, status: int, told: int) -> None:
    runs.status, runs.at_end = status, "The service ended with status 1."
    assert command.main() == told


@pytest.mark.parametrize("status", [0, 1, 2])
def test_otherwise_the_status_is_locusts(runs: Runs, status: int) -> None:
    runs.status = status
    assert command.main() == status


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--host=http://there:1", "'http://there:1' is a URL"),
        ("--host=there", "'there' is not host:port"),
        ("--users=0", "'0' is not a number of tables from 1 on"),
        ("--think=-1", "'-1' is not a number from 0 on"),
        ("--limits=AplyMove p99 100", "there is no 'AplyMove' to limit"),
        ("--report=file/folder", "no report can be written to 'file/folder'"),
    ],
)
def test_wrong_options_are_told_in_a_line_before_anything_runs(
    runs: Runs, option: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    monkeypatch.setattr(sys, "argv", ["loadtest", option])
    try:
        status: object = command.main()
    except SystemExit as end:
        status = end.code
    assert (status, runs.services, runs.locust) == (2, 0, None)
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line


def test_what_is_right_goes_on_as_it_is(runs: Runs, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--users=5", "-t", "5s", "--think=0", "--limits", "errors 1", "--expect-workers=2"]
    monkeypatch.setattr(sys, "argv", ["loadtest", "--host=there:1", *options])
    assert command.main() == 0
    assert runs.line[-len(options) :] == options


def test_help_tells_our_options_and_where_locusts_are_told(
    runs: Runs, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["loadtest", "--help"])
    with pytest.raises(SystemExit, match="0"):
        command.main()
    told = capsys.readouterr().out
    for option in ("--host", "--users", "--run-time", "--mix", "--fixed-deals", "--limits", "--report"):
        assert f"{option}" in told
    assert told.strip().endswith("locust --help")
    assert runs.services == 0
