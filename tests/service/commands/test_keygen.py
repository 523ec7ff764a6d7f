"""`sodafountain keygen`: valid keys, in files that only their owner can read."""

import stat
from pathlib import Path

import pytest

from service.access import parse_api_keys, parse_token_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.command import error_line, run_in_process
from tests.support.game_clients import new_game
from tests.support.service import channel_to, running


def test_serve_accepts_a_generated_key(tmp_path: Path) -> None:
    generated = run_in_process("keygen").out
    (key_id,) = parse_token_keys(generated)

    env = {"SODAFOUNTAIN_TOKEN_KEYS": generated}
    with (
        running(tmp_path, f"--data-dir={tmp_path / 'data'}", env=env) as service,
        channel_to(service.target) as channel,
    ):
        created = new_game(GameServiceStub(channel)).created

    assert forging.header_of(created.host_token)["kid"] == key_id


def test_every_generated_key_is_different() -> None:
    assert run_in_process("keygen").out != run_in_process("keygen").out


def test_serve_accepts_a_generated_api_key() -> None:
    assert list(parse_api_keys(run_in_process("keygen", "--api", "shop").out)) == ["shop"]
    assert "the name must have 1 to 32 letters" in error_line("keygen", "--api", "no name")


def test_keys_are_appended_to_a_file_of_mode_600(tmp_path: Path) -> None:
    path = tmp_path / "keys"

    for _ in range(2):
        assert run_in_process("keygen", f"--output={path}").out == ""

    assert len(parse_token_keys(path.read_text())) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert error_line("keygen", f"--output={tmp_path}/none/keys").startswith("cannot write ")


def test_a_secret_readable_by_all_is_logged(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(run_in_process("keygen").out)
    path.chmod(0o644)

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}", f"--token-keys-file={path}") as service:
        assert [line["path"] for line in service.logs() if line["event"] == "secret_readable_by_all"] == [str(path)]


@pytest.mark.parametrize("flag", ["--token-keys-file", "--api-keys-file", "--encryption-keys-file"])
def test_an_empty_file_of_keys_is_refused(tmp_path: Path, flag: str) -> None:
    keys = tmp_path / "keys"
    keys.write_text("\n")
    assert error_line("serve", f"{flag}={keys}", f"--data-dir={tmp_path}") == f"{keys} contains no keys: it is empty"


def test_an_empty_variable_does_not_turn_encryption_off(tmp_path: Path) -> None:
    error = error_line("serve", f"--data-dir={tmp_path}", env={"SODAFOUNTAIN_ENCRYPTION_KEYS": " "})
    assert error == "SODAFOUNTAIN_ENCRYPTION_KEYS is empty; without it, games are stored in the clear"
