"""The service runs with minimal privileges."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import sodafountain
from service.access import new_token_key
from tests.deploy.image.containers import LOCKED_DOWN, Container, ServiceContainer, run, run_service
from tests.support.processes import command_of, tcp_ports
from tests.support.store_servers import Server, eventually

pytestmark = pytest.mark.image

LIST_WRITABLE = """
import os, tempfile
for folder, folders, _ in os.walk("/"):
    folders[:] = [name for name in folders if os.path.join(folder, name) not in ("/proc", "/sys", "/dev")]
    try:
        tempfile.TemporaryFile(dir=folder).close()
        print(folder)
    except OSError:
        pass
"""


def status_of(pid: int) -> dict[str, list[str]]:
    """Return the fields of /proc/PID/status."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.split() for name, _, value in (line.partition(":") for line in lines)}


def test_the_server_is_the_first_process(container: ServiceContainer) -> None:
    pid = container.pid

    assert status_of(pid)["NSpid"][-1] == "1"
    assert command_of(pid)[-2:] == ["/opt/sodafountain/bin/sodafountain", "serve"]
    assert int(container.target.rpartition(":")[2]) in tcp_ports(pid)


def test_it_runs_as_an_unprivileged_user_without_capabilities(container: ServiceContainer) -> None:
    status = status_of(container.pid)

    assert set(status["Uid"]) == set(status["Gid"]) == {"65532"}
    assert status["NoNewPrivs"] == ["1"]
    assert {int(status[kind][0], 16) for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}


def test_only_tmp_is_writable(container: ServiceContainer) -> None:
    assert container.run("-c", LIST_WRITABLE, program="python").out.split() == ["/tmp"]


def test_its_own_files_are_not_writable_on_a_writable_root() -> None:
    result = run("-c", LIST_WRITABLE, options=("--read-only=false", "--entrypoint=python"))

    assert not [path for path in result.out.split() if path.startswith(("/opt", "/usr", "/etc", "/bin", "/lib"))], (
        result
    )
    assert "/tmp" in result.out.split()


# --- Other users ------------------------------------------------------------------------------------------------------

ARBITRARY = ("--user=1000670000:0", "--passwd=false", "--unsetenv=HOME")
"""A user as OpenShift assigns it: in group 0, and without an entry in /etc/passwd. runc then sets HOME to /."""


def test_it_serves_as_an_arbitrary_user(store: Server, tmp_path: Path) -> None:
    keys = tmp_path / "token-keys"
    keys.write_text(new_token_key() + "\n")
    keys.chmod(0o440)  # readable through group 0 only
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS_FILE": "/keys/token-keys"}

    with run_service(env, f"--volume={keys}:/keys/token-keys:ro", *ARBITRARY) as container:
        status = status_of(container.pid)
        assert (set(status["Uid"]), set(status["Gid"])) == ({"1000670000"}, {"0"})
        assert container.run("probe").code == 0
        with sodafountain.connect(container.target) as client:
            kind = client.game_kinds()[0]
            assert client.new_game(kind.presets[0], kind.min_seats).state.awaiting_seats
        assert container.stop() == 0


def test_several_workers_serve_as_an_arbitrary_user(store: Server) -> None:
    env = {"SODAFOUNTAIN_STORE_URL": store.url, "SODAFOUNTAIN_TOKEN_KEYS": new_token_key(), "SODAFOUNTAIN_WORKERS": "2"}

    with run_service(env, *ARBITRARY) as container:
        assert container.run("probe").code == 0


def test_an_arbitrary_user_writes_the_configuration_of_the_gateway_to_a_volume() -> None:
    result = run("gateway", "/etc/envoy", "--service=127.0.0.1:1", options=(*ARBITRARY, "--tmpfs=/etc/envoy:mode=0777"))

    assert (result.code, result.out) == (0, "/etc/envoy/envoy.yaml\n"), result


def test_an_arbitrary_user_without_a_home_directory_reads_what_is_missing() -> None:
    result = run("-u", "HOME", "sodafountain", "serve", options=(*ARBITRARY, "--entrypoint=env"))

    assert (result.code, result.out) == (2, "")
    assert re.fullmatch(r"sodafountain: .*SODAFOUNTAIN_STORE_URL.*\n", result.err)


# --- Settings ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def bare() -> Iterator[Container]:
    """A service with the required settings only, a separate network, and no writable /tmp."""
    env = {"SODAFOUNTAIN_STORE_URL": "redis://127.0.0.1:6379", "SODAFOUNTAIN_TOKEN_KEYS": new_token_key()}
    started = Container(env, "--network=none", confined=[word for word in LOCKED_DOWN if word != "--tmpfs=/tmp"])
    try:
        yield started
    finally:
        started.remove()


def test_it_listens_on_all_addresses_and_needs_no_writable_directory(bare: Container) -> None:
    def ports() -> set[int]:
        pid = bare.pid
        assert pid, f"the service exited: {bare.output}"
        return tcp_ports(pid)

    eventually(lambda: ports() == {50051, 9090}, within=60.0)
    sockets = Path(f"/proc/{bare.pid}/net/tcp").read_text() + Path(f"/proc/{bare.pid}/net/tcp6").read_text()
    assert set(re.findall(r" (\w+):(?:C383|2382) \S+ 0A", sockets)) <= {"00000000", "0" * 32}
