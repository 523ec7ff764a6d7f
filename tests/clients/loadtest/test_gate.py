"""Locust itself begins nothing with what cannot be, with its page and without it."""

import json
import subprocess
import sys
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any

from clients.loadtest.__main__ import LOCUSTFILE
from tests.clients.loadtest.test_runs import SECONDS, seen, started
from tests.support.ports import free_port
from tests.support.store_servers import eventually


def test_locusts_page_begins_nothing_with_what_cannot_be(tmp_path: Path) -> None:
    page = f"127.0.0.1:{free_port()}"
    address = ("--web-host=127.0.0.1", f"--web-port={page.split(':')[1]}")
    locust = ("locust", f"--locustfile={LOCUSTFILE}", *address, "--loglevel=WARNING", f"--report={tmp_path}")

    def begin(**fields: str) -> dict[str, Any]:
        form = {"user_count": "1", "spawn_rate": "1", "host": "localhost:1"} | fields
        data = urllib.parse.urlencode(form).encode()
        with urllib.request.urlopen(f"http://{page}/swarm", data, timeout=SECONDS) as answer:
            told: dict[str, Any] = json.load(answer)
            return told

    with started(*locust) as run:
        eventually(seen(page, lambda told: told["state"] == "ready"), within=SECONDS)
        assert run.stdout
        for fields, problem in (
            ({"limits": "foo bar"}, "argument --limits: 'foo bar' is not a limit"),
            ({"seats": "banana"}, "argument --seats: 'banana' is not a number of seats"),
            ({"think": "nonsense"}, "argument --think: 'nonsense' is not a number"),
        ):
            told = begin(**fields)
            assert (told["success"], problem in told["message"]) == (False, True)
            assert problem in run.stdout.readline()
        # These Locust takes; the start itself is refused then.
        for fields, problem in (
            ({"host": "http://a:1"}, "'http://a:1' is a URL"),
            ({"user_count": "0"}, "'0' is not a"),
        ):
            assert begin(**fields)["success"]
            assert problem in run.stdout.readline()
        eventually(seen(page, lambda told: told["state"] == "ready" and not told["user_count"]), within=SECONDS)
        run.terminate()
        output, _ = run.communicate(timeout=SECONDS)
    assert (output, run.returncode) == ("", 2)


def test_without_a_page_locust_ends_at_once_with_status_2_and_one_line(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-m", "locust", f"--locustfile={LOCUSTFILE}", "--headless", "--loglevel=WARNING"),
            *("--processes=2", "--run-time=1h", f"--report={tmp_path}"),
        ],
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "loadtest: no --host names the service\n")
