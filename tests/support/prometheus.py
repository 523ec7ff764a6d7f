"""Prometheus under test: its tools, a server that scrapes real services, and a parser of expressions."""

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
    """Return the path of `promtool` or `prometheus`."""
    found = shutil.which(name)
    assert found, f"{name} is not on the PATH: Debian's package `prometheus` has it"
    return found


def promtool(*arguments: str | Path) -> str:
    """Run promtool, which must succeed, and return its output."""
    result = subprocess.run([tool("promtool"), *arguments], capture_output=True, text=True, timeout=100, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


class Query(NamedTuple):
    """The series and labels that an expression uses.

    Attributes:
        metrics: the names of the series.
        values: for each series, the labels that are compared and the values that they are compared with.
        groups: the labels of its `by` clauses.
    """

    metrics: set[str]
    values: dict[str, dict[str, set[str]]]
    groups: set[str]


def parse_query(expression: str) -> Query:
    """Find the names in an expression. promtool and Prometheus check its syntax."""
    found = Query(set(), {}, {name.strip() for group in _GROUPS.findall(expression) for name in group.split(",")})
    for metric, matchers in _SELECTOR.findall(expression):
        found.metrics.add(metric)
        labels = found.values.setdefault(metric, {})
        for label, operator, value in _MATCHER.findall(matchers):
            labels.setdefault(label, set()).update(value.split("|") if operator in {"=~", "!~"} else [value])
    return found


@cache
def alerts() -> list[dict[str, Any]]:
    """Read the alerts."""
    (group,) = yaml.safe_load(ALERTS.read_text())["groups"]
    rules: list[dict[str, Any]] = group["rules"]
    return rules


@cache
def dashboard() -> dict[str, Any]:
    """Read the dashboard."""
    read: dict[str, Any] = json.loads(DASHBOARD.read_text())
    return read


def panels() -> list[dict[str, Any]]:
    """Return the panels of the dashboard, without its rows."""
    return [panel for panel in dashboard()["panels"] if panel["type"] != "row"]


def all_of(variable: str) -> str:
    """Return the value that Grafana inserts for a variable of the dashboard when everything is selected."""
    (value,) = [each["allValue"] for each in dashboard()["templating"]["list"] if each["name"] == variable]
    return str(value)


def expressions() -> dict[str, str]:
    """Return every expression of the alerts and the dashboard, by its place."""
    found = {rule["alert"]: rule["expr"] for rule in alerts()}
    for panel in panels():
        for target in panel["targets"]:
            found[f"{panel['title']} {target['refId']}"] = target["expr"]
    return found


class Prometheus:
    """A running Prometheus.

    Attributes:
        url: its address.
    """

    def __init__(self, url: str, process: "subprocess.Popen[bytes]") -> None:
        self.url = url
        self._process = process

    def get(self, path: str, **parameters: str) -> Any:
        """Call its API and return the data. Fail the test on an error."""
        url = f"{self.url}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=_SECONDS) as response:
            return json.load(response)["data"]

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Evaluate an expression."""
        found: list[dict[str, Any]] = self.get("query", query=expression)["result"]
        return found

    def rules(self) -> list[dict[str, Any]]:
        """Return the rules with their `name`, `health` and `state`."""
        return [rule for group in self.get("rules")["groups"] for rule in group["rules"]]

    def wait(self, true: Callable[[], bool]) -> None:
        """Wait until a condition is true."""

        def is_so() -> bool:
            assert self._process.poll() is None, "Prometheus has ended"
            try:
                return true()
            except OSError:
                return False  # it does not listen yet

        eventually(is_so, within=_SECONDS)


@contextmanager
def running_prometheus(folder: Path, targets: Sequence[str]) -> Iterator[Prometheus]:
    """Run Prometheus on loopback with our configuration. It scrapes these services every second."""
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
