"""The chart sets only settings of `sodafountain serve`, and values can set all of them."""

import os
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import pytest
import yaml
from helm_python.errors import HelmError

from service.commands.serve import serve
from service.observability.tracing import check
from service.server.settings import PREFIX
from tests.deploy.helm.charts import CHART, MINIMAL, Object, Rendered, render, render_example, values_of, with_value
from tests.support.service import clean_environment

VARIABLES = {parameter.envvar: parameter for parameter in serve.params if isinstance(parameter.envvar, str)}

OWN = {
    *("host", "port", "health-port", "metrics-port", "store-url", "drain", "trusted-proxies"),
    *("token-keys-file", "api-keys-file", "encryption-keys-file", "tls-cert-file", "tls-key-file"),
}
"""Settings with their own values."""

UNSUPPORTED = {
    *("workers", "data-dir", "embedded-fsync", "port-file", "tls-client-ca-file"),
    *("rest-port", "rest-origins", "rest-rate", "rest-rate-per-caller", "rest-trusted-hops"),
}
"""Settings that the chart does not use: a pod is one process, with a separate store and Envoy."""

KEYS = "k1:" + "A" * 43 + "="

TRACED = with_value(MINIMAL, "networkPolicy.traceCollectors", [{"ipBlock": {"cidr": "10.9.9.9/32"}}])
"""Values with which a trace endpoint can be set."""


def variables(chart: Rendered) -> dict[str, Object]:
    """Return the environment of the service's container."""
    (container,) = chart.pod("service").containers
    names = [variable["name"] for variable in container["env"]]
    assert len(names) == len(set(names))
    return {variable["name"]: variable for variable in container["env"]}


def read_settings(chart: Rendered, folder: Path) -> dict[str, Any]:
    """Return the settings that `serve` reads from its environment, with test values for secrets."""
    files = {"TOKEN_KEYS_FILE": KEYS, "API_KEYS_FILE": "app:0123456789abcdef", "ENCRYPTION_KEYS_FILE": KEYS}
    environment = {}
    for name, variable in variables(chart).items():
        environment[name] = variable.get("value", "redis://store:6379/0")
        if (short := name.removeprefix(PREFIX)) in files:
            path = folder / short
            path.write_text(files[short])
            environment[name] = str(path)
    with patch.dict(os.environ, clean_environment() | environment, clear=True):
        return serve.make_context("serve", []).params


def test_every_variable_is_a_setting_of_serve(chart: Rendered) -> None:
    own = {name for name in variables(chart) if name != "VALKEY_PASSWORD"}

    assert {f"{PREFIX}STORE_URL", f"{PREFIX}TOKEN_KEYS_FILE", f"{PREFIX}LISTEN_HOST"} <= own <= VARIABLES.keys()


def test_serve_accepts_the_settings(chart: Rendered, tmp_path: Path) -> None:
    parsed = read_settings(chart, tmp_path)
    ports = chart.pod("service").ports

    assert (parsed["host"], parsed["port"]) == ("0.0.0.0", ports["grpc"])
    assert parsed["metrics_port"] == ports["metrics"]
    assert parsed["workers"] == 1
    assert parsed["store_url"].startswith("redis://")


def test_large_numbers_and_durations_are_passed_exactly(tmp_path: Path) -> None:
    settings = {"cached-games": 1_000_000, "idle-ttl": "3d", "finished-ttl": "1d"}
    parsed = read_settings(render({**MINIMAL, "settings": settings, "shutdown": {"drainSeconds": 30}}), tmp_path)

    assert parsed["cached_games"] == 1_000_000
    assert (parsed["idle_ttl"], parsed["finished_ttl"]) == (3 * 86_400_000, 86_400_000)
    assert parsed["drain"] == 30_000


def test_metrics_can_be_disabled(tmp_path: Path) -> None:
    chart = render({**MINIMAL, "metrics": {"enabled": False}})

    assert f"{PREFIX}METRICS_PORT" in variables(chart)
    assert read_settings(chart, tmp_path)["metrics_port"] is None
    assert "metrics" not in chart.pod("service").ports


def test_the_schema_allows_exactly_the_settings_of_serve() -> None:
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    flags = {flag.removeprefix("--") for parameter in serve.params for flag in parameter.opts} - {"help"}

    assert set(schema["properties"]["settings"]["properties"]) == flags - OWN - UNSUPPORTED, (
        "settings in values.schema.json must be those of `sodafountain serve`"
    )


def extreme(parameter: click.Parameter, *, largest: bool) -> Any:
    """Return the smallest or the largest value of a setting."""
    kind = parameter.type
    if parameter.name == "traces_endpoint":
        return "https://[fd00::1]:65535/" if largest else "http://c"
    if isinstance(kind, click.IntRange):
        return kind.max if largest else kind.min
    if isinstance(kind, click.Choice):
        return kind.choices[-1 if largest else 0]
    if isinstance(kind, click.types.BoolParamType):
        return largest
    return "3650d" if largest else "1ms"


@pytest.mark.parametrize("largest", [False, True], ids=["smallest", "largest"])
def test_the_schema_allows_the_full_range_of_each_setting(tmp_path: Path, *, largest: bool) -> None:
    settable = {
        flag.removeprefix("--"): parameter
        for parameter in VARIABLES.values()
        for flag in parameter.opts
        if flag.removeprefix("--") not in OWN | UNSUPPORTED
    }
    values = {flag: extreme(parameter, largest=largest) for flag, parameter in settable.items()}

    parsed = read_settings(render({**TRACED, "settings": values}), tmp_path)

    for flag, parameter in settable.items():
        expected = parameter.type.convert(values[flag], parameter, None)
        assert parsed[str(parameter.name)] == expected, flag


@pytest.mark.parametrize(
    "endpoint",
    [
        "collector:4317",
        "grpc://collector:4317",
        "http://",
        "http://key@collector:4317",
        "http://collector:4317/v1/traces",
        "http://collector:4317?key=1",
        "http://collector:4317#1",
    ],
)
def test_the_chart_rejects_an_invalid_trace_endpoint(endpoint: str) -> None:
    with pytest.raises(ValueError, match="the traces endpoint must have the form"):
        check(endpoint)
    with pytest.raises(HelmError, match="does not match pattern"):
        render({**MINIMAL, "settings": {"traces-endpoint": endpoint}})


@pytest.mark.parametrize(
    "endpoint", ["HTTP://collector.traces", "https://10.0.0.1:1", "http://[FD00::1%1]:65535/", "http://collector:04317"]
)
def test_the_chart_accepts_the_trace_endpoints_of_the_service(endpoint: str, tmp_path: Path) -> None:
    check(endpoint)

    assert (
        read_settings(render({**TRACED, "settings": {"traces-endpoint": endpoint}}), tmp_path)["traces_endpoint"]
        == endpoint
    )


def test_an_empty_trace_endpoint_is_accepted(tmp_path: Path) -> None:
    assert read_settings(render({**MINIMAL, "settings": {"traces-endpoint": ""}}), tmp_path)["traces_endpoint"] == ""


def test_extra_variables_are_set() -> None:
    extra = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}

    assert variables(render({**MINIMAL, "extraEnv": [extra]}))["NODE"] == extra


def test_extra_volumes_are_mounted() -> None:
    volume = {"name": "collector-tls", "secret": {"secretName": "collector-tls"}}
    mount = {"name": "collector-tls", "mountPath": "/etc/collector-tls", "readOnly": True}
    pod = render({**MINIMAL, "extraVolumes": [volume], "extraVolumeMounts": [mount]}).pod("service")

    assert volume in pod.spec["volumes"]
    assert mount in pod.containers[0]["volumeMounts"]


def test_a_production_pod_requests_enough_memory() -> None:
    """A process uses about 100 MiB, and 3 KiB for each cached game and each watcher."""
    chart = render_example("production")
    settings: Object = {flag: parameter.default for parameter in serve.params for flag in parameter.opts}
    settings |= {f"--{flag}": value for flag, value in values_of("production")["settings"].items()}
    (container,) = chart.pod("service").containers
    requested = container["resources"]["requests"]["memory"]
    assert requested.endswith("Mi")

    assert 100 + 3 * (settings["--cached-games"] + settings["--max-watchers"]) / 1024 <= int(
        requested.removesuffix("Mi")
    )
