"""The cost of many watchers for other calls."""

import pytest

from tests.support import stores
from tests.support.long_cases import long_case
from tools.bench import watched
from tools.bench.games import variants
from tools.bench.server import served

MOST = 1.2
"""The aim is 1.1. The measurement varies from run to run."""


@pytest.mark.parametrize("rounds", [long_case(15)])
def test_a_call_costs_little_more_beside_a_thousand_watchers(rounds: int) -> None:
    """Compare the CPU time of GetGame at a service with a thousand watchers and at one without, in turns.

    The pace leaves two slow cores some idle time: the watchers run on the same machine.
    """
    with stores.server("valkey") as url, served(url) as watched_service, served(url) as alone:
        found = watched.watched(
            watched_service, alone, next(variants()), rounds=rounds, seconds=1.0, moves_a_second=0.5
        )

    assert found.messages_per_second > found.moves_per_second > 0
    assert found.threads < 100
    assert found.call_ratio <= MOST, found
