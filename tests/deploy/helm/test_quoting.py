"""Names that look like other YAML types, such as `null` or `0777`, are rendered as strings."""

from functools import cache
from typing import Any

import pytest
from helm_python.errors import HelmError

from tests.deploy.helm.charts import MINIMAL, Object, Rendered, render

PLAIN = "plain"
ANYWHERE = [{"ipBlock": {"cidr": "0.0.0.0/0"}}]


def named(name: str) -> Object:
    """Return values that use `name` wherever the chart accepts a name."""
    pods: Object = {"priorityClassName": name}
    image = {"repository": name, "tag": name}
    return {
        **pods,
        "image": image,
        "imagePullSecrets": [{"name": name}],
        "tokenKeys": {"existingSecret": name, "key": name},
        "apiKeys": {"existingSecret": name, "key": name},
        "encryptionKeys": {"existingSecret": name, "key": name},
        "store": {"existingSecret": name, "key": name, "tls": {"existingSecret": name}},
        "extraEnv": [{"name": "OTHER", "value": name}],
        "extraVolumes": [{"name": name, "secret": {"secretName": name}}],
        "extraVolumeMounts": [{"name": name, "mountPath": name}],
        "settings": {"traces-endpoint": f"http://{name}"},
        "networkPolicy": {"stores": ANYWHERE, "traceCollectors": ANYWHERE},
        "service": {"annotations": {"key": name}},
        "serviceAccount": {"name": name},
        "gateway": {
            **pods,
            "image": image,
            "ingress": {
                "enabled": True,
                "className": name,
                "hosts": [name],
                "tls": [{"hosts": [name], "secretName": name}],
            },
        },
        "metrics": {"serviceMonitor": {"enabled": True, "labels": {"key": name}}, "prometheusRule": {"enabled": True}},
    }


def with_valkey(name: str) -> Object:
    """Return the same values with the Valkey of the chart."""
    image = {"repository": name, "tag": name}
    storage = {"className": name}
    valkey = {"enabled": True, "image": image, "existingSecret": name, "key": name, "storage": storage}
    return {**named(name), "store": {}, "valkey": valkey}


VALUES = {"store": named, "valkey": with_valkey}


@cache
def rendered(store: str, name: str, override: str) -> Rendered:
    """Render the chart with a name in all places. The result is cached; do not modify it."""
    values = VALUES[store](name)
    return render({**values, "fullnameOverride": override, "nameOverride": override}, name=name)


def renamed(value: Any, name: str) -> Any:
    """Replace the name in all strings of a value."""
    match value:
        case dict():
            return {renamed(key, name): renamed(inner, name) for key, inner in value.items()}
        case list():
            return [renamed(inner, name) for inner in value]
        case str():
            return value.replace(PLAIN, name)
    return value


@pytest.mark.parametrize("store", VALUES)
@pytest.mark.parametrize("name", ["null", "true", "off", "123", "0777"])
def test_a_name_is_rendered_as_a_string(store: str, name: str) -> None:
    is_letter_first = name[0].isalpha()
    plain = rendered(store, PLAIN, PLAIN if is_letter_first else "x")
    odd = rendered(store, name, name if is_letter_first else "x")

    assert len(plain.objects) == len(odd.objects) > 10
    for before, after in zip(plain.objects, odd.objects, strict=True):
        assert after == renamed(before, name)


def test_the_log_level_off_is_rendered_as_a_string() -> None:
    _, envoy = render({**MINIMAL, "gateway": {"logLevel": "off"}}).pod("gateway").containers

    assert envoy["args"][envoy["args"].index("--log-level") + 1] == "off"


def test_a_storage_size_in_bytes_is_rendered_as_a_string() -> None:
    chart = render({**MINIMAL, "store": {}, "valkey": {"enabled": True, "storage": {"size": "1000000000"}}})
    (claim,) = chart.of("StatefulSet")[0]["spec"]["volumeClaimTemplates"]

    assert claim["spec"]["resources"]["requests"]["storage"] == "1000000000"


@pytest.mark.parametrize(
    "values",
    [
        {"priorityClassName": "a\nhostNetwork: true"},
        {"gateway": {"ingress": {"className": "a\nrules: []"}}},
        {"serviceAccount": {"name": "a\nhostNetwork: true"}},
        {"valkey": {"storage": {"className": "a\nb: c"}}},
        {"valkey": {"storage": {"size": "1Gi\nb: c"}}},
    ],
)
def test_a_name_with_a_line_break_is_rejected(values: Object) -> None:
    with pytest.raises(HelmError, match="does not match pattern"):
        render({**MINIMAL, **values})
