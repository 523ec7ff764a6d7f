"""`sodafountain keygen`: keys that the service takes, in files that their owner alone may read."""

import stat
from pathlib import Path

from service.access import parse_api_keys, parse_token_keys
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.command import here, refused
from tests.support.players import new_game
from tests.support.service import channel_to, running


def test_a_drawn_key_is_one_that_serve_takes(tmp_path: Path) -> None:
    drawn = here("keygen").out
    (key_id,) = parse_token_keys(drawn)

    env = {"SODAFOUNTAIN_TOKEN_KEYS": drawn}
    with (
        running(tmp_path, f"--data-dir={tmp_path / 'data'}", env=env) as service,
        channel_to(service.target) as channel,
    ):
        made = new_game(GameServiceStub(channel)).made

    assert forging.header_of(made.host_token)["kid"] == key_id


def test_no_key_is_drawn_twice() -> None:
    assert here("keygen").out != here("keygen").out


def test_a_drawn_api_key_is_one_that_serve_takes() -> None:
    assert list(parse_api_keys(here("keygen", "--api", "shop").out)) == ["shop"]
    assert "API key 1 must be" in refused("keygen", "--api", "no name")


def test_keys_are_appended_to_a_file_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "keys"

    for _ in range(2):
        assert here("keygen", f"--output={path}").out == ""

    assert len(parse_token_keys(path.read_text())) == 2
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert refused("keygen", f"--output={tmp_path}/none/keys").startswith("cannot write ")


def test_a_secret_that_all_may_read_is_warned_of(tmp_path: Path) -> None:
    path = tmp_path / "keys"
    path.write_text(here("keygen").out)
    path.chmod(0o644)

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}", f"--token-keys-file={path}") as service:
        assert [line["path"] for line in service.logs() if line["event"] == "secret_readable_by_all"] == [str(path)]
