"""Locust rejects a run with invalid options, both with and without its web page."""

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from clients.loadtest.__main__ import LOCUSTFILE
from tests.clients.loadtest.test_runs import SECONDS, page_shows, started
from tests.support.ports import free_port
from tests.support.store_servers import eventually


def test_locusts_web_page_rejects_invalid_options(tmp_path: Path) -> None:
    page = f"127.0.0.1:{free_port()}"
    address = ("--web-host=127.0.0.1", f"--web-port={page.split(':')[1]}")
    locust = ("locust", f"--locustfile={LOCUSTFILE}", *address, "--loglevel=WARNING", f"--report={tmp_path}")

    def submit(**fields: str) -> dict[str, Any]:
        form = {"user_count": "1", "spawn_rate": "1", "host": "localhost:1"} | fields
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"http://{page}/swarm", data, timeout=SECONDS) as response:
            answer: dict[str, Any] = json.load(response)
            return answer

    with started(*locust) as run:
        eventually(page_shows(page, lambda stats: stats["state"] == "ready"), within=SECONDS)
        assert run.stdout
        for fields, problem in (
            ({"limits": "foo bar"}, "argument --limits: 'foo bar' is not a limit"),
            ({"seats": "banana"}, "argument --seats: seats must be a number such as 4 or a range such as 2-5"),
            ({"think": "nonsense"}, "argument --think: must be a number of at least 0, not 'nonsense'"),
        ):
            answer = submit(**fields)
            assert (answer["success"], problem in answer["message"]) == (False, True)
            assert problem in run.stdout.readline()
        # Locust accepts these fields; the check before the start rejects them.
        for fields, problem in (
            ({"host": "http://a:1"}, "'http://a:1' is a URL"),
            ({"user_count": "0"}, "users must be a whole number of at least 1, not '0'"),
        ):
            assert submit(**fields)["success"]
            assert problem in run.stdout.readline()
        eventually(
            page_shows(page, lambda stats: stats["state"] == "ready" and not stats["user_count"]), within=SECONDS
        )
        run.terminate()
        output, _ = run.communicate(timeout=SECONDS)
    assert (output, run.returncode) == ("", 2)


def test_without_a_web_page_locust_exits_with_status_2_and_one_line(tmp_path: Path) -> None:
    result = subprocess.run(
        [
            *(sys.executable, "-m", "locust", f"--locustfile={LOCUSTFILE}", "--headless", "--loglevel=WARNING"),
            *("--processes=2", "--run-time=1h", f"--report={tmp_path}"),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    problem = "loadtest: --host is required: the address of the service, host:port\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", problem)
