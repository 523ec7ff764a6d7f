"""Run the command `sodafountain`."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from tempfile import TemporaryFile
from typing import NamedTuple
from unittest.mock import patch

import pytest

from service.commands import main as cli
from tests.support.fork_server import start_python
from tests.support.service import clean_environment

SECONDS = 30.0


class CompletedCommand(NamedTuple):
    """The result of a command."""

    code: int
    out: str
    err: str


def run_command(*arguments: str, env: dict[str, str] | None = None) -> CompletedCommand:
    """Run the command in a process of its own and wait for its end."""
    with TemporaryFile("w+") as out, TemporaryFile("w+") as err:
        process = start_python("service", *arguments, env=clean_environment() | (env or {}), stdout=out, stderr=err)
        try:
            code = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        out.seek(0), err.seek(0)
        return CompletedCommand(code, out.read(), err.read())


def run_in_process(*arguments: str, env: dict[str, str] | None = None) -> CompletedCommand:
    """Run the command in this process. It must not start to serve."""
    out, err = io.StringIO(), io.StringIO()
    with (
        patch.object(sys, "argv", ["sodafountain", *arguments]),
        patch.dict(os.environ, clean_environment() | (env or {}), clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as exit_info,
    ):
        cli.main()
    assert isinstance(exit_info.value.code, int)
    return CompletedCommand(exit_info.value.code, out.getvalue(), err.getvalue())


def error_line(*arguments: str, env: dict[str, str] | None = None, code: int = 2) -> str:
    """Run a command that must fail, and return its one line of error. Log lines do not count."""
    return error_line_of(run_command(*arguments, env=env), code=code)


def error_line_in_process(*arguments: str, env: dict[str, str] | None = None, code: int = 2) -> str:
    """Run a command that must fail, in this process, and return its one line of error."""
    return error_line_of(run_in_process(*arguments, env=env), code=code)


def error_line_of(done: CompletedCommand, *, code: int = 2) -> str:
    """Return the one line of error of a command that failed."""
    assert done.code == code, done
    assert not done.out
    (line,) = (line for line in done.err.splitlines() if not _is_log(line))
    assert line.startswith("sodafountain: ")
    return line.removeprefix("sodafountain: ")


def _is_log(line: str) -> bool:
    try:
        return "event" in json.loads(line)
    except ValueError:
        return False
