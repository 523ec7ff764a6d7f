"""Every variable that the chart sets is a setting of `sodafountain serve`, and every setting can be set."""

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
from tests.deploy.helm.charts import CHART, MINIMAL, Object, Rendered, render, rendered, values_of
from tests.support.service import clean_environment

VARIABLES = {parameter.envvar: parameter for parameter in serve.params if isinstance(parameter.envvar, str)}

OWN = {"host", "port", "metrics-port", "store-url", "token-keys-file", "api-keys-file", "drain"}
"""Settings that have a place of their own among the values."""

NOT_HERE = {"workers", "data-dir", "port-file", "rest-port", "rest-origins", "rest-rate"}
"""Settings of what is not done in a cluster: a pod is one process, its store is elsewhere, and so is Envoy."""

KEYS = "k1:" + "A" * 43 + "="


def variables(chart: Rendered) -> dict[str, Object]:
    """The environment of the service's container."""
    (box,) = chart.pod("service").containers
    names = [variable["name"] for variable in box["env"]]
    assert len(names) == len(set(names))
    return {variable["name"]: variable for variable in box["env"]}


def read(chart: Rendered, folder: Path) -> dict[str, Any]:
    """What `serve` makes of the environment of its container; secrets are made up."""
    files = {"TOKEN_KEYS_FILE": KEYS, "API_KEYS_FILE": "app:0123456789abcdef"}
    environment = {}
    for name, variable in variables(chart).items():
        environment[name] = variable.get("value", "redis://store:6379/0")
        if (short := name.removeprefix(PREFIX)) in files:
            path = folder / short
            path.write_text(files[short])
            environment[name] = str(path)
    with patch.dict(os.environ, clean_environment() | environment, clear=True):
        return serve.make_context("serve", []).params


def test_every_variable_is_a_setting(chart: Rendered) -> None:
    own = {name for name in variables(chart) if name != "VALKEY_PASSWORD"}

    assert {f"{PREFIX}STORE_URL", f"{PREFIX}TOKEN_KEYS_FILE", f"{PREFIX}LISTEN_HOST"} <= own <= VARIABLES.keys()


def test_the_service_takes_the_settings(chart: Rendered, tmp_path: Path) -> None:
    taken = read(chart, tmp_path)
    ports = chart.pod("service").ports

    assert (taken["host"], taken["port"]) == ("0.0.0.0", ports["grpc"])
    assert taken["metrics_port"] == ports["metrics"]
    assert taken["workers"] == 1
    assert taken["store_url"].startswith("redis://")


def test_large_numbers_and_durations_arrive_as_they_were_meant(tmp_path: Path) -> None:
    settings = {"cached-games": 1_000_000, "idle-ttl": "3d", "finished-ttl": "1d"}
    taken = read(render({**MINIMAL, "settings": settings, "shutdown": {"drainSeconds": 30}}), tmp_path)

    assert taken["cached_games"] == 1_000_000
    assert (taken["idle_ttl"], taken["finished_ttl"]) == (3 * 86_400_000, 86_400_000)
    assert taken["drain"] == 30_000


def test_metrics_can_be_switched_off_though_the_image_has_them_on(tmp_path: Path) -> None:
    chart = render({**MINIMAL, "metrics": {"enabled": False}})

    assert f"{PREFIX}METRICS_PORT" in variables(chart)
    assert read(chart, tmp_path)["metrics_port"] is None
    assert "metrics" not in chart.pod("service").ports


def test_every_setting_can_be_set_and_no_other() -> None:
    schema = yaml.safe_load((CHART / "values.schema.json").read_text())
    flags = {flag.removeprefix("--") for parameter in serve.params for flag in parameter.opts} - {"help"}

    assert set(schema["properties"]["settings"]["properties"]) == flags - OWN - NOT_HERE, (
        "settings in values.schema.json must be those of `sodafountain serve`"
    )


def extremes(parameter: click.Parameter, *, most: bool) -> Any:
    """The least or the most that a setting may be."""
    kind = parameter.type
    if parameter.name == "traces_endpoint":
        return "https://[fd00::1]:65535/" if most else "http://c"
    if isinstance(kind, click.IntRange):
        return kind.max if most else kind.min
    if isinstance(kind, click.Choice):
        return kind.choices[-1 if most else 0]
    if isinstance(kind, click.types.BoolParamType):
        return most
    return "3650d" if most else "1ms"


@pytest.mark.parametrize("most", [False, True], ids=["least", "most"])
def test_each_may_be_as_small_and_as_large_as_the_service_takes_it(tmp_path: Path, *, most: bool) -> None:
    settable = {
        flag.removeprefix("--"): parameter
        for parameter in VARIABLES.values()
        for flag in parameter.opts
        if flag.removeprefix("--") not in OWN | NOT_HERE
    }
    wanted = {flag: extremes(parameter, most=most) for flag, parameter in settable.items()}

    taken = read(render({**MINIMAL, "settings": wanted}), tmp_path)

    for flag, parameter in settable.items():
        read_alone = parameter.type.convert(wanted[flag], parameter, None)
        assert taken[str(parameter.name)] == read_alone, flag


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
def test_what_is_plainly_no_collector_the_chart_refuses_as_the_service_does(endpoint: str) -> None:
    with pytest.raises(ValueError, match="the traces endpoint must be like"):
        check(endpoint)
    with pytest.raises(HelmError, match="does not match pattern"):
        render({**MINIMAL, "settings": {"traces-endpoint": endpoint}})


@pytest.mark.parametrize(
    "endpoint", ["HTTP://collector.traces", "https://10.0.0.1:1", "http://[FD00::1%1]:65535/", "http://collector:04317"]
)
def test_what_the_service_takes_for_a_collector_the_chart_takes_for_one(endpoint: str, tmp_path: Path) -> None:
    check(endpoint)

    assert read(render({**MINIMAL, "settings": {"traces-endpoint": endpoint}}), tmp_path)["traces_endpoint"] == endpoint


def test_no_collector_may_be_named_by_an_empty_endpoint(tmp_path: Path) -> None:
    assert read(render({**MINIMAL, "settings": {"traces-endpoint": ""}}), tmp_path)["traces_endpoint"] == ""


def test_further_variables_are_passed_on() -> None:
    further = {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}}

    assert variables(render({**MINIMAL, "extraEnv": [further]}))["NODE"] == further


def test_further_volumes_are_laid_where_the_values_say() -> None:
    volume = {"name": "collector-tls", "secret": {"secretName": "collector-tls"}}
    mount = {"name": "collector-tls", "mountPath": "/etc/collector-tls", "readOnly": True}
    pod = render({**MINIMAL, "extraVolumes": [volume], "extraVolumeMounts": [mount]}).pod("service")

    assert volume in pod.spec["volumes"]
    assert mount in pod.containers[0]["volumeMounts"]


def test_a_production_pod_asks_for_the_memory_that_it_fills() -> None:
    """About 100 MiB, and 3 KiB for each game that it remembers and for each watcher."""
    chart = rendered("production")
    taken: Object = {flag: parameter.default for parameter in serve.params for flag in parameter.opts}
    taken |= {f"--{flag}": value for flag, value in values_of("production")["settings"].items()}
    (box,) = chart.pod("service").containers
    asked = box["resources"]["requests"]["memory"]
    assert asked.endswith("Mi")

    assert 100 + 3 * (taken["--cached-games"] + taken["--max-watchers"]) / 1024 <= int(asked.removesuffix("Mi"))
