"""`sodafountain probe`: whoever runs containers learns whether a service is well."""

from pathlib import Path

import pytest

from tests.support import forging
from tests.support.command import error_line_in_process, run_in_process
from tests.support.ports import free_port
from tests.support.service import Service, running
from tests.support.store_servers import Server, eventually


@pytest.mark.one_store
@pytest.mark.parametrize("name", [(), ("liveness",), ("sodafountain.v1.GameService",)])
def test_a_service_that_accepts_calls_is_serving(name: tuple[str, ...], service: Service) -> None:
    assert run_in_process("probe", *name, "--target", service.target) == (0, "SERVING\n", "")


@pytest.mark.one_store
def test_it_asks_at_the_port_at_which_the_service_would_listen(service: Service) -> None:
    assert run_in_process("probe", env={"SODAFOUNTAIN_LISTEN_PORT": service.target.rpartition(":")[2]}).code == 0


@pytest.mark.one_store
def test_a_store_that_is_away_is_told_apart(tmp_path: Path) -> None:
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
def test_a_name_that_there_is_not_is_refused(service: Service) -> None:
    assert "does not tell its health" in error_line_in_process("probe", "shop", "--target", service.target, code=1)


def test_where_nobody_listens_nothing_is_serving() -> None:
    target = f"127.0.0.1:{free_port()}"

    assert error_line_in_process("probe", "--target", target, code=1).startswith(f"{target} does not tell its health")
