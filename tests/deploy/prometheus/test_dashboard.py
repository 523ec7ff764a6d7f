"""The dashboard: layout, descriptions, colors, and queries for the selected data source and services."""

import json
from collections.abc import Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
import yaml
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard

from engine.catalogue import GAMES
from tests.deploy.prometheus.test_expressions import VALUES
from tests.support.prometheus import all_of, dashboard, panels, promtool

PANELS = pytest.mark.parametrize("panel", panels(), ids=[panel["title"] for panel in panels()])
SOURCE = {"type": "prometheus", "uid": "${datasource}"}


def panel_named(title: str) -> dict[str, Any]:
    """Return the panel with a title."""
    (panel,) = (panel for panel in panels() if panel["title"] == title)
    return panel


def colored_series(title: str) -> set[str]:
    """Return the series of a panel that have a fixed color."""
    return {override["matcher"]["options"] for override in panel_named(title)["fieldConfig"]["overrides"]}


def test_grafana_knows_every_field() -> None:
    register_default_plugins()
    parsed = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard())))

    assert list(differences(dashboard(), parsed)) == []


def differences(before: Any, after: Any, path: str = "dashboard") -> Iterator[str]:
    """Yield the paths of values that are missing or different afterwards."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from differences(value, after.get(key, differences), f"{path}.{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, value in enumerate(before):
            yield from differences(value, after[number], f"{path}[{number}]")
    elif before != after:
        yield path


def test_ids_and_titles_are_unique() -> None:
    ids = [panel["id"] for panel in dashboard()["panels"]]
    titles = [panel["title"] for panel in panels()]

    assert len(set(ids)) == len(ids)
    assert len(set(titles)) == len(titles)


def test_panels_fill_the_grid_without_overlap() -> None:
    cells = [
        {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for at in (panel["gridPos"] for panel in dashboard()["panels"])
    ]

    assert not any(one & other for one, other in combinations(cells, 2))
    used = set().union(*cells)
    assert used == {(x, y) for x in range(24) for y in range(max(y for _, y in used) + 1)}


@PANELS
def test_a_panel_has_a_description_a_normal_value_and_a_unit(panel: dict[str, Any]) -> None:
    assert "ormal" in panel["description"] or panel["title"] in {"Calls", "Watchers", "Calls by outcome"}
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]


@PANELS
def test_a_panel_queries_the_selected_data_source_and_services(panel: dict[str, Any]) -> None:
    assert panel["datasource"] == SOURCE
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    for target in panel["targets"]:
        assert target["datasource"] == SOURCE
        assert target["legendFormat"]
        if panel["title"] != "Alerts":
            assert 'job=~"$job", instance=~"$instance"' in target["expr"]


def test_data_source_job_and_service_can_be_selected() -> None:
    source, *chosen = dashboard()["templating"]["list"]

    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert [variable["name"] for variable in chosen] == ["job", "instance"]
    assert all(variable["datasource"] == SOURCE for variable in chosen)


@PANELS
def test_a_color_is_for_an_existing_series(panel: dict[str, Any]) -> None:
    legends = {target["legendFormat"] for target in panel["targets"]}

    if not any("{{" in legend for legend in legends):
        assert colored_series(panel["title"]) <= legends


def test_every_outcome_has_a_color() -> None:
    assert colored_series("Calls by outcome") == VALUES["sodafountain_rpc_seconds"]["outcome"]
    assert colored_series("Ended streams") == VALUES["sodafountain_streams_total"]["outcome"]
    assert colored_series("Failed store operations") == VALUES["sodafountain_store_seconds"]["outcome"] - {"ok"}


@pytest.mark.parametrize("title", ["Moves by game", "Games created", "Games finished"])
def test_every_game_has_a_color(title: str) -> None:
    assert colored_series(title) == set(GAMES)


def assert_panel_value(title: str, series: dict[str, str], value: float, folder: Path) -> None:
    """Check the value of a panel after five minutes with promtool; all services are selected."""
    expression = panel_named(title)["targets"][0]["expr"].replace("$__rate_interval", "1m")
    for variable in ("job", "instance"):
        expression = expression.replace(f"${variable}", all_of(variable))
    expected = {"expr": expression, "eval_time": "5m", "exp_samples": [{"labels": "{}", "value": value}]}
    case = {
        "interval": "15s",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "promql_expr_test": [expected],
    }
    (folder / "case.yaml").write_text(yaml.safe_dump({"tests": [case]}))

    promtool("test", "rules", folder / "case.yaml")


@pytest.mark.prometheus
def test_other_scrape_targets_do_not_count_as_services(tmp_path: Path) -> None:
    up = 'up{job="%s", instance="a"}'

    assert_panel_value("Services up", {up % "the-sodafountain-of-a-team": "1x40", up % "node": "1x40"}, 1, tmp_path)


@pytest.mark.prometheus
@pytest.mark.parametrize(
    ("title", "method", "outcome", "shown"),
    [
        ("Server errors", "NewGame", "LIMIT", 0),
        ("Server errors", "ApplyMove", "LIMIT", 0.5),
        ("Server errors", "NewGame", "INTERNAL", 0.5),
        ("Rejected new games", "NewGame", "LIMIT", 1),
        ("Rejected new games", "ApplyMove", "LIMIT", 0),
    ],
)
def test_an_exhausted_quota_does_not_count_as_a_server_error(
    title: str, method: str, outcome: str, shown: float, tmp_path: Path
) -> None:
    calls = 'sodafountain_rpc_seconds_count{job="sodafountain", instance="a", method="%s", outcome="%s"}'

    assert_panel_value(
        title, {calls % (method, outcome): "0+15x40", calls % ("GetGame", "OK"): "0+15x40"}, shown, tmp_path
    )
