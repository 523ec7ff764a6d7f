"""A service to be hostile to."""

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
    """A service with the usual limits. Every test leaves it alive, and it ends as it should."""
    folder: Path = tmp_path_factory.mktemp("attacked")
    with running(folder, "--store-url", valkey, "--allow-fixed-seed", env=ENV) as process:
        with ProbeClient(process.target) as probe:
            probe.play_a_game()  # what memory it takes for that it keeps
        yield process
        assert process.process.poll() is None
        assert process.stop() == 0
    assert not [line for line in process.logs() if line["level"] == "error"]


@pytest.fixture
def probe(service: Service) -> Iterator[ProbeClient]:
    """Somebody who plays on the attacked service all the while, as a client should."""
    with ProbeClient(service.target) as probe:
        yield probe
