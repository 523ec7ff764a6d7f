"""The alerts: rules that Prometheus takes, each shown to fire and to be quiet, each told of in docs/operate.md."""

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
    """Promtool's tests."""
    found: list[dict[str, Any]] = yaml.safe_load((FOLDER / "alerts_test.yaml").read_text())["tests"]
    return found


def fired(case: dict[str, Any]) -> set[str]:
    """The alerts that a case says are firing at some time."""
    samples = [sample["labels"] for test in case["promql_expr_test"] for sample in test["exp_samples"]]
    return {name for labels in samples for name in re.findall(r'alertname="(\w+)"', labels)}


@pytest.mark.prometheus
def test_prometheus_takes_the_rules_and_the_configuration(tmp_path: Path) -> None:
    for path in (FOLDER / "prometheus.yml", ALERTS):
        shutil.copy(path, tmp_path)

    promtool("check", "config", tmp_path / "prometheus.yml")
    promtool("check", "rules", ALERTS)


@pytest.mark.prometheus
def test_each_alert_fires_when_it_should_and_only_then() -> None:
    promtool("test", "rules", FOLDER / "alerts_test.yaml")


def test_every_case_states_all_alerts_that_fire() -> None:
    expressions = {test["expr"] for case in cases() for test in case["promql_expr_test"]}

    assert expressions == {'ALERTS{alertstate="firing"}'}


@pytest.mark.parametrize("alert", NAMES)
def test_an_alert_has_cases_in_which_it_fires_and_in_which_it_is_quiet(alert: str) -> None:
    fires = [case for case in cases() if case["name"].startswith(f"{alert} fires when ")]
    quiet = [case for case in cases() if case["name"].startswith(f"{alert} is quiet when ")]

    assert fires
    assert quiet
    assert all(fired(case) == {alert} for case in fires)
    assert not any(fired(case) for case in quiet)


@pytest.mark.parametrize("rule", alerts(), ids=NAMES)
def test_an_alert_says_how_bad_it_is_what_it_is_and_where_to_read_on(rule: dict[str, Any]) -> None:
    assert rule["labels"]["severity"] in {"critical", "warning", "info"}
    assert set(rule["annotations"]) == {"summary", "description", "runbook_url"}
    assert rule["annotations"]["runbook_url"] == f"docs/operate.md#{rule['alert'].lower()}"


def bound(alert: str) -> float:
    """The figure with which an alert compares, at the end of its expression."""
    (expression,) = (rule["expr"] for rule in alerts() if rule["alert"] == alert)
    return float(expression.split()[-1])


def test_watchers_are_near_their_limit_at_four_fifths_of_it() -> None:
    assert bound("SodaFountainWatchersNearLimit") == 0.8 * serve.make_context("serve", []).params["max_watchers"]


@pytest.mark.parametrize("alert", ["SodaFountainStoreSlow", "SodaFountainMovesSlow"])
def test_an_alert_on_a_time_compares_with_a_bound_of_the_histogram(alert: str) -> None:
    assert bound(alert) in metrics._SECONDS


def test_every_alert_has_its_paragraph_and_no_paragraph_is_without_an_alert() -> None:
    assert re.findall(r"^#### (SodaFountain\w+)\n\n\S", PAGE, re.MULTILINE) == NAMES
