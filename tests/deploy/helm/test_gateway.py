"""Envoy takes what the pod of the gateway writes for it, and how it is started."""

import subprocess
from pathlib import Path

import pytest
import yaml

from service.gateway import CONFIG_NAME
from tests.deploy.helm.charts import MINIMAL, Object, Rendered, render, rendered
from tests.deploy.helm.containers import envoy_command, write_envoy_config


def written(chart: Rendered, folder: Path) -> Object:
    """The configuration that the pod writes."""
    write_envoy_config(chart, folder)
    config: Object = yaml.safe_load((folder / CONFIG_NAME).read_text())
    return config


@pytest.mark.parametrize("example", ["standalone", "production"])
def test_envoy_takes_what_is_written_and_how_it_is_started(example: str, tmp_path: Path) -> None:
    chart = rendered(example)
    write_envoy_config(chart, tmp_path)

    command = [*envoy_command(chart, tmp_path), "--mode", "validate"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert done.returncode == 0, done.stderr


def test_it_listens_where_the_pod_says_and_asks_names_again_and_again(tmp_path: Path) -> None:
    chart = rendered("production")
    config = written(chart, tmp_path)["static_resources"]
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


def test_a_pod_that_leaves_the_names_before_it_drains_is_asked_no_more(tmp_path: Path) -> None:
    (cluster,) = written(rendered("production"), tmp_path)["static_resources"]["clusters"]

    assert cluster["ignore_health_on_host_removal"] is True


def test_origins_and_rate_are_those_of_the_values(tmp_path: Path) -> None:
    gateway = {"origins": ["https://games.example", "https://app.example"], "rate": 1_000_000}

    text = str(written(render({**MINIMAL, "gateway": gateway}), tmp_path))

    assert "'tokens_per_fill': 1000000" in text
    assert "[{'exact': 'https://games.example'}, {'exact': 'https://app.example'}]" in text


def test_where_pods_have_ipv6_alone_everything_listens_there(tmp_path: Path) -> None:
    chart = render({**MINIMAL, "listenHost": "::"})

    assert "'address': '::', 'port_value': 8080" in str(written(chart, tmp_path))
    (box,) = chart.pod("service").containers
    assert {"name": "SODAFOUNTAIN_LISTEN_HOST", "value": "::"} in box["env"]


def test_envoys_own_pages_stay_in_the_pod(tmp_path: Path) -> None:
    config = written(rendered("standalone"), tmp_path)

    assert config["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"
