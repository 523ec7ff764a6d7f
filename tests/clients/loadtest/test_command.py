"""The command starts a service only if no address is given, and its exit status reports the outcome."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from clients.loadtest import __main__ as command
from clients.own_service import ServiceError


class Fakes:
    """Fakes for the processes that the command starts.

    Attributes:
        services: how many services were started.
        line: the command line of Locust.
        hosts: the host options on the command line of Locust; None if Locust was not run.
        status: the exit status of Locust.
        start_error: the error when the service starts; empty for none.
        stop_error: the error when the service stops; empty for none.
    """

    def __init__(self) -> None:
        self.services = 0
        self.line: list[str] = []
        self.hosts: list[str] | None = None
        self.status = 0
        self.start_error = self.stop_error = ""

    @contextmanager
    def own_service(self, *_: str) -> Iterator[str]:
        self.services += 1
        if self.start_error:
            raise ServiceError(self.start_error)
        yield "localhost:7"
        if self.stop_error:
            raise ServiceError(self.stop_error)

    def run_locust(self, line: list[str]) -> int:
        self.line = line
        self.hosts = [option for option in line if option.startswith("--host")]
        return self.status


@pytest.fixture
def fakes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Fakes:
    fakes = Fakes()
    monkeypatch.setattr(command, "own_service", fakes.own_service)
    monkeypatch.setattr(command, "run_locust", fakes.run_locust)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["loadtest"])
    monkeypatch.delenv("LOCUST_HOST", raising=False)
    return fakes


def test_without_an_address_it_starts_a_service(fakes: Fakes) -> None:
    assert command.main() == 0
    assert (fakes.services, fakes.hosts) == (1, ["--host=localhost:7"])


@pytest.mark.parametrize("options", [["--host=there:1"], ["--host", "there:1"], ["-H", "there:1"], ["-Hthere:1"]])
def test_every_spelling_of_the_host_option_selects_the_service(
    fakes: Fakes, options: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", ["loadtest", *options])
    assert command.main() == 0
    assert (fakes.services, fakes.hosts) == (0, ["--host=there:1"])


def test_the_host_option_overrides_the_environment_variable(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LOCUST_HOST", "there:1")
    command.main()
    assert (fakes.services, fakes.hosts) == (0, ["--host=there:1"])
    monkeypatch.setattr(sys, "argv", ["loadtest", "--host=elsewhere:1"])
    command.main()
    assert (fakes.services, fakes.hosts) == (0, ["--host=elsewhere:1"])


def test_if_the_service_does_not_start_nothing_is_tested(fakes: Fakes, capsys: pytest.CaptureFixture[str]) -> None:
    fakes.start_error = "The service did not start."
    assert command.main() == 2
    assert fakes.hosts is None
    assert "The service did not start." in capsys.readouterr().err


@pytest.mark.parametrize(("locust", "expected"), [(0, 1), (1, 1), (2, 2)])
def test_the_run_fails_if_the_service_does_not_stop_cleanly(fakes: Fakes, locust: int, expected: int) -> None:
    fakes.status, fakes.stop_error = locust, "The service ended with status 1."
    assert command.main() == expected


@pytest.mark.parametrize("status", [0, 1, 2])
def test_the_exit_status_is_that_of_locust(fakes: Fakes, status: int) -> None:
    fakes.status = status
    assert command.main() == status


@pytest.mark.parametrize(
    ("option", "problem"),
    [
        ("--host=http://there:1", "'http://there:1' is a URL"),
        ("--host=there", "'there' is not host:port"),
        ("--users=0", "argument -u/--users: users must be a whole number of at least 1, not '0'"),
        ("--think=-1", "argument --think: must be a number of at least 0, not '-1'"),
        ("--limits=AplyMove p99 100", "argument --limits: 'AplyMove' cannot have a limit"),
        ("--report=file/folder", "cannot write a report to 'file/folder'"),
    ],
)
def test_an_invalid_option_prints_one_line_before_anything_starts(
    fakes: Fakes, option: str, problem: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("file").touch()
    monkeypatch.setattr(sys, "argv", ["loadtest", option])
    try:
        status: object = command.main()
    except SystemExit as end:
        status = end.code
    assert (status, fakes.services, fakes.hosts) == (2, 0, None)
    (line,) = capsys.readouterr().err.splitlines()
    assert problem in line


def test_valid_options_are_passed_to_locust_unchanged(fakes: Fakes, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--users=5", "-t", "5s", "--think=0", "--limits", "errors 1", "--expect-workers=2"]
    monkeypatch.setattr(sys, "argv", ["loadtest", "--host=there:1", *options])
    assert command.main() == 0
    assert fakes.line[-len(options) :] == options


def test_help_lists_our_options_and_how_to_list_those_of_locust(
    fakes: Fakes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["loadtest", "--help"])
    with pytest.raises(SystemExit, match="0"):
        command.main()
    help_text = capsys.readouterr().out
    for option in ("--host", "--users", "--run-time", "--mix", "--fixed-deals", "--limits", "--report"):
        assert option in help_text
    assert help_text.strip().endswith("locust --help")
    assert fakes.services == 0
