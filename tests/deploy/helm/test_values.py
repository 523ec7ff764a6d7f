"""Missing, conflicting and invalid values are rejected with a clear message."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python.errors import HelmError

from service.store.urls import parse
from tests.deploy.helm.charts import CHART, EXAMPLES, MINIMAL, ROOT, Object, render, values_of, with_value

STORE = {"store": {"existingSecret": ""}}
VALKEY = {**STORE, "valkey": {"enabled": True}}


def render_error(values: Object) -> str:
    """Render invalid values; return the error message."""
    with pytest.raises(HelmError) as caught:
        render(values)
    return str(caught.value)


def test_all_missing_values_are_reported_together() -> None:
    error = render_error({})

    for name in ("image.repository", "tokenKeys.existingSecret", "store.existingSecret"):
        assert f"\n- {name} is missing: " in error


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"image": {"repository": ""}}, "image.repository is missing"),
        ({"image": {"repository": "soda", "tag": "latest"}}, "image.tag must not be latest"),
        ({"gateway": {"image": {"tag": "latest"}}}, "gateway.image.tag must not be latest"),
        ({"valkey": {"image": {"tag": "latest"}}}, "valkey.image.tag must not be latest"),
        ({"extraEnv": [{"name": "SODAFOUNTAIN_DRAIN", "value": "3d"}]}, "extraEnv must not contain SODAFOUNTAIN_DRAIN"),
        ({"gateway": {"image": {"tag": ""}}}, "gateway.image.tag is missing"),
        ({"valkey": {"image": {"tag": ""}}}, "valkey.image.tag is missing"),
        ({"settings": {"idle-ttl": "3651d"}}, "settings.idle-ttl must be at most ten years"),
        ({"settings": {"finished-ttl": "87601h"}}, "settings.finished-ttl must be at most ten years"),
        ({"settings": {"heartbeat": "315360001s"}}, "settings.heartbeat must be at most ten years"),
        ({"tokenKeys": {"existingSecret": ""}}, "tokenKeys.existingSecret is missing"),
        (STORE, "store.existingSecret is missing"),
        ({"valkey": {"enabled": True}}, "store.existingSecret and valkey.enabled are mutually exclusive"),
        ({**VALKEY, "settings": {"durable-replicas": 1}}, "settings.durable-replicas must be 0 with valkey.enabled"),
        (
            {**VALKEY, "store": {"existingSecret": "", "tls": {"existingSecret": "ca"}}},
            "store.tls.existingSecret requires store.existingSecret",
        ),
        ({"networkPolicy": {"stores": []}}, "networkPolicy.stores is missing"),
        ({"settings": {"traces-endpoint": "http://collector:4317"}}, "networkPolicy.traceCollectors is missing"),
        ({"gateway": {"enabled": False}}, "networkPolicy.clients is missing"),
        ({"autoscaling": {"minReplicas": 5, "maxReplicas": 4}}, "autoscaling.maxReplicas must not be less than"),
        (
            {"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}},
            "metrics.serviceMonitor.enabled requires metrics.enabled",
        ),
        (
            {
                "gateway": {"enabled": False, "ingress": {"enabled": True, "hosts": ["games.example"]}},
                "networkPolicy": {"enabled": False},
            },
            "gateway.ingress.enabled requires gateway.enabled",
        ),
    ],
)
def test_invalid_and_conflicting_values_are_rejected(values: Object, message: str) -> None:
    error = render_error({**MINIMAL, **values})

    assert error.count("\n- ") == 1, "only one problem must be reported"
    assert f"\n- {message}" in error


@pytest.mark.parametrize("name", ["1soda", "so.da"])
def test_a_release_name_that_is_invalid_for_a_service_is_rejected(name: str) -> None:
    with pytest.raises(HelmError, match=f"{name}-sodafountain is not a valid name of a Service"):
        render(MINIMAL, name=name)

    assert render({**MINIMAL, "fullnameOverride": "soda"}, name=name).named("Service", "soda")


@pytest.mark.parametrize("repository", ["soda", "localhost:5000/soda", "[::1]:5000/a/b_c", "images.example/a/b--c"])
def test_an_image_can_be_in_any_registry(repository: str) -> None:
    (container,) = render({**MINIMAL, "image": {"repository": repository}}).pod("service").containers

    assert container["image"].rpartition(":")[0] == repository


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("replica", 3),
        ("image.pullPolice", "Always"),
        ("store.url", "redis://redis"),
        ("settings.store-url", "redis://redis"),
        ("settings.idle-tll", "3d"),
        ("gateway.ingress.host", "games.example"),
        ("metrics.serviceMonitor.intervall", "5s"),
        ("networkPolicy.storePort", 6379),
        ("replicas", "three"),
        ("replicas", 0),
        ("autoscaling.enabled", "yes"),
        ("image.pullPolicy", "Sometimes"),
        ("image.digest", "sha256:123"),
        ("image.repository", "a/b:1"),
        ("image.repository", "b:1"),
        ("resources.limits.memory", "lots"),
        ("tokenKeys.existingSecret", "k1:AAAA="),
        ("apiKeys.key", "a/b"),
        ("encryptionKeys.key", "a/b"),
        ("settings.idle-ttl", "3 days"),
        ("settings.threads", 0),
        ("settings.threads", "8"),
        ("settings.heartbeat", 15),
        ("settings.log-level", "loud"),
        ("shutdown.drainSeconds", "10s"),
        ("resources.limits.memory", None),
        ("resources.requests.cpu", None),
        ("resources.limits.gpu", 1),
        ("gateway.origins", ["app.example"]),
        ("gateway.ingress", {"enabled": True, "hosts": []}),
        ("gateway.service.port", 0),
        ("networkPolicy.clients", [{}]),
        ("networkPolicy.storePorts", []),
        ("spread", "Sometimes"),
        ("listenHost", "127.0.0.1"),
        ("valkey.maxMemory", "lots"),
        ("podLabels", {"a": 1}),
        ("fullnameOverride", "Soda"),
    ],
)
def test_an_error_of_the_schema_names_the_path_of_the_value(path: str, value: Any) -> None:
    error = render_error(with_value(MINIMAL, path, value))

    assert error.startswith("values don't meet the specifications of the schema")
    *parents, last = path.split(".")
    assert path.replace(".", "/") in error or (f"'{last}'" in error and all(step in error for step in parents)), error


@pytest.mark.parametrize(
    "path",
    [
        *("image", "compatibility", "settings", "apiKeys", "store.tls", "valkey", "gateway", "gateway.ingress"),
        *("metrics", "metrics.serviceMonitor", "networkPolicy.dnsPorts", "networkPolicy.storePorts", "shutdown"),
    ],
)
def test_a_value_that_cannot_be_removed_is_named(path: str) -> None:
    error = render_error(with_value(MINIMAL, path, None))

    assert error.startswith("values don't meet the specifications of the schema")
    assert f"missing property '{path.rpartition('.')[2]}'" in error


def test_values_yaml_contains_every_value_of_the_schema() -> None:
    """`helm show values` is the documentation, so it must contain all values of the schema, and no others."""

    def paths(values: Object, before: str = "") -> set[str]:
        return {f"{before}{name}" for name in values} | {
            path
            for name, value in values.items()
            if isinstance(value, dict)
            for path in paths(value, f"{before}{name}.")
        }

    schema = yaml.safe_load((CHART / "values.schema.json").read_text())

    def known(part: Object, before: str = "") -> set[str]:
        if "$ref" in part:
            part = schema["$defs"][part["$ref"].rpartition("/")[2]]
        own = {
            path
            for name, inner in part.get("properties", {}).items()
            for path in {f"{before}{name}", *known(inner, f"{before}{name}.")}
        }
        return own.union(*(known(inner, before) for inner in part.get("allOf", ())))

    documented = paths(yaml.safe_load((CHART / "values.yaml").read_text()))
    unset = {"global"}  # Helm's own

    optional = ("settings.", "resources.requests.ephemeral-storage", "resources.limits.")
    missing = known(schema) - documented - unset
    assert {path for path in missing if not any(part in path for part in optional)} == set()
    assert documented - known(schema) == set()


STORES = [name for name in EXAMPLES if "store" in values_of(name)]
"""The examples with an external store."""


@pytest.mark.parametrize(
    "path", [*(EXAMPLES[name] for name in STORES), CHART / "values.yaml"], ids=lambda path: path.stem
)
def test_the_documented_store_urls_are_valid(path: Path) -> None:
    text = path.read_text().replace("$files", "/files").replace("…", "password")
    shown = re.findall(r"rediss?[+a-z]*://[^\s'\"]*[^\s'\",]", text)

    assert shown
    for url in shown:
        parse(url)


def test_there_is_an_example_for_each_kind_of_store() -> None:
    assert {"standalone", "sentinel", "cluster", "tls", "production"} == set(STORES)


def test_the_commands_of_the_examples_use_existing_files_and_secrets() -> None:
    for path in EXAMPLES.values():
        text = path.read_text()
        for path_in_text in re.findall(r"deploy/helm/\S+", text):
            assert (ROOT / path_in_text).exists(), path_in_text
        secrets = set(re.findall(r"existingSecret: (\S+)", text))
        created = set(re.findall(r"create secret generic (\S+)", text))
        assert created <= secrets, f"{path.name} creates a Secret that it does not use"


def test_the_production_example_creates_everything_that_it_uses() -> None:
    text = EXAMPLES["production"].read_text()
    used = set(re.findall(r"(?:existingSecret|secretName|priorityClassName): (\S+)", text))
    used |= {secret["name"] for secret in yaml.safe_load(text)["imagePullSecrets"]}

    created = set(re.findall(r"kubectl create (?:secret (?:generic|tls|docker-registry)|priorityclass) (\S+)", text))

    assert created == used


def test_the_image_loaded_in_the_evaluation_example_is_the_one_that_runs() -> None:
    text = EXAMPLES["try-it-out"].read_text()
    (loaded,) = re.findall(r"kind load docker-image (\S+)", text)

    assert loaded in {container["image"] for pod in render(yaml.safe_load(text)).pods for container in pod.containers}
