"""The cost of many watchers for other calls."""

import pytest

from tests.support import stores
from tests.support.long_cases import long_case
from tools.bench import watchers
from tools.bench.games import variants
from tools.bench.server import run_server

MAX_RATIO = 1.2
"""The target is 1.1; the rest allows for the variation between runs."""


@pytest.mark.parametrize("rounds", [long_case(15)])
def test_a_call_costs_little_more_beside_a_thousand_watchers(rounds: int) -> None:
    """Compare the CPU time of a GetGame in a service with many watchers and in one without.

    The moves are slow enough to leave spare time on two slow cores, which the watchers share with the service.
    """
    with stores.server("valkey") as url, run_server(url) as crowded, run_server(url) as alone:
        found = watchers.measure_watchers(
            crowded, alone, next(variants()), rounds=rounds, seconds=1.0, moves_per_second=0.5
        )

    assert found.messages_per_second > found.moves_per_second > 0
    assert found.threads < 100
    assert found.call_ratio <= MAX_RATIO, found
