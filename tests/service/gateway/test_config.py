"""Envoy accepts the generated configuration, for all kinds of service addresses."""

import json
import subprocess
from pathlib import Path

import pytest

from service.gateway import CONFIG_NAME, DESCRIPTORS_NAME, Gateway, strict, write_config
from service.gateway.process import envoy_binary
from sodafountain.v1 import game_service_pb2 as pb
from tests.support.command import error_line_in_process, run_in_process

ADDRESSES = {
    "IP": ["127.0.0.1:50051", "127.0.0.2:50051"],
    "IPv6": ["[::1]:50051"],
    "names": ["soda.default.svc.cluster.local:50051"],
    "sockets": ["/tmp/sf/0", "/tmp/sf/1"],
    "name and IP": ["localhost:50051", "127.0.0.1:50052"],
}


def validate(config: Path) -> None:
    """Validate a configuration with Envoy."""
    command = [str(envoy_binary()), "--mode", "validate", "-c", str(config), "--log-level", "warning"]
    result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert result.returncode == 0, result.stderr
    assert "deprecated" not in result.stderr.lower(), result.stderr


@pytest.mark.parametrize("services", ADDRESSES.values(), ids=ADDRESSES)
def test_envoy_accepts_the_configuration(tmp_path: Path, services: list[str]) -> None:
    gateway = Gateway(host="0.0.0.0", port=8080, admin=str(tmp_path / "admin"), services=services)

    validate(write_config(gateway, tmp_path))


def test_the_command_writes_a_configuration_that_envoy_accepts(tmp_path: Path) -> None:
    folder = tmp_path / "gateway"

    result = run_in_process(
        *("gateway", str(folder), "--service", "soda:50051", "--host", "::", "--port", "8081"),
        *("--admin", "127.0.0.1:9902", "--origin", "https://app.example", "--origin", "http://localhost:3000"),
    )

    assert (result.code, result.out) == (0, f"{folder / CONFIG_NAME}\n"), result
    assert {path.name for path in folder.iterdir()} == {CONFIG_NAME, DESCRIPTORS_NAME}
    validate(folder / CONFIG_NAME)


def test_help_lists_the_settings() -> None:
    command, serve = run_in_process("gateway", "--help").out, run_in_process("serve", "--help").out

    assert all(flag in command for flag in ("--service", "--host", "--port", "--admin", "--origin", "--rate"))
    assert all(flag in serve for flag in ("--rest-port", "--rest-origins", "--rest-rate"))


@pytest.mark.parametrize("address", ["soda", "soda:", ":50051", "soda:0", "soda:65536", "soda:http", "relative/path"])
def test_an_invalid_address_is_rejected_in_one_line(tmp_path: Path, address: str) -> None:
    assert "is not an address such as" in error_line_in_process("gateway", str(tmp_path), "--service", address)


@pytest.mark.parametrize(
    "origin",
    [
        *("app.example", "https://", "https://app.example/page", "ftp://app.example"),
        *("https://*", "https://*.", "https://app.*.example", "https://*app.example", "https://app.example:port"),
    ],
)
def test_an_invalid_origin_is_rejected_in_one_line(tmp_path: Path, origin: str) -> None:
    assert "is not an origin such as" in error_line_in_process(
        "gateway", str(tmp_path), "--service", "soda:1", "--origin", origin
    )


def test_every_body_of_the_contract_is_checked() -> None:
    tables = strict.tables()
    bodies = {"sodafountain.v1.NewGameRequest", "sodafountain.v1.ApplyMoveRequest"}

    assert {
        line.split('"')[3] for line in tables.split("local BODIES = {")[1].split("}")[0].splitlines() if '"' in line
    } == bodies
    for body in bodies:
        for field in pb.DESCRIPTOR.message_types_by_name[body.rpartition(".")[2]].fields:
            assert (f'["{field.json_name}"]' in tables) == (field.name != "game_id"), (
                "the body must not repeat the path"
            )
            assert not (field.message_type and field.message_type.GetOptions().map_entry), "strict.lua knows no maps"
            assert not field.message_type or field.message_type.file.package == "sodafountain.v1"


def test_every_placeholder_of_the_template_is_replaced(tmp_path: Path) -> None:
    gateway = Gateway(host="127.0.0.1", port=8080, admin="127.0.0.1:9901", services=["127.0.0.1:1"], rate=7)

    written = write_config(gateway, tmp_path).read_text()

    assert "${" not in written
    assert '"tokens_per_fill"' not in written
    assert "max_tokens: 14, tokens_per_fill: 7" in written
    assert json.dumps(str(tmp_path / DESCRIPTORS_NAME)) in written
