"""The alerts: Prometheus accepts the rules, each has tests, and docs/operate.md explains each."""

import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from service.commands.serve import serve
from service.observability import metrics
from tests.support.prometheus import ALERTS, FOLDER, ROOT, alerts, promtool

PAGE = (ROOT / "docs" / "operate.md").read_text()
NAMES = [rule["alert"] for rule in alerts()]


@cache
def cases() -> list[dict[str, Any]]:
    """Return the tests of alerts_test.yaml."""
    found: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
    return found


def fired(case: dict[str, Any]) -> set[str]:
    """Return the alerts that a test expects to fire."""
    samples = [sample["labels"] for test in case["promql_expr_test"] for sample in test["exp_samples"]]
    return {name for labels in samples for name in re.findall(r'alertname="(\w+)"', labels)}


@pytest.mark.prometheus
def test_prometheus_accepts_the_rules_and_the_configuration(tmp_path: Path) -> None:
    for path in (FOLDER / "prometheus.yml", ALERTS):
        shutil.copy(path, tmp_path)

    promtool("check", "config", tmp_path / "prometheus.yml")
    promtool("check", "rules", ALERTS)


@pytest.mark.prometheus
def test_alerts_fire_exactly_when_expected() -> None:
    promtool("test", "rules", FOLDER / "alerts_test.yaml")


def test_every_case_lists_all_firing_alerts() -> None:
    expressions = {test["expr"] for case in cases() for test in case["promql_expr_test"]}

    assert expressions == {'ALERTS{alertstate="firing"}'}


@pytest.mark.parametrize("alert", NAMES)
def test_an_alert_has_firing_and_quiet_cases(alert: str) -> None:
    fires = [case for case in cases() if case["name"].startswith(f"{alert} fires when ")]
    quiet = [case for case in cases() if case["name"].startswith(f"{alert} is quiet when ")]

    assert fires
    assert quiet
    assert all(fired(case) == {alert} for case in fires)
    assert not any(fired(case) for case in quiet)


@pytest.mark.parametrize("rule", alerts(), ids=NAMES)
def test_an_alert_has_severity_texts_and_runbook(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"docs/operate.md#{rule['alert'].lower()}"


def threshold(alert: str) -> float:
    """Return the threshold at the end of an alert's expression."""
    (expression,) = (rule["expr"] for rule in alerts() if rule["alert"] == alert)
    return float(expression.split()[-1])


def test_the_watcher_alert_fires_at_80_percent_of_the_limit() -> None:
    assert threshold("SodaFountainWatchersNearLimit") == 0.8 * serve.make_context("serve", []).params["max_watchers"]


@pytest.mark.parametrize("alert", ["SodaFountainStoreSlow", "SodaFountainMovesSlow"])
def test_a_latency_threshold_is_a_bucket_bound_of_the_histogram(alert: str) -> None:
    assert threshold(alert) in metrics._SECONDS


def test_the_docs_explain_exactly_the_existing_alerts() -> None:
    assert re.findall(r"^#### (SodaFountain\w+)\n\n\S", PAGE, re.MULTILINE) == NAMES
