"""Each value changes only the fields that it controls."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import pytest

from tests.deploy.helm.charts import MINIMAL, Object, Rendered, render, render_example, values_of, with_value

ALL_ENABLED: Object = {
    **MINIMAL,
    "store": {},
    "valkey": {"enabled": True},
    "gateway": {"ingress": {"enabled": True, "hosts": ["games.example"]}},
    "metrics": {"serviceMonitor": {"enabled": True}, "prometheusRule": {"enabled": True}},
}
"""Values that enable all optional objects."""

SODA = "soda-sodafountain"
SERVICE, GATEWAY, VALKEY = (
    f"{owner}.spec.template.spec"
    for owner in (f"Deployment/{SODA}", f"Deployment/{SODA}-gateway", f"StatefulSet/{SODA}-valkey")
)
TEST = f"Pod/{SODA}-test.spec"
PODS = (SERVICE, GATEWAY, VALKEY, TEST)
SERVICE_IMAGE = (f"{SERVICE}.containers.0", f"{GATEWAY}.initContainers.0", f"{TEST}.containers.0")
"""The containers that run the image of the service."""

DIGEST = "sha256:" + "0123456789abcdef" * 4
ANNOTATIONS = {"note": "test"}
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


def namespace_peer(name: str) -> Object:
    """Return a network policy peer that selects all pods of a namespace."""
    return {"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": name}}}


def differences(before: Any, after: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each difference: its path, and the new value."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in before.keys() | after.keys():
            yield from differences(before.get(name), after.get(name), f"{path}.{name}" if path else name)
    elif isinstance(before, list) and isinstance(after, list):
        for number, (one, other) in enumerate(zip_longest(before, after)):
            yield from differences(one, other, f"{path}.{number}")
    elif before != after:
        yield path, after


def by_name(chart: Rendered) -> Object:
    """Return the objects by kind and name."""
    return {f"{obj['kind']}/{obj['metadata']['name']}": obj for obj in chart.objects}


@pytest.fixture(scope="module")
def all_enabled() -> Rendered:
    """The chart with all optional objects."""
    return render(ALL_ENABLED)


@pytest.mark.parametrize(
    ("path", "value", "changes"),
    [
        (
            "image.digest",
            DIGEST,
            {f"{container}.image": f"images.example/sodafountain@{DIGEST}" for container in SERVICE_IMAGE},
        ),
        ("gateway.image.digest", DIGEST, {f"{GATEWAY}.containers.0.image": f"envoyproxy/envoy@{DIGEST}"}),
        ("valkey.image.digest", DIGEST, {f"{VALKEY}.containers.0.image": f"valkey/valkey@{DIGEST}"}),
        ("image.pullPolicy", "Always", {f"{container}.imagePullPolicy": "Always" for container in SERVICE_IMAGE}),
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
        ("service.annotations", ANNOTATIONS, {f"Service/{SODA}.metadata.annotations": ANNOTATIONS}),
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
        ("gateway.service.annotations", ANNOTATIONS, {f"Service/{SODA}-gateway.metadata.annotations": ANNOTATIONS}),
        ("gateway.ingress.annotations", ANNOTATIONS, {f"Ingress/{SODA}-gateway.metadata.annotations": ANNOTATIONS}),
        (
            "networkPolicy.clients",
            [namespace_peer("app")],
            {f"NetworkPolicy/{SODA}.spec.ingress.0.from.2": namespace_peer("app")},
        ),
        (
            "networkPolicy.gatewayClients",
            [namespace_peer("app")],
            {f"NetworkPolicy/{SODA}-gateway.spec.ingress.0.from": [TEST_POD, namespace_peer("app")]},
        ),
        (
            "networkPolicy.dnsServers",
            [namespace_peer("dns")],
            {
                f"NetworkPolicy/{SODA}{component}.spec.egress.0.to": [namespace_peer("dns")]
                for component in ("", "-gateway", "-test")
            },
        ),
        (
            "networkPolicy.dnsPorts",
            [5300],
            {
                f"NetworkPolicy/{SODA}{component}.spec.egress.0.ports.{number}.port": 5300
                for component in ("", "-gateway", "-test")
                for number in range(2)
            },
        ),
        ("networkPolicy.extraEgress", [RULE], {f"NetworkPolicy/{SODA}.spec.egress.2": RULE}),
        (
            "serviceAccount.create",
            False,
            {f"ServiceAccount/{SODA}": None, **{f"{pod}.serviceAccountName": "default" for pod in PODS}},
        ),
        ("serviceAccount.annotations", ANNOTATIONS, {f"ServiceAccount/{SODA}.metadata.annotations": ANNOTATIONS}),
        ("metrics.serviceMonitor.interval", "7s", {f"ServiceMonitor/{SODA}.spec.endpoints.0.interval": "7s"}),
    ],
)
def test_a_value_changes_only_what_it_is_for(path: str, value: Any, changes: Object, all_enabled: Rendered) -> None:
    after = render(with_value(ALL_ENABLED, path, value))

    assert dict(differences(by_name(all_enabled), by_name(after))) == changes


def test_production_pins_the_image_by_digest() -> None:
    chart = render_example("production")
    pinned = "images.example/sodafountain@" + values_of("production")["image"]["digest"]

    assert pinned.rpartition("@")[2].startswith("sha256:")
    for component in ("service", "gateway", "test"):
        assert chart.pod(component).containers[0]["image"] == pinned


def test_only_the_ingress_and_the_test_may_call_the_production_gateway() -> None:
    (rule,) = render_example("production").named("NetworkPolicy", f"{SODA}-gateway")["spec"]["ingress"]

    assert rule == {"ports": [{"port": "http"}], "from": [TEST_POD, namespace_peer("ingress-nginx")]}
