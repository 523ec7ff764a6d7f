"""SIGTERM under load: no acknowledged move is lost, no call fails for good, and the process ends well and in time."""

import time
from pathlib import Path

import pytest

from service.tokens import new_key
from tests.service.store.servers import Server
from tests.support.crowd import playing
from tests.support.long import thoroughly
from tests.support.service import running

PLAYERS = 16
DRAIN_SECONDS = 5.0
"""Far more than the calls under way take, and less than what the service may take for them."""


@pytest.mark.parametrize("workers", [1, 2], ids=["one process", "two workers"])
@pytest.mark.parametrize("stops", [3, thoroughly(60)])
def test_services_are_stopped_under_load_and_no_player_notices(
    stops: int, workers: int, store: Server, tmp_path: Path
) -> None:
    env = {"SODAFOUNTAIN_TOKEN_KEYS": new_key()}
    flags = ("--store-url", store.url, f"--workers={workers}")
    with (
        running(tmp_path / "one", *flags, env=env) as one,
        running(tmp_path / "two", *flags, env=env) as two,
        playing(one.target, two.target, players=PLAYERS) as crowd,
    ):
        for stop in range(stops):
            service = (one, two)[stop % 2]
            crowd.play_on(150)
            started = time.monotonic()
            assert service.stop() == 0
            assert time.monotonic() - started < DRAIN_SECONDS
            service.restart()

    assert crowd.games >= PLAYERS
    assert crowd.refusals["DRAINING"], "nobody was told to come again: there was no load"
