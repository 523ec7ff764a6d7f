"""A value changes what it is for, and nothing else."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from tests.deploy.helm.charts import MINIMAL, Object, Rendered, changed, render, rendered, values_of

EVERYTHING: Object = {
    **MINIMAL,
    "store": {},
    "valkey": {"enabled": True},
    "gateway": {"ingress": {"enabled": True, "hosts": ["games.example"]}},
    "metrics": {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}},
}
"""Values with which everything is made that can be."""

SODA = "soda-sodafountain"
SERVICE, GATEWAY, VALKEY = (
    f"{owner}.spec.template.spec"
    for owner in (f"Deployment/{SODA}", f"Deployment/{SODA}-gateway", f"StatefulSet/{SODA}-valkey")
)
TEST = f"Pod/{SODA}-test.spec"
PODS = (SERVICE, GATEWAY, VALKEY, TEST)
OURS = (f"{SERVICE}.containers.0", f"{GATEWAY}.initContainers.0", f"{TEST}.containers.0")
"""The containers of the service's image."""

DIGEST = "sha256:" + "0123456789abcdef" * 4
NOTES = {"note": "ours"}
RULE = {"to": [{"ipBlock": {"cidr": "10.0.0.0/8"}}], "ports": [{"port": 4318}]}
TEST_POD = {
    "podSelector": {
        "matchLabels": {
            "app.kubernetes.io/name": "sodafountain",
            "app.kubernetes.io/instance": "soda",
            "app.kubernetes.io/component": "test",
        }
    }
}


def of_namespace(name: str) -> Object:
    """All pods of a namespace, as peers of a policy."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def differences(before: Any, after: Any, place: str = "") -> Iterator[tuple[str, Any]]:
    """Finds what is another: where it is, and what is there now."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            yield from differences(before.get(name), after.get(name), f"{place}.{name}" if place else name)
    elif isinstance(before, list) and isinstance(after, list):
        for number, (one, other) in enumerate(zip_longest(before, after)):
            yield from differences(one, other, f"{place}.{number}")
    elif before != after:
        yield place, after


def by_name(chart: Rendered) -> Object:
    """The objects by kind and name."""
    return {f"{found['kind']}/{found['metadata']['name']}": found for found in chart.objects}


@pytest.fixture(scope="module")
def everything() -> Rendered:
    """The chart with everything that there can be."""
    return render(EVERYTHING)


@pytest.mark.parametrize(
    ("path", "value", "places"),
    [
        ("image.digest", DIGEST, {f"{box}.image": f"images.example/sodafountain@{DIGEST}" for box in OURS}),
        ("gateway.image.digest", DIGEST, {f"{GATEWAY}.containers.0.image": f"envoyproxy/envoy@{DIGEST}"}),
        ("valkey.image.digest", DIGEST, {f"{VALKEY}.containers.0.image": f"valkey/valkey@{DIGEST}"}),
        ("image.pullPolicy", "Always", {f"{box}.imagePullPolicy": "Always" for box in OURS}),
        ("gateway.image.pullPolicy", "Never", {f"{GATEWAY}.containers.0.imagePullPolicy": "Never"}),
        ("valkey.image.pullPolicy", "Never", {f"{VALKEY}.containers.0.imagePullPolicy": "Never"}),
        ("imagePullSecrets", [{"name": "pull"}], {f"{pod}.imagePullSecrets": [{"name": "pull"}] for pod in PODS}),
        ("resources.limits.memory", "7Gi", {f"{SERVICE}.containers.0.resources.limits.memory": "7Gi"}),
        ("gateway.resources.limits.memory", "7Gi", {f"{GATEWAY}.containers.0.resources.limits.memory": "7Gi"}),
        ("valkey.resources.limits.memory", "7Gi", {f"{VALKEY}.containers.0.resources.limits.memory": "7Gi"}),
        (
            "autoscaling.targetCPUUtilizationPercentage",
            55,
            {f"HorizontalPodAutoscaler/{SODA}.spec.metrics.0.resource.target.averageUtilization": 55},
        ),
        ("service.type", "NodePort", {f"Service/{SODA}.spec.type": "NodePort"}),
        ("service.annotations", NOTES, {f"Service/{SODA}.metadata.annotations": NOTES}),
        ("gateway.replicas", 7, {f"Deployment/{SODA}-gateway.spec.replicas": 7}),
        ("gateway.concurrency", 7, {f"{GATEWAY}.containers.0.args.3": "7"}),
        ("gateway.service.type", "LoadBalancer", {f"Service/{SODA}-gateway.spec.type": "LoadBalancer"}),
        (
            "gateway.service.port",
            80,
            {
                f"Service/{SODA}-gateway.spec.ports.0.port": 80,
                f"{TEST}.containers.0.args.1": f"--rest=http://{SODA}-gateway:80",
            },
        ),
        ("gateway.service.annotations", NOTES, {f"Service/{SODA}-gateway.metadata.annotations": NOTES}),
        ("gateway.ingress.annotations", NOTES, {f"Ingress/{SODA}-gateway.metadata.annotations": NOTES}),
        (
            "networkPolicy.clients",
            [{"podSelector": {}}, of_namespace("app")],
            {f"NetworkPolicy/{SODA}.spec.ingress.0.from.3": of_namespace("app")},
        ),
        (
            "networkPolicy.gatewayClients",
            [of_namespace("app")],
            {f"NetworkPolicy/{SODA}-gateway.spec.ingress.0.from": [TEST_POD, of_namespace("app")]},
        ),
        ("networkPolicy.extraEgress", [RULE], {f"NetworkPolicy/{SODA}.spec.egress.2": RULE}),
        (
            "serviceAccount.create",
            False,
            {f"ServiceAccount/{SODA}": None, **{f"{pod}.serviceAccountName": "default" for pod in PODS}},
        ),
        ("serviceAccount.annotations", NOTES, {f"ServiceAccount/{SODA}.metadata.annotations": NOTES}),
        ("metrics.serviceMonitor.interval", "7s", {f"ServiceMonitor/{SODA}.spec.endpoints.0.interval": "7s"}),
    ],
)
def test_a_value_changes_what_it_is_for_and_nothing_else(
    path: str, value: Any, places: Object, everything: Rendered
) -> None:
    after = render(changed(EVERYTHING, path, value))

    assert dict(differences(by_name(everything), by_name(after))) == places


def test_production_runs_the_image_that_was_tested() -> None:
    chart = rendered("production")
    tested = "images.example/sodafountain@" + values_of("production")["image"]["digest"]

    assert tested.rpartition("@")[2].startswith("sha256:")
    for component in ("service", "gateway", "test"):
        assert chart.pod(component).containers[0]["image"] == tested


def test_the_gateway_of_production_is_called_by_its_ingress_and_the_test_alone() -> None:
    (rule,) = rendered("production").named("NetworkPolicy", f"{SODA}-gateway")["spec"]["ingress"]

    assert rule == {"ports": [{"port": "http"}], "from": [TEST_POD, of_namespace("ingress-nginx")]}
