"""The service under attack."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.probe_client import ProbeClient
from tests.support import forging, stores
from tests.support.service import Service, running

ENV = {"SODAFOUNTAIN_TOKEN_KEYS": forging.KEYS}


@pytest.fixture(scope="session")
def valkey() -> Iterator[str]:
    """A store server."""
    with stores.server("valkey") as url:
        yield url


@pytest.fixture(scope="module")
def service(valkey: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with default limits. No test may stop it, and it must shut down cleanly."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    with running(folder, "--store-url", valkey, "--allow-fixed-seed", env=ENV) as process:
        with ProbeClient(process.target) as probe:
            probe.play_a_game()  # the memory for a game is allocated before anything is measured
        yield process
        assert process.process.poll() is None
        assert process.stop() == 0
    assert not [line for line in process.logs() if line["level"] == "error"]


@pytest.fixture
def probe(service: Service) -> Iterator[ProbeClient]:
    """A well-behaved client that plays during the attack."""
    with ProbeClient(service.target) as probe:
        yield probe
