"""The dashboard: tidy, explained, in the colours that outcomes have, and for every data source and service."""

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
    """Finds a panel."""
    (panel,) = (panel for panel in panels() if panel["title"] == title)
    return panel


def coloured(title: str) -> set[str]:
    """What has a colour of its own in a panel."""
    return {override["matcher"]["options"] for override in panel_named(title)["fieldConfig"]["overrides"]}


def test_grafana_knows_every_field_and_would_keep_it() -> None:
    register_default_plugins()
    kept = json.loads(JSONEncoder().encode(Dashboard.from_json(dashboard())))

    assert list(lost(dashboard(), kept)) == []


def lost(here: Any, there: Any, path: str = "dashboard") -> Iterator[str]:
    """Lists what is here and is not there, by its path."""
    if isinstance(here, dict) and isinstance(there, dict):
        for key, value in here.items():
            yield from lost(value, there.get(key, lost), f"{path}.{key}")
    elif isinstance(here, list) and isinstance(there, list) and len(here) == len(there):
        for number, value in enumerate(here):
            yield from lost(value, there[number], f"{path}[{number}]")
    elif here != there:
        yield path


def test_ids_and_titles_are_told_apart() -> None:
    ids = [panel["id"] for panel in dashboard()["panels"]]
    titles = [panel["title"] for panel in panels()]

    assert len(set(ids)) == len(ids)
    assert len(set(titles)) == len(titles)


def test_panels_fill_the_width_row_by_row_and_do_not_overlap() -> None:
    cells = [
        {(x, y) for x in range(at["x"], at["x"] + at["w"]) for y in range(at["y"], at["y"] + at["h"])}
        for at in (panel["gridPos"] for panel in dashboard()["panels"])
    ]

    assert not any(one & other for one, other in combinations(cells, 2))
    taken = set().union(*cells)
    assert taken == {(x, y) for x in range(24) for y in range(max(y for _, y in taken) + 1)}


@PANELS
def test_a_panel_says_what_it_shows_what_is_normal_and_in_which_unit(panel: dict[str, Any]) -> None:
    assert "ormal" in panel["description"] or panel["title"] in {"Calls", "Watchers", "Calls by outcome"}
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]


@PANELS
def test_a_panel_asks_the_chosen_data_source_about_the_chosen_services(panel: dict[str, Any]) -> None:
    assert panel["datasource"] == SOURCE
    assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"])
    for target in panel["targets"]:
        assert target["datasource"] == SOURCE
        assert target["legendFormat"]
        if panel["title"] != "Alerts":
            assert 'job=~"$job", instance=~"$instance"' in target["expr"]


def test_data_source_job_and_service_can_be_chosen() -> None:
    source, *chosen = dashboard()["templating"]["list"]

    assert (source["name"], source["type"], source["query"]) == ("datasource", "datasource", "prometheus")
    assert [variable["name"] for variable in chosen] == ["job", "instance"]
    assert all(variable["datasource"] == SOURCE for variable in chosen)


def test_every_outcome_has_its_colour() -> None:
    assert coloured("Calls by outcome") == VALUES["sodafountain_rpc_seconds"]["outcome"]
    assert coloured("How streams end") == VALUES["sodafountain_streams_total"]["outcome"]
    assert coloured("Questions that failed") == VALUES["sodafountain_store_seconds"]["outcome"] - {"ok"}


@pytest.mark.parametrize("title", ["Moves by game", "Games made", "Games finished"])
def test_every_game_has_its_colour(title: str) -> None:
    assert coloured(title) == set(GAMES)


def shows(title: str, series: dict[str, str], value: float, folder: Path) -> None:
    """Has promtool evaluate what a panel asks for, five minutes into these series, with everything chosen."""
    expression = panel_named(title)["targets"][0]["expr"].replace("$__rate_interval", "1m")
    for variable in ("job", "instance"):
        expression = expression.replace(f"${variable}", all_of(variable))
    wanted = {"expr": expression, "eval_time": "5m", "exp_samples": [{"labels": "{}", "value": value}]}
    case = {
        "interval": "15s",
        "input_series": [{"series": each, "values": values} for each, values in series.items()],
        "promql_expr_test": [wanted],
    }
    (folder / "case.yaml").write_text(yaml.safe_dump({"tests": [case]}))

    promtool("test", "rules", folder / "case.yaml")


@pytest.mark.prometheus
def test_targets_of_others_do_not_count_as_services(tmp_path: Path) -> None:
    up = 'up{job="%s", instance="a"}'

    shows("Services up", {up % "the-sodafountain-of-a-team": "1x40", up % "node": "1x40"}, 1, tmp_path)


@pytest.mark.prometheus
@pytest.mark.parametrize(
    ("title", "method", "outcome", "shown"),
    [
        ("Refused: our fault or the store's", "NewGame", "LIMIT", 0),
        ("Refused: our fault or the store's", "ApplyMove", "LIMIT", 0.5),
        ("Refused: our fault or the store's", "NewGame", "INTERNAL", 0.5),
        ("New games refused", "NewGame", "LIMIT", 1),
        ("New games refused", "ApplyMove", "LIMIT", 0),
    ],
)
def test_a_quota_that_is_spent_is_told_apart_from_what_we_refuse(
    title: str, method: str, outcome: str, shown: float, tmp_path: Path
) -> None:
    calls = 'sodafountain_rpc_seconds_count{job="sodafountain", instance="a", method="%s", outcome="%s"}'

    shows(title, {calls % (method, outcome): "0+15x40", calls % ("GetGame", "OK"): "0+15x40"}, shown, tmp_path)
