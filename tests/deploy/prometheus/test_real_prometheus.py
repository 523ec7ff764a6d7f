"""A real Prometheus reads a real service: every expression is understood, and shows what goes on."""

from pathlib import Path

import pytest

from tests.deploy.prometheus.conftest import Busy
from tests.support.prometheus import all_of, expressions, panels, running_prometheus

CHOSEN = {"$__rate_interval": "1m", "$job": all_of("job"), "$instance": all_of("instance")}
"""What Grafana puts in the place of its variables."""

QUIET = {"Alerts A", "Questions that failed A"}
"""Panels that are empty while all is well."""

PACE = {"SodaFountainMovesSlow", "SodaFountainStoreSlow"}
"""Alerts that say how fast the machine is, so that a slow one may await them."""


def filled_in(expression: str) -> str:
    """An expression as Grafana sends it."""
    for variable, value in CHOSEN.items():
        expression = expression.replace(variable, value)
    return expression


@pytest.mark.prometheus
def test_every_panel_shows_what_a_service_did_and_every_alert_is_evaluated_and_quiet(
    busy: Busy, tmp_path: Path
) -> None:
    titles = tuple(f"{panel['title']} " for panel in panels())
    shown = {place: filled_in(asked) for place, asked in expressions().items() if place.startswith(titles)}

    with running_prometheus(tmp_path, [busy.address]) as prometheus:
        busy.play()
        prometheus.wait(lambda: bool(prometheus.query("rate(sodafountain_moves_total[1m]) > 0")))

        assert {place for place, asked in shown.items() if not prometheus.query(asked)} == QUIET
        (moves,) = prometheus.query(filled_in(shown["Moves, p99 A"]))
        assert 0 < float(moves["value"][1]) < 30

        prometheus.wait(lambda: {rule["health"] for rule in prometheus.rules()} == {"ok"})
        assert {rule["name"] for rule in prometheus.rules() if rule["state"] != "inactive"} <= PACE
