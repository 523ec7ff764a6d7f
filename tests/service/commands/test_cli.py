"""The command line: settings from flags and variables, and one clear line for every error."""

import random
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import pytest

from service.access import new_token_key
from service.commands.parameters import Duration
from service.commands.serve import serve
from service.server.settings import default_data_dir
from sodafountain.v1.game_service_pb2_grpc import GameServiceStub
from tests.support import forging
from tests.support.command import error_line, error_line_in_process, run_command
from tests.support.game_clients import expect_error, new_game, play
from tests.support.ports import free_port
from tests.support.service import Service, channel_to, clean_environment, running
from tests.support.watching import Watch

SETTINGS = [setting for setting in serve.params if isinstance(setting, click.Option)]
ANY_PORT = {"SODAFOUNTAIN_LISTEN_PORT": "0"}
PASSWORD = "correct-horse-battery-staple"


@pytest.fixture(autouse=True)
def own_data_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not use the data directory of the user who runs the tests."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


# --- Help -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("flag", ["--help", "-h"])
def test_help_lists_the_commands(flag: str) -> None:
    result = run_command(flag)

    assert result.code == 0
    assert {"serve", "verify", "keygen"} <= set(result.out.split())


def test_without_a_command_help_is_shown() -> None:
    result = run_command()

    assert result.code == 2
    assert result.err.splitlines() == run_command("--help").out.splitlines()


def test_the_version_is_shown() -> None:
    assert re.fullmatch(r".*\d+\.\d+\.\d+\n", run_command("--version").out)


def test_the_installed_command_is_the_same() -> None:
    installed = Path(sys.executable).with_name("sodafountain")

    assert (
        subprocess.run([installed, "--version"], capture_output=True, text=True).stdout == run_command("--version").out
    )


@pytest.fixture(scope="module")
def entries() -> dict[str, str]:
    """The entry of each flag in `serve --help`, in one line."""
    sections = re.split(r"^  (?=-)", run_command("serve", "--help").out, flags=re.MULTILINE)[1:]
    return {entry.split()[0]: re.sub(r"\s+", " ", entry) for entry in sections}


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.opts[0])
def test_help_lists_every_setting_with_its_variable_and_default(setting: Any, entries: dict[str, str]) -> None:
    entry = entries[setting.opts[0]]

    assert re.sub(r"\s", "", setting.help) in re.sub(r"\s", "", entry)  # the help breaks lines at hyphens as well
    assert setting.envvar.startswith("SODAFOUNTAIN_")
    assert f"env var: {setting.envvar}" in entry
    if isinstance(setting.default, (str, int)) and not setting.is_flag:
        assert f"default: {setting.default}" in entry


# --- Settings ---------------------------------------------------------------------------------------------------------

_INVALID = {
    "host": ("host.invalid", "cannot listen on host.invalid"),
    "store_url": (f"http://:{PASSWORD}@h", "the store URL must begin with redis://"),
    "port_file": ("/nowhere/at/all/port", "cannot write the port to /nowhere/at/all/port"),
    "data_dir": (__file__, "is a file"),
    "token_keys_file": ("/nowhere/keys", "does not exist"),
    "api_keys_file": ("/nowhere/keys", "does not exist"),
    "tls_cert_file": ("/nowhere/cert", "does not exist"),
    "tls_key_file": ("/nowhere/key", "does not exist"),
    "tls_client_ca_file": ("/nowhere/ca", "does not exist"),
    "embedded_fsync": ("x", "is not one of"),
    "encryption_keys_file": ("/nowhere/keys", "does not exist"),
    "traces_endpoint": ("collector", "the traces endpoint must have the form http://collector:4317, not 'collector'"),
    "log_level": ("loud", "is not one of 'debug', 'info', 'warning', 'error'"),
    "log_format": ("xml", "is not one of 'auto', 'json', 'console'"),
    "allow_fixed_seed": ("perhaps", "is not a valid boolean"),
}


_SERVE_ERROR = re.compile(
    "cannot|the host name cannot be resolved|/dev/null|the store URL|is a file|token keys|endpoint"
)
"""Errors that `serve` finds after it has started."""


def _serve_error(expected: str, *arguments: str, env: dict[str, str]) -> str:
    """Return the error line of a command. Run it in this process if it fails before it starts to serve."""
    return (
        error_line(*arguments, env=env) if _SERVE_ERROR.search(expected) else error_line_in_process(*arguments, env=env)
    )


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.opts[0])
def test_every_setting_is_read_from_its_variable(setting: Any) -> None:
    value, expected = _INVALID.get(setting.name, ("x", "'x' is not a"))

    env = ANY_PORT | {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()} | {setting.envvar: value}
    assert expected in _serve_error(expected, "serve", env=env)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        pytest.param(["--port=65536"], "'--port'", id="port out of range"),
        pytest.param(["--port=-1"], "'--port'", id="negative port"),
        pytest.param(["--port=http"], "'http' is not a valid integer", id="port that is not a number"),
        pytest.param(["--workers=0"], "0 is not in the range 1<=x<=64", id="no workers"),
        pytest.param(["--threads=0"], "0 is not in the range", id="no threads"),
        pytest.param(["--max-calls=0"], "0 is not in the range", id="no calls"),
        pytest.param(["--durable-replicas=17"], "17 is not in the range", id="too many replicas"),
        pytest.param(["--cached-games=0"], "0 is not in the range", id="no cached games"),
        pytest.param(["--idle-ttl=5"], "'5' is not a duration such as 90s, 12h or 7d", id="duration without a unit"),
        pytest.param(["--idle-ttl=0s"], "'0s' is not a duration", id="zero duration"),
        pytest.param(["--finished-ttl=1.5h"], "'1.5h' is not a duration", id="fractional duration"),
        pytest.param(["--idle-ttl=9999d"], "is more than ten years", id="a duration above the maximum"),
        pytest.param(["--drain=-1s"], "'-1s' is not a duration", id="negative duration"),
        pytest.param(["--drain=1w"], "'1w' is not a duration", id="duration in weeks"),
        pytest.param(["--prot=1"], "No such option", id="unknown flag"),
        pytest.param(["now"], "unexpected extra argument", id="an argument"),
        pytest.param(["--port"], "requires an argument", id="a flag without its value"),
        pytest.param(["--token-keys-file=/nowhere/keys"], "'/nowhere/keys' does not exist", id="no keys file"),
        pytest.param(["--api-keys-file=/"], "is a directory", id="keys in a directory"),
        pytest.param(["--data-dir=/dev/null/data"], "/dev/null/data", id="no data directory"),
        pytest.param(["--port-file=/nowhere/port"], "cannot write the port to /nowhere/port", id="no port file"),
        pytest.param(["--host=host.invalid"], "cannot listen on host.invalid:0", id="unknown host"),
        pytest.param(["--host=host.invalid", "--workers=2"], "cannot be resolved", id="unknown host for two workers"),
        pytest.param(["--host=192.0.2.1"], "cannot listen on 192.0.2.1:0", id="an address of another host"),
        pytest.param(["--store-url=redis://localhost"], "requires token keys", id="a store but no keys"),
    ],
)
def test_an_invalid_setting_is_rejected_in_one_line(flags: list[str], expected: str) -> None:
    assert expected in _serve_error(expected, "serve", *flags, env=ANY_PORT)


def test_an_unknown_command_is_rejected_in_one_line() -> None:
    assert error_line("play") == "No such command 'play'."


@pytest.mark.parametrize(
    ("workers", "url"),
    [
        (1, f"redis://:{PASSWORD}@store/games"),
        (1, PASSWORD),
        (2, f"redis://:{PASSWORD}@store/games"),
    ],
)
def test_the_error_for_a_malformed_store_url_omits_its_password(workers: int, url: str) -> None:
    env = ANY_PORT | {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}

    line = error_line("serve", f"--store-url={url}", f"--workers={workers}", env=env)

    assert "store URL" in line
    assert PASSWORD not in line


def test_the_password_of_a_store_is_not_logged(tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key(), "SODAFOUNTAIN_STORE_URL": f"redis://:{PASSWORD}@127.0.0.1:1"}
    with running(tmp_path, "--log-level=debug", env=env) as service, channel_to(service.target) as channel:
        assert expect_error(lambda: new_game(GameServiceStub(channel))).reason == "STORE_UNAVAILABLE"

    assert "store_away" in service.log_file.read_text()
    assert PASSWORD not in service.log_file.read_text()


@pytest.mark.parametrize(
    ("kind", "content", "expected"),
    [
        ("token", f"{new_token_key()}\nkey:{PASSWORD}", "token key 2 must be `id:base64`"),
        ("api", f"app:{PASSWORD}\napp:{PASSWORD}", "API key 2 must be `name:key`"),
    ],
    ids=["token keys", "API keys"],
)
class TestMalformedKeys:
    """The error for malformed keys does not contain them."""

    def test_in_a_file_are_rejected(self, kind: str, content: str, expected: str, tmp_path: Path) -> None:
        keys = tmp_path / "keys"
        keys.write_text(content)

        line = error_line("serve", f"--{kind}-keys-file={keys}", env=ANY_PORT)

        assert expected in line
        assert PASSWORD[:9] not in line

    def test_in_the_environment_are_rejected(self, kind: str, content: str, expected: str) -> None:
        line = error_line("serve", env=ANY_PORT | {f"SODAFOUNTAIN_{kind.upper()}_KEYS": content})

        assert expected in line
        assert PASSWORD[:9] not in line


@pytest.mark.parametrize("kind", ["token", "api"])
def test_a_keys_file_that_is_not_text_is_rejected(kind: str, tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_bytes(b"\xff\xfe")

    assert (
        error_line("serve", f"--{kind}-keys-file={keys}", env=ANY_PORT)
        == f"{keys} does not contain keys: it is not a text file"
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_a_port_in_use_is_rejected(workers: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]

        line = error_line("serve", f"--port={port}", f"--workers={workers}")

    assert line == f"cannot listen on 127.0.0.1:{port}: the address is in use by another process"


NOWHERE = """
import sys, tempfile
from service.commands.main import main

tempfile.tempdir = "/nowhere"
for flag in sys.argv[1:]:
    sys.argv = ["sodafountain", "serve", "--port=0", "--store-url=redis://127.0.0.1:1", flag]
    try:
        main()
    except SystemExit as end:
        print(end.code)
"""


def test_without_a_temporary_directory_settings_that_need_one_are_rejected() -> None:
    result = subprocess.run(
        [sys.executable, "-c", NOWHERE, "--workers=2", "--rest-port=1"],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=clean_environment() | {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()},
    )

    expected = ["sodafountain: no temporary directory is writable; TMPDIR can select another"] * 2
    assert (result.stdout.split(), result.stderr.splitlines()) == (["2", "2"], expected)


def test_a_flag_overrides_its_variable(tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_DRAIN": "3s", "SODAFOUNTAIN_LOG_LEVEL": "error"}
    with running(tmp_path, "--drain=4s", "--log-level=info", env=env) as service:
        service.stop()

    assert [line["seconds"] for line in service.logs() if line["event"] == "draining"] == [4.0]


def test_the_ttls_and_the_limit_of_watchers_are_applied(tmp_path: Path) -> None:
    flags = ("--idle-ttl=1h", "--finished-ttl=2h", "--max-watchers=1")
    with running(tmp_path, *flags) as service, channel_to(service.target) as channel:
        started = time.time()
        game = new_game(GameServiceStub(channel), 2)
        watch = Watch(game.spectator)
        watch.next()

        assert expect_error(Watch(game.spectator).next).reason == "LIMIT"
        play(game, random.Random(1))
        ends = [state.expire_time.ToSeconds() for state in (game.created.state, game.spectator.state())]
        lived = time.time() - started + 1  # one second for rounding

    for end, hours in zip(ends, (1, 2), strict=True):
        assert -1 <= end - started - 3600 * hours <= lived


def test_a_keys_file_overrides_its_variable(tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text(forging.KEYS + "\n")
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    with running(tmp_path, f"--token-keys-file={keys}", env=env) as service, channel_to(service.target) as channel:
        created = new_game(GameServiceStub(channel)).created

    assert forging.header_of(created.host_token)["kid"] == forging.KEY_ID


def test_api_keys_can_be_read_from_a_file(tmp_path: Path) -> None:
    keys = tmp_path / "api-keys"
    keys.write_text(f"app:{PASSWORD}\n")
    with running(tmp_path, f"--api-keys-file={keys}") as service, channel_to(service.target) as channel:
        stub = GameServiceStub(channel)

        assert expect_error(lambda: new_game(stub)).reason == "API_KEY_INVALID"
        assert new_game(stub, metadata=(("x-api-key", PASSWORD),)).created.state.version == 1


@pytest.mark.parametrize(
    ("text", "milliseconds"),
    [("1ms", 1), ("90s", 90_000), ("5m", 300_000), ("12h", 43_200_000), ("7d", 604_800_000)],
)
def test_durations_are_parsed(text: str, milliseconds: int) -> None:
    assert Duration().convert(text, None, None) == milliseconds


def test_unknown_variables_are_logged(tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_PROT": "1", "SODAFOUNTAIN_PORT": "tcp://10.0.0.1:50051", "SODAFOUNTAIN_THREADS": "2"}

    with running(tmp_path, f"--data-dir={tmp_path / 'data'}", env=env) as service:
        warned = [line["variable"] for line in service.logs() if line["event"] == "setting_unknown"]

    assert warned == ["SODAFOUNTAIN_PORT", "SODAFOUNTAIN_PROT"]


# --- A service with default settings ----------------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A data directory that does not exist yet."""
    return tmp_path / "games"


@pytest.fixture
def embedded(tmp_path: Path, data: Path) -> Iterator[Service]:
    """A service that stores its games in that directory."""
    with running(tmp_path / "first", f"--data-dir={data}") as service:
        yield service


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_games_and_tokens_survive_the_service(embedded: Service, tmp_path: Path, data: Path, end: str) -> None:
    with channel_to(embedded.target) as channel:
        game = new_game(GameServiceStub(channel))
        seat = game.seats[game.created.state.awaiting_seats[0]]
        state = seat.apply(seat.legal().moves[0].move).state
    getattr(embedded, end)()

    with running(tmp_path / "second", f"--data-dir={data}") as service, channel_to(service.target) as channel:
        assert seat.at(GameServiceStub(channel)).state() == state


def test_only_their_owner_can_read_token_keys_and_games(embedded: Service, data: Path) -> None:
    modes = {path.relative_to(data).as_posix(): path.stat().st_mode & 0o777 for path in (data, *data.iterdir())}

    assert modes == {".": 0o700, "token-keys": 0o600, "valkey": 0o700}


def test_a_data_directory_is_used_by_one_service_at_a_time(embedded: Service, data: Path) -> None:
    line = error_line("serve", f"--data-dir={data}", env=ANY_PORT)

    assert line == f"another service is using the data directory {data}: stop it, or choose another one with --data-dir"


def test_games_are_stored_in_the_users_data_directory_by_default(tmp_path: Path) -> None:
    with running(tmp_path):
        assert (tmp_path / "data" / "sodafountain" / "token-keys").is_file()


def test_without_a_data_home_games_are_stored_in_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/user")
    for data_home in ("", "relative/path"):
        monkeypatch.setenv("XDG_DATA_HOME", data_home)

        assert default_data_dir() == Path("/home/user/.local/share/sodafountain")


def test_the_port_file_contains_the_port_and_no_other_file_is_left(tmp_path: Path) -> None:
    folder = tmp_path / "service"
    with running(folder) as service:
        pass

    assert (folder / "port").read_text() == service.target.partition(":")[2] + "\n"
    assert {path.name for path in folder.iterdir()} == {"port", "log"}


def test_two_purposes_of_one_port_are_rejected(tmp_path: Path) -> None:
    port = free_port()
    flags = (f"--data-dir={tmp_path}", f"--port={port}", f"--metrics-port={port}")

    assert error_line("serve", *flags) == f"--port and --metrics-port must differ, but both are {port}"
