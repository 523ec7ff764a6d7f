"""Values that are missing, contradict each other, or are none are refused in words."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from helm_python.errors import HelmError

from service.store.urls import parse
from tests.deploy.helm.charts import CHART, EXAMPLES, MINIMAL, ROOT, Object, changed, render, values_of

STORE = {"store": {"existingSecret": ""}}
VALKEY = {**STORE, "valkey": {"enabled": True}}


def refused(values: Object) -> str:
    """Renders what must be refused; returns what is said."""
    with pytest.raises(HelmError) as caught:
        render(values)
    return str(caught.value)


def test_everything_that_is_missing_is_named_at_once() -> None:
    said = refused({})

    for name in ("image.repository", "tokenKeys.existingSecret", "store.existingSecret"):
        assert f"\n- {name} is missing: " in said


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"image": {"repository": ""}}, "image.repository is missing"),
        ({"image": {"repository": "soda", "tag": "latest"}}, "image.tag must not be latest"),
        ({"gateway": {"image": {"tag": "latest"}}}, "gateway.image.tag must not be latest"),
        ({"valkey": {"image": {"tag": "latest"}}}, "valkey.image.tag must not be latest"),
        ({"extraEnv": [{"name": "SODAFOUNTAIN_DRAIN", "value": "3d"}]}, "extraEnv must not set SODAFOUNTAIN_DRAIN"),
        ({"gateway": {"image": {"tag": ""}}}, "gateway.image.tag is missing"),
        ({"valkey": {"image": {"tag": ""}}}, "valkey.image.tag is missing"),
        ({"settings": {"idle-ttl": "3651d"}}, "settings.idle-ttl is more than ten years"),
        ({"settings": {"finished-ttl": "87601h"}}, "settings.finished-ttl is more than ten years"),
        ({"settings": {"heartbeat": "315360001s"}}, "settings.heartbeat is more than ten years"),
        ({"tokenKeys": {"existingSecret": ""}}, "tokenKeys.existingSecret is missing"),
        (STORE, "store.existingSecret is missing"),
        ({"valkey": {"enabled": True}}, "store.existingSecret and valkey.enabled contradict each other"),
        ({**VALKEY, "settings": {"durable-replicas": 1}}, "settings.durable-replicas cannot be met"),
        (
            {**VALKEY, "store": {"existingSecret": "", "tls": {"existingSecret": "ca"}}},
            "store.tls.existingSecret is for the store of store.existingSecret",
        ),
        ({"autoscaling": {"minReplicas": 5, "maxReplicas": 4}}, "autoscaling.maxReplicas is below"),
        (
            {"metrics": {"enabled": False, "serviceMonitor": {"enabled": True}}},
            "metrics.serviceMonitor.enabled needs metrics.enabled",
        ),
        (
            {"gateway": {"enabled": False, "ingress": {"enabled": True, "hosts": ["games.example"]}}},
            "gateway.ingress.enabled needs gateway.enabled",
        ),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(values: Object, sentence: str) -> None:
    said = refused({**MINIMAL, **values})

    assert said.count("\n- ") == 1, "and nothing else is wrong"
    assert f"\n- {sentence}" in said


@pytest.mark.parametrize("name", ["1soda", "so.da"])
def test_a_release_that_no_service_can_be_called_after_is_refused(name: str) -> None:
    with pytest.raises(HelmError, match=f"{name}-sodafountain cannot be what Services are called"):
        render(MINIMAL, name=name)

    assert render({**MINIMAL, "fullnameOverride": "soda"}, name=name).named("Service", "soda")


@pytest.mark.parametrize("repository", ["soda", "localhost:5000/soda", "[::1]:5000/a/b_c", "images.example/a/b--c"])
def test_an_image_may_be_anywhere(repository: str) -> None:
    (box,) = render({**MINIMAL, "image": {"repository": repository}}).pod("service").containers

    assert box["image"].rpartition(":")[0] == repository


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
        ("gateway.origins", []),
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
def test_what_is_no_value_is_refused_by_its_place(path: str, value: Any) -> None:
    said = refused(changed(MINIMAL, path, value))

    assert said.startswith("values don't meet the specifications of the schema")
    *way, last = path.split(".")
    assert path.replace(".", "/") in said or (f"'{last}'" in said and all(step in said for step in way)), said


def test_every_value_is_told_of() -> None:
    """`helm show values` is the documentation: all that the schema knows has a default there, and nothing else has."""

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

    told = paths(yaml.safe_load((CHART / "values.yaml").read_text()))
    unset = {"global"}  # Helm's own

    optional = ("settings.", "resources.requests.ephemeral-storage", "resources.limits.")
    missing = known(schema) - told - unset
    assert {path for path in missing if not any(part in path for part in optional)} == set()
    assert told - known(schema) == set()


STORES = [name for name in EXAMPLES if "store" in values_of(name)]
"""Examples that have a store of their own."""


@pytest.mark.parametrize(
    "path", [*(EXAMPLES[name] for name in STORES), CHART / "values.yaml"], ids=lambda path: path.stem
)
def test_the_store_urls_that_it_shows_are_store_urls(path: Path) -> None:
    text = path.read_text().replace("$files", "/files").replace("…", "password")
    shown = re.findall(r"rediss?[+a-z]*://[^\s'\"]*[^\s'\",]", text)

    assert shown
    for url in shown:
        parse(url)


def test_there_is_an_example_for_each_kind_of_store() -> None:
    assert {"standalone", "sentinel", "cluster", "tls", "production"} == set(STORES)


def test_the_commands_of_the_examples_name_what_is_there() -> None:
    for path in EXAMPLES.values():
        text = path.read_text()
        for named in re.findall(r"deploy/helm/\S+", text):
            assert (ROOT / named).exists(), named
        secrets = set(re.findall(r"existingSecret: (\S+)", text))
        made = set(re.findall(r"create secret generic (\S+)", text))
        assert made <= secrets, f"{path.name} makes a Secret that it does not use"


def test_everything_that_production_names_is_told_how_to_make() -> None:
    text = EXAMPLES["production"].read_text()
    named = set(re.findall(r"(?:existingSecret|secretName|priorityClassName): (\S+)", text))
    named |= {secret["name"] for secret in yaml.safe_load(text)["imagePullSecrets"]}

    made = set(re.findall(r"kubectl create (?:secret (?:generic|tls|docker-registry)|priorityclass) (\S+)", text))

    assert made == named


def test_the_image_that_is_loaded_to_try_it_out_is_the_one_that_runs() -> None:
    text = EXAMPLES["try-it-out"].read_text()
    (loaded,) = re.findall(r"kind load docker-image (\S+)", text)

    assert loaded in {box["image"] for pod in render(yaml.safe_load(text)).pods for box in pod.containers}
