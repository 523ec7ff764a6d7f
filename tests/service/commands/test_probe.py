"""`sodafountain probe`: the exit status reports the health of a service."""

from pathlib import Path

import pytest

from tests.support import forging
from tests.support.command import error_line_in_process, run_in_process
from tests.support.ports import free_port
from tests.support.service import Service, running
from tests.support.store_servers import Server, eventually


@pytest.mark.one_store
@pytest.mark.parametrize("name", [(), ("liveness",), ("sodafountain.v1.GameService",)])
def test_a_running_service_is_serving(name: tuple[str, ...], service: Service) -> None:
    assert run_in_process("probe", *name, "--target", service.target) == (0, "SERVING\n", "")


@pytest.mark.one_store
def test_the_default_target_is_the_configured_port(service: Service) -> None:
    assert run_in_process("probe", env={"SODAFOUNTAIN_LISTEN_PORT": service.target.rpartition(":")[2]}).code == 0


@pytest.mark.one_store
def test_an_unavailable_store_is_reported_separately(tmp_path: Path) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}
    with Server(tmp_path / "store") as store:
        store.stop()
        with running(tmp_path / "service", "--store-url", store.url, env=env) as service:
            eventually(
                lambda: error_line_in_process("probe", "store", "--target", service.target, code=1).endswith(
                    "is NOT_SERVING"
                )
            )
            assert run_in_process("probe", "--target", service.target).code == 0


@pytest.mark.one_store
def test_an_unknown_name_is_rejected(service: Service) -> None:
    line = error_line_in_process("probe", "shop", "--target", service.target, code=1)

    assert line.endswith("has no health check 'shop'; the checks are liveness and store")


def test_a_target_without_a_listener_is_not_serving() -> None:
    target = f"127.0.0.1:{free_port()}"

    assert error_line_in_process("probe", "--target", target, code=1).startswith(f"{target} does not report its health")
