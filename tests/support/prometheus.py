"""Prometheus under test: its tools, a server that reads real services, and what expressions ask for."""

import json
import re
import shutil
import subprocess
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

import yaml

from tests.support.ports import free_port
from tests.support.store_servers import eventually

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "deploy" / "prometheus"
ALERTS: Final = ROOT / "deploy" / "helm" / "sodafountain" / "files" / "alerts.yaml"
DASHBOARD: Final = ROOT / "deploy" / "dashboards" / "sodafountain.json"
_SECONDS: Final = 30.0

_SELECTOR: Final = re.compile(r"\b((?:sodafountain_|up\b|ALERTS\b)\w*)\s*(?:{([^}]*)})?")
_MATCHER: Final = re.compile(r'(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"')
_GROUPS: Final = re.compile(r"\bby\s*\(([^)]*)\)")


def tool(name: str) -> str:
    """Finds `promtool` or `prometheus`."""
    found = shutil.which(name)
    assert found, f"{name} is not on the PATH: Debian's package `prometheus` has it"
    return found


def promtool(*arguments: str | Path) -> str:
    """Runs promtool, which must find nothing wrong; returns what it says."""
    done = subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


class Query(NamedTuple):
    """What an expression asks for.

    Attributes:
        metrics: the names of series.
        values: the labels of each that are compared, with the values that they are compared with.
        groups: the labels that it adds up by.
    """

    metrics: set[str]
    values: dict[str, dict[str, set[str]]]
    groups: set[str]


def parse_query(expression: str) -> Query:
    """Reads an expression, simply: it finds names, not mistakes, which promtool and Prometheus find."""
    found = Query(set(), {}, {name.strip() for group in _GROUPS.findall(expression) for name in group.split(",")})
    for metric, matchers in _SELECTOR.findall(expression):
        found.metrics.add(metric)
        labels = found.values.setdefault(metric, {})
        for label, operator, value in _MATCHER.findall(matchers):
            labels.setdefault(label, set()).update(value.split("|") if operator in {"=~", "!~"} else [value])
    return found


@cache
def alerts() -> list[dict[str, Any]]:
    """Reads the alerts."""
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


@cache
def dashboard() -> dict[str, Any]:
    """Reads the dashboard."""
    read: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return read


def panels() -> list[dict[str, Any]]:
    """Lists the dashboard's panels, without its rows."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def all_of(variable: str) -> str:
    """What Grafana puts in the place of one of the dashboard's variables where everything is chosen."""
    (value,) = [each["allValue"] for each in dashboard()["templating"]["list"] if each["name"] == variable]
    return str(value)


def expressions() -> dict[str, str]:
    """Collects every expression of the alerts and the dashboard, by where it is."""
    found = {rule["alert"]: rule["expr"] for rule in alerts()}
    for panel in panels():
        for target in panel["targets"]:
            found[f"{panel['title']} {target['refId']}"] = target["expr"]
    return found


class Prometheus:
    """A Prometheus that runs.

    Attributes:
        url: where it is.
    """

    def __init__(self, url: str, process: "subprocess.Popen[bytes]") -> None:
        self.url = url
        self._process = process

    def get(self, path: str, **parameters: str) -> Any:
        """Asks its API; returns the answer's data, and fails the test where it is refused."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:
            return json.load(response)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Evaluates an expression now."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Tells of the rules: their `name`, `health` and `state`."""
        return [rule for group in self.get("rules")["groups"] for rule in group["rules"]]

    def wait(self, true: Callable[[], bool]) -> None:
        """Waits until something is so."""

        def is_so() -> bool:
            assert self._process.poll() is None, "Prometheus has ended"
            try:
                return true()
            except OSError:
                return False  # it does not listen yet

        eventually(is_so, within=_SECONDS)


@contextmanager
def running_prometheus(folder: Path, targets: Sequence[str]) -> Iterator[Prometheus]:
    """Runs a Prometheus with our configuration, which reads these services every second; loopback only."""
    config = yaml.safe_load((FOLDER / "prometheus.yml").read_text())
    config["global"] = {"scrape_interval": "1s", "evaluation_interval": "1s"}
    config["rule_files"] = [str(ALERTS.parent / name) for name in config["rule_files"]]
    (job,) = config["scrape_configs"]
    job["static_configs"] = [{"targets": list(targets)}]
    (folder / "prometheus.yml").write_text(yaml.safe_dump(config))
    address = f"127.0.0.1:{free_port()}"
    process = subprocess.Popen(
        [
            tool("prometheus"),
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            "--log.level=error",
        ],
        cwd=folder,
    )
    try:
        prometheus = Prometheus(f"http://{address}", process)
        prometheus.wait(lambda: bool(prometheus.query("up == 1")))
        yield prometheus
    finally:
        process.terminate()
        process.wait(20)
