"""Evaluate all expressions with a real Prometheus that scrapes a real service."""

from pathlib import Path

import pytest

from tests.deploy.prometheus.conftest import Busy
from tests.support.prometheus import all_of, expressions, panels, running_prometheus

VARIABLES = {"$__rate_interval": "1m", "$job": all_of("job"), "$instance": all_of("instance")}
"""The values of Grafana's variables."""

EMPTY = {"Alerts A", "Failed store operations A"}
"""Panels without data if there are no errors."""

LATENCY = {"SodaFountainMovesSlow", "SodaFountainStoreSlow"}
"""Alerts that may be pending on a slow machine."""


def substitute_variables(expression: str) -> str:
    """Return an expression as Grafana sends it."""
    for variable, value in VARIABLES.items():
        expression = expression.replace(variable, value)
    return expression


@pytest.mark.prometheus
def test_all_panels_have_data_and_no_alert_fires(busy: Busy, tmp_path: Path) -> None:
    titles = tuple(f"{panel['title']} " for panel in panels())
    shown = {place: substitute_variables(query) for place, query in expressions().items() if place.startswith(titles)}

    with running_prometheus(tmp_path, [busy.address]) as prometheus:
        busy.play()
        prometheus.wait(lambda: bool(prometheus.query("rate(sodafountain_moves_total[1m]) > 0")))

        assert {place for place, query in shown.items() if not prometheus.query(query)} == EMPTY
        (moves,) = prometheus.query(substitute_variables(shown["Moves, p99 A"]))
        assert 0 < float(moves["value"][1]) < 30

        prometheus.wait(lambda: {rule["health"] for rule in prometheus.rules()} == {"ok"})
        assert {rule["name"] for rule in prometheus.rules() if rule["state"] != "inactive"} <= LATENCY
