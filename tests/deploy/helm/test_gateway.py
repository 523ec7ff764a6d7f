"""Envoy accepts the configuration and the flags of the gateway's pod."""

import subprocess
from pathlib import Path

import pytest
import yaml

from service.gateway import CONFIG_NAME
from tests.deploy.helm.charts import MINIMAL, Object, Rendered, render, render_example
from tests.deploy.helm.containers import envoy_command, write_envoy_config


def read_config(chart: Rendered, folder: Path) -> Object:
    """Return the configuration that the pod writes."""
    write_envoy_config(chart, folder)
    config: Object = yaml.safe_load((folder / CONFIG_NAME).read_text())
    return config


@pytest.mark.parametrize("example", ["standalone", "production"])
def test_envoy_accepts_the_configuration_and_the_flags(example: str, tmp_path: Path) -> None:
    chart = render_example(example)
    write_envoy_config(chart, tmp_path)

    command = [*envoy_command(chart, tmp_path), "--mode", "validate"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    assert result.returncode == 0, result.stderr


def test_envoy_listens_on_the_port_of_the_pod_and_resolves_services_by_dns(tmp_path: Path) -> None:
    chart = render_example("production")
    config = read_config(chart, tmp_path)["static_resources"]
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


def test_a_pod_that_is_removed_from_dns_gets_no_new_calls(tmp_path: Path) -> None:
    (cluster,) = read_config(render_example("production"), tmp_path)["static_resources"]["clusters"]

    assert cluster["ignore_health_on_host_removal"] is True


def test_origins_and_rate_come_from_the_values(tmp_path: Path) -> None:
    gateway = {"origins": ["https://games.example", "https://app.example"], "rate": 1_000_000}

    text = str(read_config(render({**MINIMAL, "gateway": gateway}), tmp_path))

    assert "'tokens_per_fill': 1000000" in text
    assert "[{'exact': 'https://games.example'}, {'exact': 'https://app.example'}]" in text


def test_service_and_gateway_listen_on_ipv6_if_configured(tmp_path: Path) -> None:
    chart = render({**MINIMAL, "listenHost": "::"})

    assert "'address': '::', 'port_value': 8080" in str(read_config(chart, tmp_path))
    (container,) = chart.pod("service").containers
    assert {"name": "SODAFOUNTAIN_LISTEN_HOST", "value": "::"} in container["env"]


def test_the_admin_interface_of_envoy_listens_on_loopback(tmp_path: Path) -> None:
    config = read_config(render_example("standalone"), tmp_path)

    assert config["admin"]["address"]["socket_address"]["address"] == "127.0.0.1"
