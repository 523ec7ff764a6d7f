"""Envoy takes what the pod of the gateway writes for it, and how it is started."""

import subprocess
from pathlib import Path

import pytest
import yaml

from service.gateway.process import envoy_binary
from tests.deploy.helm.charts import MINIMAL, Rendered, render, rendered
from tests.support.command import here


def written(chart: Rendered, folder: Path) -> Path:
    """Runs what the pod's beginning runs, into another folder; returns that."""
    init, _ = chart.pod("gateway").containers
    verb, place, *flags = init["args"]
    (mount,) = (mount for mount in init["volumeMounts"] if mount["name"] == "configuration")
    assert (verb, place) == ("gateway", mount["mountPath"])
    assert "command" not in init, "the image's own entry point"
    done = here(verb, str(folder), *flags)
    assert done.code == 0, done
    return folder


@pytest.mark.parametrize("example", ["standalone", "production"])
def test_envoy_takes_what_is_written_and_how_it_is_started(example: str, tmp_path: Path) -> None:
    chart = rendered(example)
    folder = written(chart, tmp_path)
    _, box = chart.pod("gateway").containers
    (place,) = (mount["mountPath"] for mount in box["volumeMounts"] if mount["name"] == "configuration")
    assert any(arg.startswith(f"{place}/") for arg in box["args"])

    args = [arg.replace(f"{place}/", f"{folder}/") for arg in box["args"]]
    command = [str(envoy_binary()), *args, "--mode", "validate"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr
    assert Path(box["command"][0]).name == envoy_binary().name


def test_it_listens_where_the_pod_says_and_asks_names_again_and_again(tmp_path: Path) -> None:
    chart = rendered("production")
    config = yaml.safe_load((written(chart, tmp_path) / "envoy.yaml").read_text())["static_resources"]
    (listener,) = config["listeners"]
    (cluster,) = config["clusters"]
    (group,) = cluster["load_assignment"]["endpoints"]
    (endpoint,) = group["lb_endpoints"]

    assert listener["address"]["socket_address"] == {
        "address": "0.0.0.0",
        "port_value": chart.pod("gateway").ports["http"],
    }
    assert (cluster["type"], cluster["lb_policy"]) == ("STRICT_DNS", "RING_HASH")
    assert endpoint["endpoint"]["address"]["socket_address"] == {
        "address": "soda-sodafountain-headless",
        "port_value": chart.pod("service").ports["grpc"],
    }


def test_origins_and_rate_are_those_of_the_values(tmp_path: Path) -> None:
    text = (written(rendered("production"), tmp_path) / "envoy.yaml").read_text()

    assert "tokens_per_fill: 20000" in text
    assert '[{"exact": "https://games.example"}, {"exact": "https://app.example"}]' in text


def test_where_pods_have_ipv6_alone_everything_listens_there(tmp_path: Path) -> None:
    chart = render({**MINIMAL, "listenHost": "::"})

    assert '"address": "::", "port_value": 8080' in (written(chart, tmp_path) / "envoy.yaml").read_text()
    (box,) = chart.pod("service").containers
    assert {"name": "SODAFOUNTAIN_LISTEN_HOST", "value": "::"} in box["env"]


def test_envoys_own_pages_stay_in_the_pod(tmp_path: Path) -> None:
    config = yaml.safe_load((written(rendered("standalone"), tmp_path) / "envoy.yaml").read_text())

    assert config["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"
